import {
  defaultRangeExtractor,
  useVirtualizer,
  useWindowVirtualizer,
  type Range,
} from '@tanstack/react-virtual';
import {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { Button } from 'react-aria-components';
import type { DeskRow } from '../model/deskRow.ts';
import { isAway } from '../model/outage.ts';
import { masked } from '../model/phoneNumber.ts';
import { reasonOf } from '../model/reasons.ts';
import { agoName, freshnessOf } from '../model/staleness.ts';
import { ownCell, type OwnColumn, type SortColumn, type TableView } from '../model/tableView.ts';
import type { ShownColumn } from '../model/upload.ts';
import { answerOf, outcomeOf, refreshFailure, verdictName, verdictOf } from '../model/verdict.ts';
import { activatedAtMs, asOfMs, windowName, type Answer } from '../model/windows.ts';
import { useMedia, useNow, useRow } from './hooks.ts';
import { OutcomeIcon, SortIcon, toneOf } from './icons.tsx';
import { dateTimeName } from './names.ts';
import { Strip } from './Timeline.tsx';

type ColumnId = SortColumn | 'windows';

interface ColumnSpec {
  readonly id: ColumnId;
  readonly name: string;
  /** Where the rows can be sorted by it. */
  readonly sort: SortColumn | null;
  readonly isAmount?: boolean;
}

const WIDE: readonly ColumnSpec[] = [
  { id: 'line', name: 'Line', sort: 'line' },
  { id: 'number', name: 'Number', sort: 'number' },
  { id: 'customer', name: 'Customer', sort: 'customer' },
  { id: 'risk', name: 'Risk', sort: 'risk' },
  { id: 'lastChange', name: 'Last change', sort: 'lastChange' },
  { id: 'windows', name: '30 days ago to now', sort: null },
  { id: 'asOf', name: 'Checked', sort: 'asOf' },
];

/** On a phone the row is opened for the rest. */
const NARROW: readonly ColumnSpec[] = [
  { id: 'number', name: 'Number', sort: 'number' },
  { id: 'risk', name: 'Risk', sort: 'risk' },
];

/** A list's own columns are behind the customer. */
function withOwn(own: RowsTableProps['own']): readonly ColumnSpec[] {
  const columns = own.map(({ index, name, isAmount }): ColumnSpec => {
    const id: OwnColumn = `own${index}`;
    return { id, name, sort: id, isAmount };
  });
  return [...WIDE.slice(0, 3), ...columns, ...WIDE.slice(3)];
}

/** Of a character, of the space beside it, and of how many more rows there are. */
const CHARACTER_PX = 8.4;
const BESIDE_PX = 24 + 22;

/** How wide the list's own columns are, for list.css. */
function ownWidths(own: RowsTableProps['own']): CSSProperties {
  const widths = own.map(({ width }) => Math.round(width * CHARACTER_PX + BESIDE_PX));
  return {
    '--own': widths.map((px) => `${px}px`).join(' '),
    '--own-width': `${widths.reduce((sum, px) => sum + px, 0)}px`,
  } as CSSProperties;
}

/** A phone's header, which stays in sight. */
const TOPBAR_PX = 130;

/** As in list.css. */
const ROW_HEIGHT_PX = 44;
/** Drawn before they come in sight. */
const OVERSCAN_ROWS = 10;

interface RowsTableProps {
  /** The list's own columns to show. */
  readonly own: readonly ShownColumn[];
  readonly rows: readonly DeskRow[];
  readonly search: string;
  readonly sort: TableView['sort'];
  readonly onSort: (sort: TableView['sort']) => void;
  readonly onOpen: (id: number) => void;
  readonly onShowAll: () => void;
  /** A banner is about it: the rows that it left without an answer stay quiet. */
  readonly isOutage: boolean;
}

interface CellAt {
  readonly row: number;
  readonly column: number;
}

/**
 * The rows as an ARIA grid; only those in sight are drawn. One cell can be reached with Tab. Arrows go to
 * others, Page Up and Down by a screen, Home and End within the row, with Control to the first and the last
 * cell of all; Enter opens the row.
 */
export function RowsTable(props: RowsTableProps) {
  const { rows, own, search, sort, onSort, onOpen, onShowAll, isOutage } = props;
  const isNarrow = useMedia('(max-width: 720px)');
  const columns = useMemo(() => (isNarrow ? NARROW : withOwn(own)), [isNarrow, own]);
  const scroller = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<CellAt>({ row: 0, column: 0 });
  const active = {
    row: Math.min(chosen.row, Math.max(rows.length - 1, 0)),
    column: Math.min(chosen.column, columns.length - 1),
  };
  const focusesActive = useRef(false);
  const common = {
    count: rows.length,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: OVERSCAN_ROWS,
    getItemKey: (index: number) => rows[index]?.id ?? index,
    // The row that Tab reaches is there although it is out of sight.
    rangeExtractor: useCallback(
      (range: Range) => {
        const shown = defaultRangeExtractor(range);
        return shown.includes(active.row) || active.row >= range.count
          ? shown
          : [...shown, active.row].toSorted((a, b) => a - b);
      },
      [active.row],
    ),
  };
  const inBox = useVirtualizer({
    ...common,
    enabled: !isNarrow,
    getScrollElement: () => scroller.current,
    // Under the heading, which stays in sight.
    scrollPaddingStart: ROW_HEIGHT_PX,
  });
  // On a phone nothing scrolls but the page.
  const body = useRef<HTMLDivElement>(null);
  const [bodyTopPx, setBodyTopPx] = useState(0);
  useLayoutEffect(() => {
    const box = body.current?.getBoundingClientRect();
    if (isNarrow && box !== undefined) setBodyTopPx(Math.round(box.top + window.scrollY));
  });
  const inPage = useWindowVirtualizer({
    ...common,
    enabled: isNarrow,
    scrollMargin: bodyTopPx,
    scrollPaddingStart: TOPBAR_PX,
  });
  const virtualizer = isNarrow ? inPage : inBox;

  useEffect(() => {
    if (!focusesActive.current) return;
    focusesActive.current = false;
    scroller.current?.querySelector<HTMLElement>('.rows__cell[tabindex="0"]')?.focus();
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT_PX) - 2);
    const last = { row: rows.length - 1, column: columns.length - 1 };
    const next = nextCell(event, active, last, page);
    if (next === undefined) return;
    event.preventDefault();
    focusesActive.current = true;
    setChosen(next);
    virtualizer.scrollToIndex(next.row);
  };

  const open = useCallback(
    (id: number, at: CellAt): void => {
      setChosen(at);
      onOpen(id);
    },
    [onOpen],
  );

  return (
    <div className="tablebox card" data-outage={isOutage || undefined}>
      <div
        ref={scroller}
        className="rows"
        data-columns={isNarrow ? 'narrow' : 'wide'}
        data-own={isNarrow || own.length === 0 ? undefined : true}
        style={own.length === 0 ? undefined : ownWidths(own)}
        role="grid"
        aria-label="Numbers by risk"
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
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
            ref={body}
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
                  startPx={isNarrow ? start - bodyTopPx : start}
                  columns={columns}
                  activeColumn={index === active.row ? active.column : null}
                  onOpen={open}
                />
              );
            })}
          </div>
        )}
      </div>
      {rows.length === 0 ? (
        <p className="rows__empty">
          {search === '' ? 'No numbers here any more.' : `No numbers match “${search}”.`}{' '}
          <Button className="button button--small" onPress={onShowAll}>
            {search === '' ? 'Show all' : 'Clear search'}
          </Button>
        </p>
      ) : null}
    </div>
  );
}

