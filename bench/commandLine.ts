import { parseArgs } from 'node:util';

/** What to run. */
export interface Order {
  readonly isQuick: boolean;
  /** All, where none is named. */
  readonly tables: readonly string[];
  readonly rounds?: number;
  readonly sustainedMinutes: number;
}

/** The arguments are not fit; says how they should be. */
export class UnfitArguments extends Error {}

/** Reads the command line; the tables are those that exist. */
export function readOrder(args: readonly string[], tables: readonly string[]): Order {
  const usage = `npm run bench -- [--quick] [--table NAME]… [--rounds N] [--sustained-minutes N]
  With neither --quick nor --table nor --rounds, what is measured goes to bench/results and docs/performance.md.
  --quick              the guard: what is held today, in under a minute; fails when it is not
  --table              only this table, as often as given: ${tables.join(', ')}
  --rounds             how many rounds of everything, in place of each table's own number
  --sustained-minutes  how long full rate is kept up (1)
`;
  const values = parse(args, usage);
  const named = values.table ?? [];
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  const sustainedMinutes = Number(values['sustained-minutes'] ?? 1);
  const isFit =
    named.every((name) => tables.includes(name)) &&
    (rounds === undefined || (Number.isInteger(rounds) && rounds > 0 && rounds <= 1000)) &&
    sustainedMinutes > 0 &&
    sustainedMinutes <= 24 * 60;
  if (!isFit) throw new UnfitArguments(usage);
  return {
    isQuick: values.quick ?? false,
    tables: named,
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
        table: { type: 'string', multiple: true },
        rounds: { type: 'string' },
        'sustained-minutes': { type: 'string' },
      },
    }).values;
  } catch {
    throw new UnfitArguments(usage);
  }
}
