import { beforeAll } from 'vitest';
import { Program } from './program.ts';

/** How a program ended that was to end at once, with a message. */
export interface Refusal {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One run of a program: its arguments, and its settings in addition to those of the runs before it. */
export interface RefusedRun {
  readonly words: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Before the tests runs a program once for each of these, all in one process (refusedRuns.ts): most of what a run costs
 * is to load what the program imports. Returns what ended the run with this index.
 */
export function refusalsOf(
  program: string,
  runs: () => Promise<readonly RefusedRun[]> | readonly RefusedRun[],
): (index: number) => Refusal | undefined {
  let refusals: readonly Refusal[] = [];
  beforeAll(async () => {
    const argument = JSON.stringify(await runs());
    const { code, out, err } = await Program.runNode([
      'test/support/refusedRuns.ts',
      program,
      argument,
    ]);
    if (code !== 0) throw new Error(`A run of ${program} did not end: ${err}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as refusedRuns.ts writes it
    refusals = JSON.parse(out) as readonly Refusal[];
  });
  return (index) => refusals[index];
}
