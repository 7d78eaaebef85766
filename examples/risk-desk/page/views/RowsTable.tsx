import { useMemo, useRef, type ReactNode } from 'react';
import {
  Button,
  Cell,
  Column,
  Row,
  Table,
  TableBody,
  TableHeader,
  TableLayout,
  Virtualizer,
} from 'react-aria-components';
import type { DeskRow } from '../model/deskRow.ts';
import { isAway } from '../model/outage.ts';
import { masked } from '../model/phoneNumber.ts';
import { reasonOf } from '../model/reasons.ts';
import { agoName, freshnessOf } from '../model/staleness.ts';
import { SORT_COLUMNS, type SortColumn, type TableView } from '../model/tableView.ts';
import { outcomeOf, verdictName, verdictOf } from '../model/verdict.ts';
import { asOfMs, windowName, type LastChange, type WindowAnswer, type WindowHours } from '../model/windows.ts';
import { useMedia, useNow, useRow } from './hooks.ts';
import { OutcomeIcon, SortIcon } from './icons.tsx';
import { dateName } from './names.ts';

type ColumnId = SortColumn | `within${WindowHours}`;

interface ColumnSpec {
  readonly id: ColumnId;
  readonly name: string;
  readonly width: number | `${number}fr`;
  readonly minWidth: number;
  readonly isSortable: boolean;
  readonly isNarrow?: boolean;
}

const WIDE: readonly ColumnSpec[] = [
  { id: 'line', name: 'Line', width: 76, minWidth: 76, isSortable: true },
  { id: 'number', name: 'Number', width: 172, minWidth: 172, isSortable: true },
  { id: 'customer', name: 'Customer', width: '1.2fr', minWidth: 150, isSortable: true },
  { id: 'verdict', name: 'Verdict', width: '1.3fr', minWidth: 220, isSortable: true },
  { id: 'lastChange', name: 'Last change', width: '1fr', minWidth: 150, isSortable: true },
  { id: 'within24', name: '24 h', width: 74, minWidth: 74, isSortable: false },
  { id: 'within72', name: '72 h', width: 74, minWidth: 74, isSortable: false },
  { id: 'within168', name: '7 days', width: 74, minWidth: 74, isSortable: false },
  { id: 'within720', name: '30 days', width: 78, minWidth: 78, isSortable: false },
  { id: 'asOf', name: 'Asked', width: 116, minWidth: 116, isSortable: true },
];

/** On a phone the row is opened for the rest. */
const NARROW: readonly ColumnSpec[] = [
  { id: 'number', name: 'Number', width: 150, minWidth: 150, isSortable: true },
  { id: 'verdict', name: 'Verdict', width: '1fr', minWidth: 150, isSortable: true },
];

const LAYOUT = { rowHeight: 44, headingHeight: 40 };

interface RowsTableProps {
  readonly rows: readonly DeskRow[];
  readonly view: TableView;
  readonly onView: (view: TableView) => void;
  readonly onOpen: (id: number) => void;
}

/** The rows; only those in sight are drawn. */
export function RowsTable({ rows, view, onView, onOpen }: RowsTableProps) {
  const isNarrow = useMedia('(max-width: 720px)');
  const columns = isNarrow ? NARROW : WIDE;
  const items = useSameIds(rows);
  return (
    <div className="tablebox">
      <Virtualizer layout={TableLayout} layoutOptions={LAYOUT}>
        <Table
          key={isNarrow ? 'narrow' : 'wide'}
          className="rows"
          aria-label="Numbers and verdicts"
          sortDescriptor={{
            column: view.sort.column,
            direction: view.sort.isDescending ? 'descending' : 'ascending',
          }}
          onSortChange={({ column, direction }) => {
            const chosen = SORT_COLUMNS.find((one) => one === column);
            if (chosen === undefined) return;
            onView({ ...view, sort: { column: chosen, isDescending: direction === 'descending' } });
          }}
          onRowAction={(key) => onOpen(Number(key))}
        >
          <TableHeader columns={columns}>
            {({ id, name, width, minWidth, isSortable }) => (
              <Column
                id={id}
                width={width}
                minWidth={minWidth}
                allowsSorting={isSortable}
                isRowHeader={id === 'number'}
                className="rows__column"
              >
                {({ sortDirection }) => (
                  <span className="rows__heading">
                    {name}
                    {isSortable ? <SortIcon direction={sortDirection ?? null} /> : null}
                  </span>
                )}
              </Column>
            )}
          </TableHeader>
          <TableBody items={items} renderEmptyState={() => <p className="rows__empty">No number is like that.</p>}>
            {({ id }) => (
              <Row id={id} columns={columns} className="rows__row">
                {(column) => (
                  <Cell className="rows__cell">
                    <CellContent rowId={id} column={column.id} onOpen={onOpen} />
                  </Cell>
                )}
              </Row>
            )}
          </TableBody>
        </Table>
      </Virtualizer>
    </div>
  );
}

interface Item {
  readonly id: number;
}

