import { beforeAll } from 'vitest';
import { Program } from './program.ts';

/** How a program ended. */
export interface Ending {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One run of a program: its arguments, and its settings in addition to those of the runs before it. */
export interface RunOf {
  /** Another than that of the others. */
  readonly program?: string;
  readonly words: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Before the tests runs a program to its end once for each of these, all in one process (runsInOneProcess.ts): most of
 * what a run costs is to load what the program imports. Returns how the run with this index ended.
 */
export function runsOf(
  program: string,
  runs: () => Promise<readonly RunOf[]> | readonly RunOf[],
): (index: number) => Ending | undefined {
  let endings: readonly Ending[] = [];
  beforeAll(async () => {
    const argument = JSON.stringify(await runs());
    const { code, out, err } = await Program.runNode([
      '--disallow-code-generation-from-strings',
      'test/support/runsInOneProcess.ts',
      program,
      argument,
    ]);
    if (code !== 0) throw new Error(`A run of ${program} did not end: ${err}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as runsInOneProcess.ts writes it
    endings = JSON.parse(out) as readonly Ending[];
  });
  return (index) => endings[index];
}