function nextCell(
  { key, ctrlKey }: KeyboardEvent,
  { row, column }: CellAt,
  last: CellAt,
  page: number,
): CellAt | undefined {
  switch (key) {
    case 'ArrowDown':
      return { row: Math.min(row + 1, last.row), column };
    case 'ArrowUp':
      return { row: Math.max(row - 1, 0), column };
    case 'ArrowRight':
      return { row, column: Math.min(column + 1, last.column) };
    case 'ArrowLeft':
      return { row, column: Math.max(column - 1, 0) };
    case 'PageDown':
      return { row: Math.min(row + page, last.row), column };
    case 'PageUp':
      return { row: Math.max(row - page, 0), column };
    case 'Home':
      return { row: ctrlKey ? 0 : row, column: 0 };
    case 'End':
      return { row: ctrlKey ? last.row : row, column: last.column };
    default:
      return undefined;
  }
}

interface HeadingProps {
  readonly column: ColumnSpec;
  readonly sort: TableView['sort'];
  readonly onSort: (sort: TableView['sort']) => void;
}

function Heading({ column: { id, name, sort: by, isAmount }, sort, onSort }: HeadingProps) {
  if (by === null) {
    return (
      <div role="columnheader" className="rows__column" data-column={id} title={name}>
        {name}
      </div>
    );
  }
  const direction = sort.isDescending ? 'descending' : 'ascending';
  const isSorted = sort.column === by;
  return (
    <div
      role="columnheader"
      className="rows__column"
      data-column={id}
      data-amount={isAmount || undefined}
      aria-sort={isSorted ? direction : 'none'}
    >
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
  /** That Tab reaches; `null` where it is in another row. */
  readonly activeColumn: number | null;
  readonly onOpen: (id: number, at: CellAt) => void;
}

/** Drawn again when its own row changes, and not with the others. */
const GridRow = memo(function GridRow(props: GridRowProps) {
  const { id, index, startPx, columns, activeColumn, onOpen } = props;
  const row = useRow(id);
  if (row === undefined) return null;
  const outcome = outcomeOf(verdictOf(row.state));
  return (
    <div
      role="row"
      className="rows__row"
      aria-rowindex={index + 2}
      data-outcome={outcome}
      data-tone={toneOf(outcome)}
      style={{ transform: `translateY(${startPx}px)` }}
    >
      {columns.map((column, at) => (
        <div
          key={column.id}
          role={column.id === 'number' ? 'rowheader' : 'gridcell'}
          className="rows__cell"
          data-column={column.id}
          data-amount={column.isAmount || undefined}
          tabIndex={at === activeColumn ? 0 : -1}
          onClick={() => onOpen(id, { row: index, column: at })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            onOpen(id, { row: index, column: at });
          }}
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
  const nowMs = useNow();
  const answer = answerOf(row.state);
  switch (column) {
    case 'line':
      return row.line;
    case 'number':
      return masked(row.e164);
    case 'customer':
      return (
        <span className="rows__own" title={row.customer?.name}>
          {row.customer?.name ?? (row.customer === null ? '–' : '')}
        </span>
      );
    case 'risk':
      return <RiskCell row={row} nowMs={nowMs} />;
    case 'lastChange':
      return answer === undefined ? null : <DateCell answer={answer} nowMs={nowMs} />;
    case 'windows':
      return answer === undefined ? null : <Strip answer={answer} />;
    case 'asOf':
      return <AsOfCell row={row} nowMs={nowMs} />;
    default:
      return <OwnCell row={row} index={Number(column.slice(3))} />;
  }
}

/** Of a number with several rows, the first says it, and how many more there are. */
function OwnCell({ row: { own }, index }: { readonly row: DeskRow; readonly index: number }) {
  const all = own.map(({ cells }) => cells[index] ?? '').filter((cell) => cell !== '');
  const others = new Set(all).size - 1;
  return (
    <>
      <span className="rows__own" title={[...new Set(all)].join(', ')}>
        {ownCell(own, index)}
      </span>
      {others > 0 ? <span className="rows__more">+{others}</span> : null}
    </>
  );
}

interface TimedProps {
  readonly row: DeskRow;
  readonly nowMs: number;
}

function RiskCell({ row, nowMs }: TimedProps) {
  const verdict = verdictOf(row.state);
  const outcome = outcomeOf(verdict);
  const answer = answerOf(row.state);
  const checkedAtMs = answer === undefined ? null : asOfMs(answer);
  const freshness = checkedAtMs === null ? 'fresh' : freshnessOf(checkedAtMs, nowMs);
  const isOld = refreshFailure(row.state) !== null;
  const detail = detailOf(row);
  return (
    <span
      className="risk"
      data-freshness={isOld ? 'stale' : freshness}
      data-quiet={isAway(row.state) || undefined}
      data-busy={row.state.kind === 'asking' || verdict.kind === 'pending' || undefined}
    >
      <OutcomeIcon outcome={outcome} />
      <b>{verdictName(verdict)}</b>
      {detail === '' ? null : (
        <span className="risk__detail" title={detail}>
          {detail}
        </span>
      )}
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
      return 'prompts the owner';
    case 'activated':
    case 'pending':
    case 'asking':
    case 'waiting':
      return '';
  }
}

function DateCell({ answer, nowMs }: { readonly answer: Answer; readonly nowMs: number }) {
  const { lastChange } = answer;
  switch (lastChange.kind) {
    case 'at':
      return (
        <span className="rows__date" title={dateTimeName(lastChange.atMs)}>
          {activatedAtMs(answer) === null ? '' : 'activated '}
          {agoName(lastChange.atMs, nowMs)}
        </span>
      );
    case 'withheld':
      return 'not disclosed';
    case 'unknown':
      return 'not known';
    case 'notAsked':
      return 'not checked';
  }
}

function AsOfCell({ row, nowMs }: TimedProps) {
  const answer = answerOf(row.state);
  const checkedAtMs = answer === undefined ? null : asOfMs(answer);
  if (checkedAtMs === null) return null;
  const refresh = refreshFailure(row.state);
  const freshness = freshnessOf(checkedAtMs, nowMs);
  return (
    <span
      className="rows__date"
      data-freshness={refresh === null ? freshness : 'stale'}
      title={dateTimeName(checkedAtMs)}
    >
      {agoName(checkedAtMs, nowMs)}
      {refresh !== null ? <span>, not refreshed: {reasonOf(refresh).name}</span> : null}
      {refresh === null && freshness === 'stale' ? <span>, check again</span> : null}
    </span>
  );
}
