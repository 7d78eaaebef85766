import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pretty } from '../scripts/madeFile.ts';
import type { Judge, NotHere } from './judge.ts';
import { JUDGES } from './judges.ts';
import { fallen, pageOf, rowOf, rowsOf, type Row } from './page.ts';

const PAGE = fileURLToPath(new URL('../docs/compatibility.md', import.meta.url));
const MAX_JUDGE_MS = { short: 120_000, long: 900_000 };

/**
 * Runs judges, and writes their rows into docs/compatibility.md; with `--check` it only compares. Rows of judges that do not
 * run stay. Exits with 1 where a row fell, or where a page that is only compared would change.
 * @param args `--check`, `--short`, and words of which the names of the judges to run contain one
 */
export async function runJudges(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { check: { type: 'boolean' }, short: { type: 'boolean' } },
  });
  const chosen = JUDGES.filter(({ name, form }) => {
    const isNamed = positionals.some((word) => name.toLowerCase().includes(word.toLowerCase()));
    return (positionals.length === 0 || isNamed) && !(values.short === true && form === 'long');
  });
  if (chosen.length === 0) return fail('No judge is named so.');

  const page = readFileSync(PAGE, 'utf8');
  const before = rowsOf(page);
  const rows: Row[] = [];
  for (const judge of JUDGES) {
    const row = chosen.includes(judge) ? await rowBy(judge) : undefined;
    const kept = row ?? before.find(({ name }) => name === judge.name);
    if (kept !== undefined) rows.push(kept);
  }
  const fell = fallen(before, rows);
  for (const one of fell) fail(one);
  const text = await pretty(pageOf(rows), PAGE);
  if (text === page) return;
  if (values.check !== true) writeFileSync(PAGE, text);
  else if (fell.length === 0) fail('docs/compatibility.md is out of date: npm run compatibility');
}

/** Absent where the judge is not here. */
async function rowBy(judge: Judge): Promise<Row | undefined> {
  const startedMs = performance.now();
  const { name, version } = judge;
  const findings = await findingsBy(judge);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  if ('notHere' in findings) {
    process.stdout.write(`${name}: left out. ${findings.notHere}\n`);
    return undefined;
  }
  const row = rowOf(name, version, findings);
  process.stdout.write(`${name} (${version}): ${row.passed} of ${row.total}, ${seconds} s\n`);
  for (const { about, failure } of findings) {
    if (failure !== undefined) process.stdout.write(`  ${about}: ${failure}\n`);
  }
  return row;
}

async function findingsBy({ judge, form }: Judge): ReturnType<Judge['judge']> {
  const { promise, reject } = Promise.withResolvers<NotHere>();
  const timer = setTimeout(() => reject(new Error('takes too long')), MAX_JUDGE_MS[form]);
  try {
    return await Promise.race([judge(), promise]);
  } catch (error) {
    return [{ about: 'runs', failure: error instanceof Error ? error.message : String(error) }];
  } finally {
    clearTimeout(timer);
  }
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
