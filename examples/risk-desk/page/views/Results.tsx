import { useCallback, useDeferredValue, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button, Input, Label, SearchField } from 'react-aria-components';
import { outageOf } from '../model/outage.ts';
import { BY_RISK, viewed, type RowFilter, type TableView } from '../model/tableView.ts';
import { likelyOwnColumns, shownColumn } from '../model/upload.ts';
import { CaseDialog } from './CaseDialog.tsx';
import { ColumnsMenu } from './ColumnsMenu.tsx';
import { ConfirmButton } from './ConfirmButton.tsx';
import { ExportDialog } from './ExportDialog.tsx';
import { closeCase, goTo, useHere } from './here.ts';
import { useDesk, useDeskState, useSettledRows } from './hooks.ts';
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
  const { file } = useDeskState();
  const [view, setView] = useState<TableView>(() => ({
    ...BY_RISK,
    own: file === null ? [] : likelyOwnColumns(file.table, file.column),
  }));
  const own = useMemo(
    () => (file === null ? [] : view.own.map((index) => shownColumn(file.table, index))),
    [file, view.own],
  );
  const showAll = (): void =>
    setView((now) => ({ ...now, search: BY_RISK.search, filter: BY_RISK.filter }));
  const sortBy = useCallback((sort: TableView['sort']) => setView((now) => ({ ...now, sort })), []);
  const filterBy = (filter: RowFilter): void => setView((now) => ({ ...now, filter }));
  const open = useCallback((id: number) => goTo({ caseId: id }), []);
  const deferredView = useDeferredValue(view);
  const outage = useMemo(() => outageOf(rows.map(({ state }) => state)), [rows]);
  const shown = useMemo(() => viewed(rows, deferredView), [rows, deferredView]);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    // The button that began it is gone: what came of it is at the top.
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  const isAll = shown.length === rows.length;
  return (
    <>
      <h1 ref={heading} className="visually-hidden" tabIndex={-1}>
        List results
      </h1>
      <RunBar rows={rows} />
      <RunBanners outage={outage} />
      <Overview rows={rows} filter={view.filter} onFilter={filterBy} />
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
          {isAll && file !== null && file.rows.length !== rows.length
            ? ` in ${countName(file.rows.length, 'row')}`
            : ''}
        </p>
        {isAll ? null : (
          <Button className="button button--quiet" onPress={showAll}>
            Show all
          </Button>
        )}
        {file === null || file.table.columns.length < 2 ? null : (
          <ColumnsMenu
            file={file}
            chosen={view.own}
            onChoose={(chosen) => setView((now) => ({ ...now, own: chosen }))}
          />
        )}
        {file === null ? null : <ExportDialog file={file} rows={rows} shown={shown} />}
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
        own={own}
        search={deferredView.search}
        sort={view.sort}
        onSort={sortBy}
        onOpen={open}
        onShowAll={showAll}
        isOutage={outage !== null}
      />
      <PrintedTable rows={shown} own={own} />
      <CaseDialog id={caseId} onClose={closeCase} />
    </>
  );
}
