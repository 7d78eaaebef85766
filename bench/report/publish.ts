import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Verdict } from '../goals.ts';
import type { Table } from '../tables/table.ts';
import { CHARTS, chartSvg } from './charts.ts';
import { goalsMarkdown, withMeasured } from './markdown.ts';
import { resultsJson } from './results.ts';

const RESULTS = new URL('../results/', import.meta.url);
const DOCUMENT = new URL('../../docs/performance.md', import.meta.url);

/** Writes what was measured to where it is read: the results, their charts, and the document about them. */
export function publish(tables: readonly Table[], verdicts: readonly Verdict[]): void {
  const circumstances = {
    date: new Date().toISOString().slice(0, 'yyyy-mm-dd'.length),
    node: process.version,
    cores: availableParallelism(),
  };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('latest.json', RESULTS), resultsJson(circumstances, tables, verdicts));
  for (const order of CHARTS) {
    const svg = chartSvg(order, tables);
    if (svg !== undefined) writeFileSync(new URL(`${order.name}.svg`, RESULTS), svg);
  }
  const measured = goalsMarkdown(circumstances, verdicts);
  writeFileSync(DOCUMENT, withMeasured(readFileSync(DOCUMENT, 'utf8'), measured));
}
