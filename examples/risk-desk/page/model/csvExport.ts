import Papa from 'papaparse';
import type { DeskRow } from './deskRow.ts';
import { masked } from './phoneNumber.ts';
import { reasonOf } from './reasons.ts';
import { verdictName, verdictOf, type RowState } from './verdict.ts';
import {
  asOfMs,
  WINDOWS_HOURS,
  windowName,
  type LastChange,
  type WindowAnswer,
} from './windows.ts';

const COLUMNS = [
  'Line',
  'Number',
  'Customer',
  'Customer id',
  'Verdict',
  'Reason',
  'Last SIM change',
  ...WINDOWS_HOURS.map((hours) => `Changed within ${windowName(hours)}`),
  'Asked at',
];

/** How the numbers of an export are written. */
export type NumbersInExport = 'masked' | 'full';

/**
 * The rows as CSV (RFC 4180). Cells that a spreadsheet would take for a formula (`=`, `+`, `-`, `@`, tab)
 * begin with an apostrophe, which makes them text; numbers are text for the same reason. Unknown is
 * written out, and never left empty.
 */
export function toCsv(rows: readonly DeskRow[], numbers: NumbersInExport): string {
  const data = rows.map(({ line, e164, customer, state }) => {
    const verdict = verdictOf(state);
    return [
      line,
      numbers === 'full' ? e164 : masked(e164),
      customer?.name ?? '',
      customer?.id ?? '',
      verdictName(verdict),
      verdict.kind === 'unknown' ? reasonOf(verdict.reason).name : '',
      ...answerCells(state),
    ];
  });
  return Papa.unparse({ fields: COLUMNS, data }, { escapeFormulae: true, newline: '\r\n' });
}

function answerCells(state: RowState): readonly string[] {
  if (state.kind !== 'answered') return ['not known', ...WINDOWS_HOURS.map(() => 'not known'), ''];
  const { answer } = state;
  const askedAtMs = asOfMs(answer);
  return [
    dateCell(answer.lastChange),
    ...WINDOWS_HOURS.map((hours) => windowCell(answer.windows[hours])),
    askedAtMs === null ? '' : new Date(askedAtMs).toISOString(),
  ];
}

function dateCell(lastChange: LastChange): string {
  switch (lastChange.kind) {
    case 'at':
      return new Date(lastChange.atMs).toISOString();
    case 'withheld':
      return 'not disclosed';
    case 'unknown':
      return `unknown: ${reasonOf(lastChange.reason).name}`;
    case 'notAsked':
      return 'not asked';
  }
}

function windowCell(window: WindowAnswer): string {
  switch (window.kind) {
    case 'swapped':
      return 'yes';
    case 'notSwapped':
      return 'no';
    case 'unknown':
      return `unknown: ${reasonOf(window.reason).name}`;
    case 'notAsked':
      return 'not asked';
  }
}
