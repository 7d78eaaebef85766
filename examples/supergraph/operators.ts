import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filledIn, PROFILE_SECRETS, type ProfileName } from '../../scripts/simulatedProfiles.ts';
import { launchSimulator } from '../../simulator/launch.ts';

/** An operator that is played by a simulator of its own, in its own dialect. */
export interface SimulatedOperator {
  readonly name: string;
  /** How its numbers begin. */
  readonly prefixes: readonly string[];
  /** The counts of the simulator. */
  readonly statsUrl: string;
}

/** Several operators, and the settings by which the SIM swap subgraph calls them. */
export interface SimulatedOperators extends AsyncDisposable {
  readonly list: readonly SimulatedOperator[];
  readonly settings: Readonly<Record<string, string>>;
}

/** Two flows, and three rules for tokens. */
const THREE = ['vodafone', 'claro', 'aggregator'] as const satisfies readonly ProfileName[];

/** Which numbers belong to each of them. */
export type ThreePrefixes = Readonly<Record<(typeof THREE)[number], readonly string[]>>;

/** Starts three operators that have little in common, as profiles/ has them. */
export async function startThreeOperators(prefixes: ThreePrefixes): Promise<SimulatedOperators> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'operators-'));
  started.defer(() => rm(folder, { recursive: true }));
  const list: SimulatedOperator[] = [];
  const entries: object[] = [];
  for (const name of THREE) {
    const simulator = await launchSimulator({ dialect: name });
    started.defer(() => simulator.stop());
    list.push({ name, prefixes: prefixes[name], statsUrl: `${simulator.authUrl}/stats` });
    entries.push({ ...filledIn(name, simulator), prefixes: prefixes[name] });
  }
  const file = join(folder, 'operators.json');
  await writeFile(file, JSON.stringify({ operators: entries }, undefined, 2));
  const running = started.move();
  return {
    list,
    settings: { OPERATORS_FILE: file, PROFILE_SECRET: PROFILE_SECRETS.PROFILE_SECRET },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
