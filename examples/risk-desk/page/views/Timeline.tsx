import { stretches, windowName, type Answer, type StretchKind } from '../model/windows.ts';

interface TimelineProps {
  readonly answer: Answer;
}

/** The last 30 days in four parts; now is at the right. */
export function Timeline({ answer }: TimelineProps) {
  return (
    <ol className="timeline" aria-label="The last 30 days">
      {stretches(answer)
        .toReversed()
        .map(({ fromHours, toHours, kind }) => (
          <li key={toHours} className="timeline__part" data-kind={kind}>
            <span className="timeline__span">{spanName(fromHours, toHours)}</span>
            <span className="timeline__says">{STRETCH_NAMES[kind]}</span>
          </li>
        ))}
    </ol>
  );
}

/** The same in a cell of the table. */
export function Strip({ answer }: TimelineProps) {
  const parts = stretches(answer).toReversed();
  return (
    <span className="strip">
      {parts.map(({ toHours, kind }) => (
        <span key={toHours} className="strip__part" data-kind={kind} />
      ))}
      <span className="visually-hidden">
        {parts
          .map((part) => `${spanName(part.fromHours, part.toHours)}: ${STRETCH_NAMES[part.kind]}`)
          .join('. ')}
      </span>
    </span>
  );
}

function spanName(fromHours: number, toHours: number): string {
  if (fromHours === 0) return `Last ${windowName(toHours)}`;
  return toHours <= 72
    ? `${fromHours}–${toHours} h ago`
    : `${fromHours / 24}–${toHours / 24} days ago`;
}

const STRETCH_NAMES: Readonly<Record<StretchKind, string>> = {
  clear: 'No change',
  swap: 'SIM changed',
  activation: 'SIM activated',
  earlier: 'Not reported',
  notKnown: 'Not known',
};
