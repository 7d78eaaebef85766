import { scalePoint } from '@visx/scale';
import { Bar } from '@visx/shape';
import { agoName } from '../model/staleness.ts';
import {
  stretches,
  WINDOWS_HOURS,
  windowName,
  type LastChange,
  type Stretch,
  type Windows,
} from '../model/windows.ts';

interface TimelineProps {
  readonly windows: Windows;
  readonly lastChange: LastChange;
  readonly nowMs: number;
}

const WIDTH = 480;
const INSET = 12;
const TOP = 18;
const HEIGHT = 16;
const HOUR_MS = 60 * 60_000;

/** The last 30 days, now at the left: each stretch between two windows as wide as the next. */
export function Timeline({ windows, lastChange, nowMs }: TimelineProps) {
  const marks = ['now', ...WINDOWS_HOURS.map((hours) => windowName(hours))];
  const x = scalePoint({ domain: marks, range: [INSET, WIDTH - INSET] });
  const step = x.step();
  const parts = stretches(windows);
  const marker = markerAt(lastChange, nowMs);
  return (
    <figure className="timeline">
      <svg viewBox={`0 0 ${WIDTH} 58`} role="img" aria-label={inWords(parts, lastChange, nowMs)}>
        <defs>
          <pattern
            id="not-known"
            width="7"
            height="7"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect className="timeline__hatch-ground" width="7" height="7" />
            <rect className="timeline__hatch" width="2.5" height="7" />
          </pattern>
        </defs>
        {parts.map(({ kind, toHours }, index) => (
          <Bar
            key={toHours}
            className={`timeline__part timeline__part--${kind}`}
            x={INSET + index * step + 1}
            y={TOP}
            width={step - 2}
            height={HEIGHT}
            rx={4}
          />
        ))}
        {marks.map((mark, index) => (
          <text
            key={mark}
            className="timeline__mark"
            x={x(mark)}
            y={TOP + HEIGHT + 20}
            textAnchor={anchorOf(index)}
          >
            {mark}
          </text>
        ))}
        {marker === undefined ? null : (
          <g transform={`translate(${INSET + marker * step} ${TOP})`}>
            <path className="timeline__pin" d="M0 -2 -6 -12H6Z" />
            <line className="timeline__pin-line" y1={-2} y2={HEIGHT} />
          </g>
        )}
      </svg>
      <figcaption className="timeline__legend">
        <span data-kind="clear">no change</span>
        <span data-kind="swap">SIM changed here</span>
        <span data-kind="notKnown">not known</span>
        {marker === undefined ? null : <span data-kind="pin">the operator’s date</span>}
      </figcaption>
    </figure>
  );
}

/** The outer marks end where the bar does. */
function anchorOf(index: number): 'start' | 'middle' | 'end' {
  if (index === 0) return 'start';
  return index === WINDOWS_HOURS.length ? 'end' : 'middle';
}

/** Where the operator's date lies, in stretches from now; `undefined` outside of them. */
function markerAt(lastChange: LastChange, nowMs: number): number | undefined {
  if (lastChange.kind !== 'at') return undefined;
  const hours = Math.max(0, (nowMs - lastChange.atMs) / HOUR_MS);
  const index = WINDOWS_HOURS.findIndex((window) => hours <= window);
  const to = WINDOWS_HOURS[index];
  if (to === undefined) return undefined;
  const from = WINDOWS_HOURS[index - 1] ?? 0;
  return index + (hours - from) / (to - from);
}

function inWords(parts: readonly Stretch[], lastChange: LastChange, nowMs: number): string {
  const told = parts.map(({ fromHours, toHours, kind }) => {
    const span =
      fromHours === 0
        ? `Last ${windowName(toHours)}`
        : `${windowName(fromHours)} to ${windowName(toHours)} ago`;
    const says = { clear: 'no change', swap: 'SIM changed', notKnown: 'not known' }[kind];
    return `${span}: ${says}.`;
  });
  const date =
    lastChange.kind === 'at' ? ` The operator’s date: ${agoName(lastChange.atMs, nowMs)}.` : '';
  return `Timeline. ${told.join(' ')}${date}`;
}
