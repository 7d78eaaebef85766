import Papa from 'papaparse';
import type { DeskRow } from './deskRow.ts';
import { masked } from './phoneNumber.ts';
import { reasonOf } from './reasons.ts';
import { answerOf, refreshFailure, verdictName, verdictOf, type RowState } from './verdict.ts';
import {
  activatedAtMs,
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
  'SIM activated',
  ...WINDOWS_HOURS.map((hours) => `Changed within ${windowName(hours)}`),
  'Checked at',
];

/** How the numbers of an export are written. */
export type NumbersInExport = 'masked' | 'full';

/** What a spreadsheet takes for a formula, full-width signs too; blanks before it do not protect. */
const FORMULA = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/u;

/** The same behind what another spreadsheet takes for the end of a cell: not all split at commas alone. */
const FORMULA_WITHIN = /([;,|\t\r\n]\s{0,9})(?=[=+\-@\uff0b\uff0d\uff1d\uff20])/gu;

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
      withoutFormulas(customer?.name ?? ''),
      withoutFormulas(customer?.id ?? ''),
      verdictName(verdict),
      reasonCell(state),
      ...answerCells(state),
    ];
  });
  return Papa.unparse({ fields: COLUMNS, data }, { escapeFormulae: FORMULA, newline: '\r\n' });
}

/** What begins a cell is left to the writer. */
function withoutFormulas(text: string): string {
  return text.replaceAll(FORMULA_WITHIN, "$1'");
}

function reasonCell(state: RowState): string {
  const refresh = refreshFailure(state);
  if (refresh !== null) return `not refreshed: ${reasonOf(refresh).name}`;
  const verdict = verdictOf(state);
  return verdict.kind === 'unknown' ? reasonOf(verdict.reason).name : '';
}

function answerCells(state: RowState): readonly string[] {
  const answer = answerOf(state);
  if (answer === undefined) {
    return ['not known', 'not known', ...WINDOWS_HOURS.map(() => 'not known'), ''];
  }
  const activated = activatedAtMs(answer);
  const checkedAtMs = asOfMs(answer);
  return [
    activated === null ? dateCell(answer.lastChange) : 'none',
    activated === null ? '' : new Date(activated).toISOString(),
    ...WINDOWS_HOURS.map((hours) => windowCell(answer.windows[hours])),
    checkedAtMs === null ? '' : new Date(checkedAtMs).toISOString(),
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
      return 'not checked';
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
      return 'not checked';
  }
}
