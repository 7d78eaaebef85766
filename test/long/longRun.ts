import { availableParallelism, loadavg } from 'node:os';

/** What a run found, from best to worst: `INCONCLUSIVE` where the machine was too busy. */
export const VERDICTS = ['nothing wrong', 'INCONCLUSIVE', 'WRONG'] as const;

export type Verdict = (typeof VERDICTS)[number];

export function wrongIf(isWrong: boolean): Verdict {
  return isWrong ? 'WRONG' : 'nothing wrong';
}

/** One option of the command line. */
export interface Option<T> {
  readonly about: string;
  /** Its value from its text, or from its absence; throws where the text does not fit. */
  readonly read: (text: string | undefined) => T;
}

export type Options = Readonly<Record<string, Option<unknown>>>;

export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** A test whose length is an option; what is random in it follows from a seed. */
export interface LongRun<O extends Options = Options> {
  readonly about: string;
  readonly options: O;
  /** Its options in `npm run long -- short`; absent where it is not part of that. */
  readonly short?: readonly string[];
  readonly needsRedis?: boolean;
  /** Yields what each of its parts found: the worst counts. */
  run(values: Values<O>): AsyncIterable<Verdict>;
}

/** The run as it is, with the types of its options checked. */
export function longRun<O extends Options>(run: LongRun<O>): LongRun {
  return run;
}

export function count(about: string, standard: number): Option<number> {
  return numeric(about, standard, (n) => Number.isInteger(n) && n > 0);
}

export function duration(about: string, standard: number): Option<number> {
  return numeric(about, standard, (n) => n > 0 && n < Infinity);
}

/** The same seed makes the same run; the default is another one each time. */
export function seed(about: string): Option<number> {
  const standard = Date.now() % 1_000_000;
  return { ...numeric('', standard, Number.isInteger), about: `for ${about} (a new one)` };
}

export function numeric(
  about: string,
  standard: number,
  isFit: (value: number) => boolean,
): Option<number> {
  return {
    about: `${about} (${standard})`,
    read: (text) => fitting(text === undefined ? standard : Number(text), isFit),
  };
}

export function oneOf<C extends string>(
  about: string,
  choices: readonly C[],
): Option<C | undefined> {
  return {
    about: `${about}: ${choices.join(', ')}`,
    read: (text) => {
      const value = choices.find((choice) => choice === text);
      return fitting(value, () => value === text);
    },
  };
}

export function someOf<C extends string>(
  about: string,
  choices: readonly C[],
): Option<readonly C[]> {
  return {
    about: `${about}: ${choices.join(', ')} (all)`,
    read: (text) => {
      const words = text?.split(',') ?? choices;
      const chosen = choices.filter((choice) => words.includes(choice));
      return fitting(chosen, ({ length }) => length === words.length);
    },
  };
}

function fitting<T>(value: T, isFit: (value: T) => boolean): T {
  if (!isFit(value)) throw new RangeError('The option has another form.');
  return value;
}

export type Row = readonly [string, ...(string | number)[]];

export function tallied(kind: string, counted: Iterable<readonly [string, number]>): Row[] {
  return [...counted]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, times]) => [`${kind}: ${name}`, times]);
}

export function report(title: string, rows: Iterable<Row>): void {
  process.stdout.write(`${title}\n`);
  for (const [name, ...cells] of rows) {
    process.stdout.write(
      `  ${name.padEnd(56)} ${cells.map((cell) => String(cell).padStart(8)).join(' ')}\n`,
    );
  }
}

export async function stretch<F>(
  title: string,
  run: () => Promise<F>,
  rowsOf: (findings: F) => Iterable<Row>,
): Promise<F> {
  const startedAtMs = performance.now();
  const findings = await run();
  report(`${title} (${secondsSince(startedAtMs)})`, rowsOf(findings));
  return findings;
}

export function secondsSince(startedAtMs: number): string {
  return `${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`;
}

export function circumstances(): string {
  const load = loadavg()[0]?.toFixed(1);
  return `${availableParallelism()} cores, load average ${load} before it began, Node ${process.version}`;
}