/** One item for each row, the same as long as the row is: the table builds its rows anew only where it must. */
function useSameIds(rows: readonly DeskRow[]): readonly Item[] {
  const known = useRef(new Map<number, Item>());
  const before = useRef<readonly Item[]>([]);
  return useMemo(() => {
    const items = rows.map(({ id }) => {
      const item = known.current.get(id) ?? { id };
      known.current.set(id, item);
      return item;
    });
    const isSame =
      items.length === before.current.length && items.every((item, index) => item === before.current[index]);
    if (!isSame) before.current = items;
    return before.current;
  }, [rows]);
}

interface CellProps {
  readonly rowId: number;
  readonly column: ColumnId;
  readonly onOpen: (id: number) => void;
}

function CellContent({ rowId, column, onOpen }: CellProps): ReactNode {
  const row = useRow(rowId);
  if (row === undefined) return null;
  switch (column) {
    case 'line':
      return <span className="rows__line">{row.line}</span>;
    case 'number':
      return <span className="rows__number">{masked(row.e164)}</span>;
    case 'customer':
      return <span className="rows__customer">{row.customer?.name ?? (row.customer === null ? '–' : '')}</span>;
    case 'verdict':
      return <VerdictCell row={row} onOpen={onOpen} />;
    case 'lastChange':
      return row.state.kind === 'answered' ? <DateCell lastChange={row.state.answer.lastChange} /> : null;
    case 'within24':
      return <WindowCell row={row} hours={24} />;
    case 'within72':
      return <WindowCell row={row} hours={72} />;
    case 'within168':
      return <WindowCell row={row} hours={168} />;
    case 'within720':
      return <WindowCell row={row} hours={720} />;
    case 'asOf':
      return <AsOfCell row={row} />;
  }
}

function VerdictCell({ row, onOpen }: { readonly row: DeskRow; readonly onOpen: (id: number) => void }) {
  const nowMs = useNow();
  const verdict = verdictOf(row.state);
  const outcome = outcomeOf(verdict);
  const askedAtMs = row.state.kind === 'answered' ? asOfMs(row.state.answer) : null;
  const freshness = askedAtMs === null ? 'fresh' : freshnessOf(askedAtMs, nowMs);
  const detail = detailOf(row);
  return (
    <span
      className="pill"
      data-outcome={outcome}
      data-freshness={freshness}
      data-quiet={isAway(row.state) || undefined}
      data-busy={verdict.kind === 'asking' || undefined}
    >
      <OutcomeIcon outcome={outcome} />
      <span className="pill__words">
        <b>{verdictName(verdict)}</b>
        {detail === '' ? null : <span className="pill__detail">{detail}</span>}
      </span>
      {verdict.kind === 'needsConsent' ? (
        <Button className="button button--small" onPress={() => onOpen(row.id)}>
          Ask: rings a phone …
        </Button>
      ) : null}
    </span>
  );
}

function detailOf(row: DeskRow): string {
  const verdict = verdictOf(row.state);
  switch (verdict.kind) {
    case 'swapped':
      return `within ${windowName(verdict.withinHours)}`;
    case 'unknown':
      return reasonOf(verdict.reason).name;
    case 'clear':
      return 'in 30 days';
    case 'pending':
    case 'needsConsent':
    case 'asking':
    case 'waiting':
      return '';
  }
}

function DateCell({ lastChange }: { readonly lastChange: LastChange }) {
  const nowMs = useNow();
  switch (lastChange.kind) {
    case 'at':
      return (
        <span className="rows__date">
          {dateName(lastChange.atMs)} <span>{agoName(lastChange.atMs, nowMs)}</span>
        </span>
      );
    case 'withheld':
      return <span className="rows__quiet">not disclosed</span>;
    case 'unknown':
      return <span className="rows__quiet">unknown</span>;
    case 'notAsked':
      return <span className="rows__quiet">not asked</span>;
  }
}

function WindowCell({ row: { state }, hours }: { readonly row: DeskRow; readonly hours: WindowHours }) {
  if (state.kind === 'failed') return <Mark window={undefined} />;
  return state.kind === 'answered' ? <Mark window={state.answer.windows[hours]} /> : null;
}

function Mark({ window }: { readonly window: WindowAnswer | undefined }) {
  switch (window?.kind) {
    case 'swapped':
      return (
        <span className="mark" data-outcome="swapped">
          Yes
        </span>
      );
    case 'notSwapped':
      return (
        <span className="mark" data-outcome="clear">
          No
        </span>
      );
    case 'notAsked':
      return (
        <span className="mark" data-outcome="open">
          –<span className="visually-hidden">not asked</span>
        </span>
      );
    case 'unknown':
    case undefined:
      return (
        <span className="mark" data-outcome="unknown">
          ?<span className="visually-hidden">unknown</span>
        </span>
      );
  }
}

function AsOfCell({ row: { state } }: { readonly row: DeskRow }) {
  const nowMs = useNow();
  const askedAtMs = state.kind === 'answered' ? asOfMs(state.answer) : null;
  if (askedAtMs === null) return null;
  const freshness = freshnessOf(askedAtMs, nowMs);
  return (
    <span className="asof" data-freshness={freshness}>
      {freshness === 'stale' ? <b>stale · </b> : null}
      {agoName(askedAtMs, nowMs)}
    </span>
  );
}
