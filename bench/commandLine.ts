import { parseArgs } from 'node:util';

/** What to do. */
export type Order = Report | Run;

/** Writes what is in the results file to where people read it, and measures nothing. */
export interface Report {
  readonly kind: 'report';
}

export interface Run {
  readonly kind: 'run';
  readonly isQuick: boolean;
  /** All, where none is named. */
  readonly tables: readonly string[];
  /** Only what the goals need whose text holds one of these, in lower case; all, where there is none. */
  readonly only: readonly string[];
  readonly rounds?: number;
  readonly sustainedMinutes: number;
}

/** The arguments are not fit; the message says how they should be. */
export class UnfitArguments extends Error {}

/** Reads the command line; the tables are those that exist, and so are the goals, by what they say. */
export function readOrder(
  args: readonly string[],
  tables: readonly string[],
  goals: readonly string[],
): Order {
  const usage = `npm run bench -- [--quick] [--table NAME]… [--only TEXT]… [--rounds N] [--sustained-minutes N]
npm run bench -- --report
  Whole tables, with their own number of rounds, go to bench/results; its README.md has the goals.
  --quick              the guard: what is held today, in two minutes; fails when it is not
  --table              only this table, as often as given: ${tables.join(', ')}
  --only               only the rows behind the goals that say this, as often as given
  --rounds             how many rounds of everything, in place of each table's own number
  --sustained-minutes  how long full rate is kept up (1)
  --report             prints all tables of bench/results, and writes its README.md and the charts again
`;
  const values = parse(args, usage);
  const isReport = values.report ?? false;
  if (isReport && args.length > 1) throw new UnfitArguments(usage);
  if (isReport) return { kind: 'report' };
  const named = values.table ?? [];
  const only = (values.only ?? []).map((text) => text.toLowerCase());
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  const sustainedMinutes = Number(values['sustained-minutes'] ?? 1);
  const isFit =
    named.every((name) => tables.includes(name)) &&
    (rounds === undefined || (Number.isInteger(rounds) && rounds > 0 && rounds <= 1000)) &&
    sustainedMinutes > 0 &&
    sustainedMinutes <= 24 * 60;
  if (!isFit) throw new UnfitArguments(usage);
  for (const text of only) {
    if (goals.some((says) => says.toLowerCase().includes(text))) continue;
    throw new UnfitArguments(`No goal says '${text}'. The goals:\n${goals.join('\n')}\n`);
  }
  return {
    kind: 'run',
    isQuick: values.quick ?? false,
    tables: named,
    only,
    ...(rounds === undefined ? {} : { rounds }),
    sustainedMinutes,
  };
}

function parse(args: readonly string[], usage: string) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean' },
        report: { type: 'boolean' },
        table: { type: 'string', multiple: true },
        only: { type: 'string', multiple: true },
        rounds: { type: 'string' },
        'sustained-minutes': { type: 'string' },
      },
    }).values;
  } catch {
    throw new UnfitArguments(usage);
  }
}
