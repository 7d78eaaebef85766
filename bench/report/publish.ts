import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { GOALS, judge } from '../goals.ts';
import { TABLES } from '../tables/all.ts';
import type { Table } from '../tables/table.ts';
import { CHARTS, chartSvg } from './charts.ts';
import { goalsMarkdown, withMeasured } from './markdown.ts';
import { readResults, withTables, writeResults } from './results.ts';

const RESULTS = new URL('../results/', import.meta.url);
const LATEST = new URL('latest.json', RESULTS);
const DOCUMENT = new URL('README.md', RESULTS);

/** Puts these tables into the results, in place of earlier ones, and writes the report. */
export function addResults(tables: readonly Table[]): void {
  mkdirSync(RESULTS, { recursive: true });
  writeResults(LATEST, withTables(readResults(LATEST), tables, Object.keys(TABLES)));
  writeReport();
}

/** Writes the charts and the goals of the document from the results. @returns the tables */
export function writeReport(): readonly Table[] {
  const tables = readResults(LATEST);
  for (const order of CHARTS) {
    const svg = chartSvg(order, tables);
    if (svg !== undefined) writeFileSync(new URL(`${order.name}.svg`, RESULTS), svg);
  }
  const measured = new Map([['goals', goalsMarkdown(judge(GOALS, tables))]]);
  writeFileSync(DOCUMENT, withMeasured(readFileSync(DOCUMENT, 'utf8'), measured));
  return tables;
}
