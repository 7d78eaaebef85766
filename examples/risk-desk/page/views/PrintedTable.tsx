import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import type { DeskRow } from '../model/deskRow.ts';
import { masked } from '../model/phoneNumber.ts';
import { reasonOf } from '../model/reasons.ts';
import { ownCell } from '../model/tableView.ts';
import { answerOf, verdictName, verdictOf } from '../model/verdict.ts';
import {
  activatedAtMs,
  asOfMs,
  WINDOWS_HOURS,
  windowName,
  type LastChange,
  type WindowAnswer,
} from '../model/windows.ts';
import { dateTimeName } from './names.ts';

interface PrintedTableProps {
  readonly rows: readonly DeskRow[];
  /** The list's own columns that are shown, by their place in it. */
  readonly own: readonly { readonly index: number; readonly name: string }[];
}

/** All rows on paper: made when the browser is about to print, for the table draws only those in sight. */
export function PrintedTable({ rows, own }: PrintedTableProps) {
  const [isPrinting, setIsPrinting] = useState(false);
  useEffect(() => {
    const before = (): void => flushSync(() => setIsPrinting(true));
    const after = (): void => setIsPrinting(false);
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
  if (!isPrinting) return null;
  return (
    <table className="printed">
      <caption>SIM changes, printed {dateTimeName(Date.now())}</caption>
      <thead>
        <tr>
          <th scope="col">Line</th>
          <th scope="col">Number</th>
          <th scope="col">Customer</th>
          {own.map(({ index, name }) => (
            <th key={index} scope="col">
              {name}
            </th>
          ))}
          <th scope="col">Verdict</th>
          <th scope="col">Last change</th>
          {WINDOWS_HOURS.map((hours) => (
            <th key={hours} scope="col">
              {windowName(hours)}
            </th>
          ))}
          <th scope="col">Checked</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <PrintedRow key={row.id} row={row} own={own} />
        ))}
      </tbody>
    </table>
  );
}

function PrintedRow({ row, own }: Pick<PrintedTableProps, 'own'> & { readonly row: DeskRow }) {
  const { line, e164, customer, state } = row;
  const verdict = verdictOf(state);
  const answer = answerOf(state);
  const isActivation = answer !== undefined && activatedAtMs(answer) !== null;
  const checkedAtMs = answer === undefined ? null : asOfMs(answer);
  return (
    <tr>
      <td>{line}</td>
      <th scope="row">{masked(e164)}</th>
      <td>{customer?.name ?? ''}</td>
      {own.map(({ index }) => (
        <td key={index}>{ownCell(row.own, index)}</td>
      ))}
      <td>
        {verdictName(verdict)}
        {verdict.kind === 'unknown' ? `: ${reasonOf(verdict.reason).name}` : ''}
      </td>
      <td className="printed__date">
        {printedDate(answer?.lastChange)}
        {isActivation ? ' (activated)' : ''}
      </td>
      {WINDOWS_HOURS.map((hours) => (
        <td key={hours}>{answer === undefined ? '?' : printedWindow(answer.windows[hours])}</td>
      ))}
      <td>{checkedAtMs === null ? '' : dateTimeName(checkedAtMs)}</td>
    </tr>
  );
}

function printedDate(lastChange: LastChange | undefined): string {
  switch (lastChange?.kind) {
    case 'at':
      return dateTimeName(lastChange.atMs);
    case 'withheld':
      return 'Not disclosed';
    case 'notAsked':
      return 'Not checked';
    case 'unknown':
    case undefined:
      return 'Unknown';
  }
}

function printedWindow(window: WindowAnswer): string {
  switch (window.kind) {
    case 'swapped':
      return 'Yes';
    case 'notSwapped':
      return 'No';
    case 'unknown':
      return 'Unknown';
    case 'notAsked':
      return 'Not checked';
  }
}
