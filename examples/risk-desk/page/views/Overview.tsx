import { useMemo, type CSSProperties } from 'react';
import type { DeskRow } from '../model/deskRow.ts';
import { countRecency, RECENCY, type Recency } from '../model/recency.ts';
import { countOutcomes, type RowFilter } from '../model/tableView.ts';
import { OUTCOME_NAMES, OUTCOMES, type Outcome } from '../model/verdict.ts';
import { useNow } from './hooks.ts';
import { OutcomeIcon, toneOf } from './icons.tsx';
import { numberName, shareName } from './names.ts';

interface OverviewProps {
  readonly rows: readonly DeskRow[];
  /** While answers come in, tiles without a number keep their places: none moves under the mouse. */
  readonly isRunning: boolean;
  readonly filter: RowFilter;
  readonly onFilter: (filter: RowFilter) => void;
}

/** What came of the list. Each tile and each bar shows its rows only; once more, all of them. */
export function Overview({ rows, isRunning, filter, onFilter }: OverviewProps) {
  const nowMs = useNow();
  const counts = useMemo(() => countOutcomes(rows), [rows]);
  const recency = useMemo(() => countRecency(rows, nowMs), [rows, nowMs]);
  return (
    <div className="overview">
      <Tiles
        counts={counts}
        total={rows.length}
        isRunning={isRunning}
        filter={filter}
        onFilter={onFilter}
      />
      <RecencyChart recency={recency} filter={filter} onFilter={onFilter} />
    </div>
  );
}

type Filtering = Pick<OverviewProps, 'filter' | 'onFilter'>;

interface TilesProps extends Filtering {
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly total: number;
  readonly isRunning: boolean;
}

const ALL: RowFilter = { kind: 'all' };

function Tiles({ counts, total, isRunning, filter, onFilter }: TilesProps) {
  const shown = OUTCOMES.filter((outcome) => isRunning || counts[outcome] > 0);
  return (
    <section className="tiles" aria-label="Outcomes" style={columns(shown.length)}>
      {shown.map((outcome) => {
        const isPressed = filter.kind === 'outcome' && filter.outcome === outcome;
        const share = shareName(counts[outcome], total);
        return (
          <button
            key={outcome}
            type="button"
            className="tile"
            data-outcome={outcome}
            data-empty={counts[outcome] === 0 || undefined}
            data-tone={counts[outcome] === 0 ? 'quiet' : toneOf(outcome)}
            aria-pressed={isPressed}
            onClick={() => onFilter(isPressed ? ALL : { kind: 'outcome', outcome })}
          >
            <span className="tile__name">
              <OutcomeIcon outcome={outcome} /> {OUTCOME_NAMES[outcome]}
            </span>
            <span className="tile__count">
              <b>{numberName(counts[outcome])}</b>{' '}
              {counts[outcome] === 0 ? null : <span>{share}</span>}
            </span>
          </button>
        );
      })}
    </section>
  );
}

/** In two rows of equal tiles, from five on. */
function columns(count: number): CSSProperties {
  return { '--columns': count <= 4 ? Math.max(count, 1) : Math.ceil(count / 2) } as CSSProperties;
}

interface ChartProps extends Filtering {
  readonly recency: Recency;
}

/** How recent the SIM changes are, as far as operators give dates. */
function RecencyChart({ recency: { bars, older, withheld }, filter, onFilter }: ChartProps) {
  const most = Math.max(1, ...Object.values(bars));
  return (
    <section className="chart" aria-labelledby="chart-title">
      <p className="chart__head">
        <b id="chart-title">Last SIM change or activation</b>{' '}
        <span>{besideBars(older, withheld)}</span>
      </p>
      <div className="chart__bars">
        {RECENCY.map(({ id, name }) => {
          const isPressed = filter.kind === 'recency' && filter.recency === id;
          return (
            <button
              key={id}
              type="button"
              className="chart__bar"
              aria-pressed={isPressed}
              disabled={bars[id] === 0}
              onClick={() => onFilter(isPressed ? ALL : { kind: 'recency', recency: id })}
            >
              <span className="chart__value">{bars[id] === 0 ? '' : numberName(bars[id])}</span>
              <span className="visually-hidden"> with the last change up to </span>
              <span className="chart__fill" style={{ height: `${(100 * bars[id]) / most}%` }} />
              <span className="chart__name">{name}</span>
              <span className="visually-hidden"> ago</span>
            </button>
          );
        })}
      </div>
    </section>
  );
}

function besideBars(older: number, withheld: number): string {
  return [
    older === 0 ? '' : `${numberName(older)} over a year ago`,
    withheld === 0 ? '' : `${numberName(withheld)} without a date`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}
