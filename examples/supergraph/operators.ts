import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filledIn, PROFILE_SECRETS, type ProfileName } from '../../scripts/simulatedProfiles.ts';
import { launchSimulator } from '../../src/simulator/launch.ts';

/** An operator that is played by a simulator of its own, in its own dialect. */
export interface SimulatedOperator {
  readonly name: ProfileName;
  /** How its numbers begin. */
  readonly prefix: string;
  /** Where the simulator tells what it has seen. */
  readonly statsUrl: string;
}

/** Several operators, and the settings by which the SIM swap subgraph asks them. */
export interface SimulatedOperators extends AsyncDisposable {
  readonly list: readonly SimulatedOperator[];
  readonly settings: Readonly<Record<string, string>>;
}

/** Two flows, and three rules for tokens. */
const PREFIXES = {
  vodafone: '+44',
  claro: '+120',
  aggregator: '+129',
} as const satisfies Partial<Record<ProfileName, string>>;

/** Starts three operators that have little in common, as profiles/ has them. */
export async function startThreeOperators(): Promise<SimulatedOperators> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'operators-'));
  started.defer(() => rm(folder, { recursive: true }));
  const list: SimulatedOperator[] = [];
  const entries: object[] = [];
  for (const name of ['vodafone', 'claro', 'aggregator'] as const) {
    const simulator = await launchSimulator({ dialect: name });
    started.defer(() => simulator.stop());
    const prefix = PREFIXES[name];
    list.push({ name, prefix, statsUrl: `${simulator.authUrl}/stats` });
    entries.push({ ...filledIn(name, simulator), prefixes: [prefix] });
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
