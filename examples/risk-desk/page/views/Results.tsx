import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import { Button, Input, Label, SearchField } from 'react-aria-components';
import { rowsInOutage } from '../model/outage.ts';
import { BY_RISK, viewed, type RowFilter, type TableView } from '../model/tableView.ts';
import { CaseDialog } from './CaseDialog.tsx';
import { ConfirmButton } from './ConfirmButton.tsx';
import { ExportDialog } from './ExportDialog.tsx';
import { closeCase, goTo, useHere } from './here.ts';
import { useDesk, useDeskState, useNow, useSettledRows } from './hooks.ts';
import { CloseIcon, PrintIcon } from './icons.tsx';
import { countName, numberName } from './names.ts';
import { Overview } from './Overview.tsx';
import { PrintedTable } from './PrintedTable.tsx';
import { RowsTable } from './RowsTable.tsx';
import { RunBanners } from './RunBanners.tsx';
import { RunBar } from './RunBar.tsx';

/** What came of a list: how far it is, the outcomes, the rows. */
export function Results() {
  const desk = useDesk();
  const rows = useSettledRows();
  const { caseId } = useHere();
  const nowMs = useNow();
  const [view, setView] = useState<TableView>(BY_RISK);
  const sortBy = useCallback((sort: TableView['sort']) => setView((now) => ({ ...now, sort })), []);
  const filterBy = (filter: RowFilter): void => setView((now) => ({ ...now, filter }));
  const open = useCallback((id: number) => goTo({ caseId: id }), []);
  const deferredView = useDeferredValue(view);
  // Only bars depend on the time.
  const viewedAtMs = deferredView.filter.kind === 'recency' ? nowMs : 0;
  const away = useMemo(() => rowsInOutage(rows.map(({ state }) => state)), [rows]);
  const shown = useMemo(
    () => viewed(rows, deferredView, viewedAtMs),
    [rows, deferredView, viewedAtMs],
  );
  const { run } = useDeskState();
  const isRunning = run.kind === 'asking' || run.kind === 'paused';
  const isAll = shown.length === rows.length;
  return (
    <>
      <h1 className="visually-hidden">List results</h1>
      <RunBar rows={rows} />
      <RunBanners away={away} />
      <Overview rows={rows} isRunning={isRunning} filter={view.filter} onFilter={filterBy} />
      <div className="tools">
        <SearchField
          className="search"
          value={view.search}
          onChange={(search) => setView({ ...view, search })}
          autoComplete="off"
        >
          <Label className="visually-hidden">Search customers and digits</Label>
          <Input className="input" placeholder="Search customers and digits" spellCheck="false" />
          <Button className="search__clear" aria-label="Clear search">
            <CloseIcon />
          </Button>
        </SearchField>
        <p className="tools__count" role="status">
          {isAll
            ? countName(rows.length, 'number')
            : `${numberName(shown.length)} of ${countName(rows.length, 'number')}`}
        </p>
        {isAll ? null : (
          <Button
            className="button button--quiet"
            onPress={() => setView(({ sort }) => ({ ...BY_RISK, sort }))}
          >
            Show all
          </Button>
        )}
        <ExportDialog rows={shown} />
        <Button className="button" onPress={() => window.print()}>
          <PrintIcon /> Print
        </Button>
        <ConfirmButton
          mustConfirm={() => true}
          title="Clear this list?"
          says="Checks under way are cancelled and the results are removed from this page. Export them first if you need them."
          action="Clear"
          onConfirm={() => desk.clear()}
        >
          New list
        </ConfirmButton>
      </div>
      <RowsTable
        rows={shown}
        search={deferredView.search}
        sort={view.sort}
        onSort={sortBy}
        onOpen={open}
        onShowAll={() => setView(({ sort }) => ({ ...BY_RISK, sort }))}
        isOutage={away > 0}
      />
      <PrintedTable rows={shown} />
      <CaseDialog id={caseId} onClose={closeCase} />
    </>
  );
}
