import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import {
  Button,
  SearchField,
  Label,
  Input,
  ToggleButton,
  ToggleButtonGroup,
} from 'react-aria-components';
import { rowsInOutage } from '../model/outage.ts';
import { AS_UPLOADED, countOutcomes, viewed, type TableView } from '../model/tableView.ts';
import { OUTCOME_NAMES, OUTCOMES, type Outcome } from '../model/verdict.ts';
import { CaseDialog } from './CaseDialog.tsx';
import { OutcomesChart, RecencyChart } from './Charts.tsx';
import { ConfirmNewList } from './ConfirmNewList.tsx';
import { ExportDialog } from './ExportDialog.tsx';
import { useSettledRows } from './hooks.ts';
import { CloseIcon, OutcomeIcon, PrintIcon } from './icons.tsx';
import { countName, numberName } from './names.ts';
import { PrintedTable } from './PrintedTable.tsx';
import { RowsTable } from './RowsTable.tsx';
import { RunBanners } from './RunBanners.tsx';
import { RunBar } from './RunBar.tsx';

/** What came of a list: how far it is, the outcomes, the rows. */
export function Results() {
  const rows = useSettledRows();
  const [view, setView] = useState<TableView>(AS_UPLOADED);
  const [openId, setOpenId] = useState<number | null>(null);
  const sortBy = useCallback((sort: TableView['sort']) => setView((now) => ({ ...now, sort })), []);
  const deferredView = useDeferredValue(view);
  const counts = useMemo(() => countOutcomes(rows), [rows]);
  const away = useMemo(() => rowsInOutage(rows.map(({ state }) => state)), [rows]);
  const shown = useMemo(() => viewed(rows, deferredView), [rows, deferredView]);
  return (
    <>
      <h1 className="visually-hidden">A list of numbers</h1>
      <RunBar />
      <RunBanners away={away} />
      <div className="overview">
        <section className="card overview__outcomes" aria-label="Outcomes">
          <OutcomesChart counts={counts} total={rows.length} />
          <OutcomeFilter
            counts={counts}
            total={rows.length}
            outcome={view.outcome}
            onChange={(outcome) => setView({ ...view, outcome })}
          />
        </section>
        <section className="card overview__recency" aria-label="Last SIM change">
          <RecencyChart rows={rows} />
        </section>
      </div>
      <div className="tools">
        <SearchField
          className="search"
          value={view.search}
          onChange={(search) => setView({ ...view, search })}
          autoComplete="off"
        >
          <Label className="visually-hidden">Search customers and digits</Label>
          <Input className="input" placeholder="Search customers and digits" spellCheck="false" />
          <Button className="search__clear" aria-label="Clear the search">
            <CloseIcon />
          </Button>
        </SearchField>
        <p className="tools__count" role="status">
          {shown.length === rows.length
            ? countName(rows.length, 'number')
            : `${numberName(shown.length)} of ${countName(rows.length, 'number')}`}
        </p>
        <ExportDialog rows={shown} />
        <Button className="button" onPress={() => window.print()}>
          <PrintIcon /> Print
        </Button>
        <ConfirmNewList />
      </div>
      <RowsTable
        rows={shown}
        sort={view.sort}
        onSort={sortBy}
        onOpen={setOpenId}
        isOutage={away > 0}
      />
      <PrintedTable rows={shown} />
      <CaseDialog id={openId} onClose={() => setOpenId(null)} />
    </>
  );
}

interface FilterProps {
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly total: number;
  readonly outcome: Outcome | 'all';
  readonly onChange: (outcome: Outcome | 'all') => void;
}

function OutcomeFilter({ counts, total, outcome, onChange }: FilterProps) {
  return (
    <ToggleButtonGroup
      className="filter"
      aria-label="Show only"
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[outcome]}
      onSelectionChange={(keys) => {
        const [key] = keys;
        onChange(OUTCOMES.find((one) => one === key) ?? 'all');
      }}
    >
      <ToggleButton id="all" className="filter__button">
        <span className="filter__count">{numberName(total)}</span>
        <span className="filter__name">All</span>
      </ToggleButton>
      {OUTCOMES.map((one) => (
        <ToggleButton key={one} id={one} className="filter__button" data-outcome={one}>
          <span className="filter__count">{numberName(counts[one])}</span>
          <span className="filter__name">
            <OutcomeIcon outcome={one} /> {OUTCOME_NAMES[one]}
          </span>
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
