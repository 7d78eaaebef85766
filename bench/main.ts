import { Cast } from './cast.ts';
import { readOrder, UnfitArguments, type Order } from './commandLine.ts';
import { GOALS, isGuarded, judge, type Verdict } from './goals.ts';
import { publish } from './report/publish.ts';
import { goalsText, guardText, tableText } from './report/text.ts';
import { Stage } from './stage.ts';
import { TABLES } from './tables/all.ts';
import type { Plan } from './tables/measure.ts';
import type { Table } from './tables/table.ts';

// `npm run bench`: measures the tables, and holds the goals against them. With --quick it is the guard.

/** A bound that seems missed is measured again with so many times the rounds before that counts. */
const SECOND_LOOK = 3;
const QUICK_ROUNDS = 4;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const order = orderOrUsage();
let isInterrupted = false;

if (order !== undefined) {
  try {
    process.exitCode = await run(order);
  } catch (error) {
    if (!isInterrupted) throw error;
    process.exitCode = 130;
  }
}

function orderOrUsage(): Order | undefined {
  try {
    return readOrder(process.argv.slice(2), Object.keys(TABLES));
  } catch (error) {
    if (!(error instanceof UnfitArguments)) throw error;
    process.stderr.write(error.message);
    process.exitCode = 1;
    return undefined;
  }
}

/** @returns the exit code */
async function run({ tables: named, ...wanted }: Order): Promise<number> {
  await using stage = await Stage.open();
  const interrupt = (signal: NodeJS.Signals): void => {
    isInterrupted = true;
    process.stderr.write(`${signal}: ending all processes\n`);
    void stage[Symbol.asyncDispose]();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);

  const cast = new Cast(stage, wanted);
  const names = named.length > 0 ? named : Object.keys(TABLES);
  const plan = { ...wanted, announce: (text: string) => process.stderr.write(`  ${text} …\n`) };
  const tables = await measureAll(names, cast, plan);
  const verdicts = judge(GOALS, tables);
  if (!wanted.isQuick) {
    say(goalsText(verdicts));
    if (named.length === 0 && wanted.rounds === undefined) publish(tables, verdicts);
    return 0;
  }
  say(guardText(verdicts));
  return (await areHeld(verdicts, cast, plan)) ? 0 : 1;
}

async function measureAll(names: readonly string[], cast: Cast, plan: Plan): Promise<Table[]> {
  const tables: Table[] = [];
  for (const name of names) {
    process.stderr.write(`${name}\n`);
    const table = await TABLES[name]?.(cast, plan);
    if (table === undefined || table.rows.length === 0) continue;
    tables.push(table);
    say(tableText(table));
  }
  return tables;
}

/** Whether the guard's bounds are held; what seems not to be is looked at again, and longer. */
async function areHeld(verdicts: readonly Verdict[], cast: Cast, plan: Plan): Promise<boolean> {
  const missed = verdicts.filter((verdict) => !isGuarded(verdict));
  if (missed.length === 0) return true;
  const names = [...new Set(missed.map(({ goal }) => goal.found.table))];
  say(`Measured again, for longer: ${names.join(', ')}`);
  const rounds = SECOND_LOOK * (plan.rounds ?? QUICK_ROUNDS);
  const tables = await measureAll(names, cast, { ...plan, rounds });
  const again = judge(
    missed.map(({ goal }) => goal),
    tables,
  );
  say(guardText(again));
  return again.every(isGuarded);
}
