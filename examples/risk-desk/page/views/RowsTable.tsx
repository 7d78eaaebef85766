import { useVirtualizer, type Range, defaultRangeExtractor } from '@tanstack/react-virtual';
import {
  memo,
  useCallback,
  useEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import type { DeskRow } from '../model/deskRow.ts';
import { isAway } from '../model/outage.ts';
import { masked } from '../model/phoneNumber.ts';
import { reasonOf } from '../model/reasons.ts';
import { agoName, freshnessOf } from '../model/staleness.ts';
import type { SortColumn, TableView } from '../model/tableView.ts';
import { outcomeOf, verdictName, verdictOf } from '../model/verdict.ts';
import {
  asOfMs,
  windowName,
  type LastChange,
  type WindowAnswer,
  type WindowHours,
} from '../model/windows.ts';
import { useMedia, useNow, useRow } from './hooks.ts';
import { OutcomeIcon, SortIcon } from './icons.tsx';
import { dateName } from './names.ts';

type ColumnId = SortColumn | `within${WindowHours}`;

interface ColumnSpec {
  readonly id: ColumnId;
  readonly name: string;
  /** Where the rows can be sorted by it. */
  readonly sort: SortColumn | null;
}

const WIDE: readonly ColumnSpec[] = [
  { id: 'line', name: 'Line', sort: 'line' },
  { id: 'number', name: 'Number', sort: 'number' },
  { id: 'customer', name: 'Customer', sort: 'customer' },
  { id: 'verdict', name: 'Verdict', sort: 'verdict' },
  { id: 'lastChange', name: 'Last change', sort: 'lastChange' },
  { id: 'within24', name: '24 h', sort: null },
  { id: 'within72', name: '72 h', sort: null },
  { id: 'within168', name: '7 days', sort: null },
  { id: 'within720', name: '30 days', sort: null },
  { id: 'asOf', name: 'Asked', sort: 'asOf' },
];

/** On a phone the row is opened for the rest. */
const NARROW: readonly ColumnSpec[] = [
  { id: 'number', name: 'Number', sort: 'number' },
  { id: 'verdict', name: 'Verdict', sort: 'verdict' },
];

/** As in desk.css. */
const ROW_HEIGHT_PX = 44;
/** Drawn before they come in sight. */
const OVERSCAN_ROWS = 10;

interface RowsTableProps {
  readonly rows: readonly DeskRow[];
  readonly sort: TableView['sort'];
  readonly onSort: (sort: TableView['sort']) => void;
  readonly onOpen: (id: number) => void;
  /** A banner tells of it: the rows that it left without an answer stay quiet. */
  readonly isOutage: boolean;
}

/**
 * The rows as an ARIA grid; only those in sight are drawn. One row can be reached with Tab; arrows, Page Up
 * and Down, Home and End go to others, Enter opens one.
 */
export function RowsTable({ rows, sort, onSort, onOpen, isOutage }: RowsTableProps) {
  const columns = useMedia('(max-width: 720px)') ? NARROW : WIDE;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const activeIndex = Math.min(active, Math.max(rows.length - 1, 0));
  const focusesActive = useRef(false);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: OVERSCAN_ROWS,
    // Under the heading, which stays in sight.
    scrollPaddingStart: ROW_HEIGHT_PX,
    getItemKey: (index) => rows[index]?.id ?? index,
    // The row that Tab reaches is there although it is out of sight.
    rangeExtractor: useCallback(
      (range: Range) => {
        const shown = defaultRangeExtractor(range);
        return shown.includes(activeIndex) || activeIndex >= range.count
          ? shown
          : [...shown, activeIndex].toSorted((a, b) => a - b);
      },
      [activeIndex],
    ),
  });

  useEffect(() => {
    if (!focusesActive.current) return;
    focusesActive.current = false;
    scroller.current?.querySelector<HTMLElement>('.rows__row[tabindex="0"]')?.focus();
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT_PX) - 2);
    const next = nextIndex(event.key, activeIndex, rows.length, page);
    if (next === undefined) return;
    event.preventDefault();
    focusesActive.current = true;
    setActive(next);
    virtualizer.scrollToIndex(next);
  };

  const open = useCallback(
    (id: number, index: number): void => {
      setActive(index);
      onOpen(id);
    },
    [onOpen],
  );

  return (
    <div className="tablebox" data-outage={isOutage || undefined}>
      <div
        ref={scroller}
        className="rows"
        data-columns={columns === NARROW ? 'narrow' : 'wide'}
        role="grid"
        aria-label="Numbers and verdicts"
        aria-rowcount={rows.length + 1}
      >
        <div role="rowgroup" className="rows__head">
          <div role="row" aria-rowindex={1} className="rows__heads">
            {columns.map((column) => (
              <Heading key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </div>
        </div>
        {rows.length === 0 ? null : (
          <div
            role="rowgroup"
            className="rows__body"
            style={{ height: virtualizer.getTotalSize() }}
            onKeyDown={onKeyDown}
          >
            {virtualizer.getVirtualItems().map(({ index, start }) => {
              const row = rows[index];
              return row === undefined ? null : (
                <GridRow
                  key={row.id}
                  id={row.id}
                  index={index}
                  startPx={start}
                  columns={columns}
                  isActive={index === activeIndex}
                  onOpen={open}
                />
              );
            })}
          </div>
        )}
      </div>
      {rows.length === 0 ? <p className="rows__empty">No number is like that.</p> : null}
    </div>
  );
}

function nextIndex(key: string, index: number, count: number, page: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return Math.min(index + 1, count - 1);
    case 'ArrowUp':
      return Math.max(index - 1, 0);
    case 'PageDown':
      return Math.min(index + page, count - 1);
    case 'PageUp':
      return Math.max(index - page, 0);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}

interface HeadingProps {
  readonly column: ColumnSpec;
  readonly sort: TableView['sort'];
  readonly onSort: (sort: TableView['sort']) => void;
}

function Heading({ column: { name, sort: by }, sort, onSort }: HeadingProps) {
  if (by === null) {
    return (
      <div role="columnheader" className="rows__column">
        {name}
      </div>
    );
  }
  const direction = sort.isDescending ? 'descending' : 'ascending';
  const isSorted = sort.column === by;
  return (
    <div role="columnheader" className="rows__column" aria-sort={isSorted ? direction : 'none'}>
      <button
        type="button"
        className="rows__heading"
        onClick={() => onSort({ column: by, isDescending: isSorted && !sort.isDescending })}
      >
        {name}
        <SortIcon direction={isSorted ? direction : null} />
      </button>
    </div>
  );
}

interface GridRowProps {
  readonly id: number;
  readonly index: number;
  readonly startPx: number;
  readonly columns: readonly ColumnSpec[];
  readonly isActive: boolean;
  readonly onOpen: (id: number, index: number) => void;
}

/** Drawn again when its own row changes, and not with the others. */
const GridRow = memo(function GridRow(props: GridRowProps) {
  const { id, index, startPx, columns, isActive, onOpen } = props;
  const row = useRow(id);
  if (row === undefined) return null;
  return (
    <div
      role="row"
      className="rows__row"
      aria-rowindex={index + 2}
      tabIndex={isActive ? 0 : -1}
      style={{ transform: `translateY(${startPx}px)` }}
      onClick={() => onOpen(id, index)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onOpen(id, index);
      }}
    >
      {columns.map((column) => (
        <div
          key={column.id}
          role={column.id === 'number' ? 'rowheader' : 'gridcell'}
          className="rows__cell"
        >
          <CellContent row={row} column={column.id} />
        </div>
      ))}
    </div>
  );
});

interface CellProps {
  readonly row: DeskRow;
  readonly column: ColumnId;
}

function CellContent({ row, column }: CellProps): ReactNode {
  switch (column) {
    case 'line':
      return <span className="rows__line">{row.line}</span>;
    case 'number':
      return <span className="rows__number">{masked(row.e164)}</span>;
    case 'customer':
      return (
        <span className="rows__customer">
          {row.customer?.name ?? (row.customer === null ? '–' : '')}
        </span>
      );
    case 'verdict':
      return <VerdictCell row={row} />;
    case 'lastChange':
      return row.state.kind === 'answered' ? (
        <DateCell lastChange={row.state.answer.lastChange} />
      ) : null;
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

function VerdictCell({ row }: { readonly row: DeskRow }) {
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
    case 'needsConsent':
      return 'open to ask: rings a phone';
    case 'pending':
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

function WindowCell({
  row: { state },
  hours,
}: {
  readonly row: DeskRow;
  readonly hours: WindowHours;
}) {
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
