import { AxisBottom } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';
import { useMemo } from 'react';
import type { DeskRow } from '../model/deskRow.ts';
import { recency } from '../model/recency.ts';
import { OUTCOME_NAMES, OUTCOMES, type Outcome } from '../model/verdict.ts';
import { useNow } from './hooks.ts';
import { countName, numberName } from './names.ts';

const WIDTH = 520;
const HEIGHT = 120;
const BASE = 92;
const TOP = 18;

/** How recent the SIM changes are, as far as operators tell dates. */
export function RecencyChart({ rows }: { readonly rows: readonly DeskRow[] }) {
  const nowMs = useNow();
  const bars = useMemo(() => recency(rows, nowMs), [rows, nowMs]);
  const x = scaleBand({ domain: bars.map(({ name }) => name), range: [0, WIDTH], padding: 0.28 });
  const most = Math.max(1, ...bars.map((bar) => bar.rows));
  const y = scaleLinear({ domain: [0, most], range: [BASE, TOP] });
  return (
    <figure className="chart">
      <figcaption className="chart__title">
        Last SIM change <span>how long ago, by the operators’ dates</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="chart__svg" aria-hidden="true">
        {bars.map((bar, index) => (
          <g key={bar.name}>
            <Bar
              className="chart__bar"
              data-recency={Math.min(index, 4)}
              x={x(bar.name) ?? 0}
              width={x.bandwidth()}
              y={bar.rows === 0 ? BASE - 1 : Math.min(y(bar.rows), BASE - 3)}
              height={bar.rows === 0 ? 1 : Math.max(BASE - y(bar.rows), 3)}
              rx={bar.rows === 0 ? 0 : 3}
            />
            {bar.rows === 0 ? null : (
              <text
                className="chart__value"
                x={(x(bar.name) ?? 0) + x.bandwidth() / 2}
                y={Math.min(y(bar.rows), BASE - 3) - 5}
                textAnchor="middle"
              >
                {numberName(bar.rows)}
              </text>
            )}
          </g>
        ))}
        <AxisBottom
          scale={x}
          top={BASE}
          hideTicks
          axisLineClassName="chart__axis"
          tickClassName="chart__tick"
          tickLabelProps={() => ({ textAnchor: 'middle', dy: '0.4em' })}
        />
      </svg>
      <table className="visually-hidden">
        <caption>Last SIM change, how long ago</caption>
        <thead>
          <tr>
            <th scope="col">Less than</th>
            <th scope="col">Numbers</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.name}>
              <th scope="row">{bar.name}</th>
              <td>{bar.rows}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

interface OutcomesProps {
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly total: number;
}

/** The outcomes as one bar: what is unknown lies apart from what is safe. */
export function OutcomesChart({ counts, total }: OutcomesProps) {
  const x = scaleLinear({ domain: [0, Math.max(total, 1)], range: [0, 1000] });
  let before = 0;
  const parts = OUTCOMES.map((outcome) => {
    const part = { outcome, x: x(before), width: x(counts[outcome]) };
    before += counts[outcome];
    return part;
  });
  const words = OUTCOMES.map(
    (outcome) => `${OUTCOME_NAMES[outcome]}: ${numberName(counts[outcome])}`,
  );
  return (
    <figure className="outcomes-chart">
      <svg
        viewBox="0 0 1000 12"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Outcomes of ${countName(total, 'number')}. ${words.join('. ')}.`}
      >
        {parts.map((part) =>
          part.width === 0 ? null : (
            <Bar
              key={part.outcome}
              className="outcomes-chart__part"
              data-outcome={part.outcome}
              x={part.x}
              width={Math.max(part.width - 2, 1.5)}
              y={0}
              height={12}
            />
          ),
        )}
      </svg>
    </figure>
  );
}
