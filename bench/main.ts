import { availableParallelism, loadavg } from 'node:os';
import { Cast } from './cast.ts';
import { readOrder, UnfitArguments, type Order, type Run } from './commandLine.ts';
import { GOALS, isGuarded, judge, type Goal, type Verdict } from './goals.ts';
import { addResults, writeReport } from './report/publish.ts';
import { goalsText, guardText, tableText } from './report/text.ts';
import { both, EVERYTHING, rowsOf } from './selection.ts';
import ownTemporaryFolder from '../test/support/temporary.ts';
import { Stage } from './stage.ts';
import { TABLES } from './tables/all.ts';
import type { Plan } from './tables/measure.ts';
import type { Circumstances, Table } from './tables/table.ts';

// `npm run bench`: measures the tables, and holds the goals against them. With --quick it is the guard.

/** A bound that seems missed is measured again with so many rounds before that counts. */
const SECOND_LOOK_ROUNDS = 12;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
ownTemporaryFolder();
const order = orderOrUsage();
let isInterrupted = false;

switch (order?.kind) {
  case 'report':
    for (const table of writeReport()) say(tableText(table));
    break;
  case 'run':
    try {
      process.exitCode = await run(order);
    } catch (error) {
      if (!isInterrupted) throw error;
      process.exitCode = 130;
    }
    break;
  case undefined:
    break;
}

function orderOrUsage(): Order | undefined {
  const goals = GOALS.map(({ says }) => says);
  try {
    return readOrder(process.argv.slice(2), Object.keys(TABLES), goals);
  } catch (error) {
    if (!(error instanceof UnfitArguments)) throw error;
    process.stderr.write(error.message);
    process.exitCode = 1;
    return undefined;
  }
}

/** @returns the exit code */
async function run(wanted: Run): Promise<number> {
  await using stage = await Stage.open();
  const interrupt = (signal: NodeJS.Signals): void => {
    isInterrupted = true;
    process.stderr.write(`${signal}: ending all processes\n`);
    void stage[Symbol.asyncDispose]();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);

  const goals = GOALS.filter((goal) => isWanted(goal, wanted));
  const plan: Plan = {
    ...wanted,
    selects: both(
      wanted.isQuick ? rowsOf(GOALS.filter(({ guard }) => guard !== undefined)) : EVERYTHING,
      wanted.only.length > 0 ? rowsOf(goals) : EVERYTHING,
    ),
    announce: (text) => void process.stderr.write(`${text} …\n`),
  };
  const cast = new Cast(stage, wanted);
  const names = wanted.tables.length > 0 ? wanted.tables : Object.keys(TABLES);
  const tables = await measureAll(names, cast, plan);
  const verdicts = judge(goals, tables);
  if (!wanted.isQuick) {
    say(goalsText(verdicts));
    if (wanted.only.length === 0 && wanted.rounds === undefined) addResults(tables);
    return 0;
  }
  say(guardText(verdicts));
  return (await areHeld(verdicts, cast, plan)) ? 0 : 1;
}

function isWanted({ says }: Goal, { only }: Run): boolean {
  return only.length === 0 || only.some((text) => says.toLowerCase().includes(text));
}

async function measureAll(names: readonly string[], cast: Cast, plan: Plan): Promise<Table[]> {
  const tables: Table[] = [];
  for (const name of names) {
    const circumstances = readCircumstances();
    const table = await TABLES[name]?.(cast, plan);
    if (table === undefined || table.rows.length === 0) continue;
    tables.push({ ...table, circumstances });
    say(tableText(table));
  }
  return tables;
}

function readCircumstances(): Circumstances {
  return {
    date: new Date().toISOString().slice(0, 'yyyy-mm-dd'.length),
    node: process.version,
    cores: availableParallelism(),
    loadAtStart: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

/** Whether the guard's bounds are held; what seems not to be is looked at again, and longer. */
async function areHeld(verdicts: readonly Verdict[], cast: Cast, plan: Plan): Promise<boolean> {
  const missed = verdicts.filter((verdict) => !isGuarded(verdict)).map(({ goal }) => goal);
  if (missed.length === 0) return true;
  const names = [...new Set(missed.map(({ found }) => found.table))];
  say(`Measured again, for longer: ${names.join(', ')}`);
  const rounds = Math.max(SECOND_LOOK_ROUNDS, plan.rounds ?? 0);
  const tables = await measureAll(names, cast, { ...plan, selects: rowsOf(missed), rounds });
  const again = judge(missed, tables);
  say(guardText(again));
  return again.every(isGuarded);
}
