import { useMemo } from 'react';
import type { DeskRow } from '../model/deskRow.ts';
import { countOutcomes, type RowFilter } from '../model/tableView.ts';
import { OUTCOME_NAMES, OUTCOMES } from '../model/verdict.ts';
import { OutcomeIcon, toneOf } from './icons.tsx';
import { numberName, shareName } from './names.ts';

interface OverviewProps {
  readonly rows: readonly DeskRow[];
  readonly filter: RowFilter;
  readonly onFilter: (filter: RowFilter) => void;
}

const ALL: RowFilter = { kind: 'all' };

/** What came of the list, each outcome in its place. A tile shows its rows only; once more, all of them. */
export function Overview({ rows, filter, onFilter }: OverviewProps) {
  const counts = useMemo(() => countOutcomes(rows), [rows]);
  return (
    <section className="tiles" aria-label="Outcomes">
      {OUTCOMES.map((outcome) => {
        const isPressed = filter.kind === 'outcome' && filter.outcome === outcome;
        const share = shareName(counts[outcome], rows.length);
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
