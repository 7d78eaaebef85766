import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaunchedSimulator } from '../../../src/simulator/launch.ts';

/** Which operators the service asks. Both are played by one simulator. */
export type Operators = 'both' | '2-legged' | '3-legged';

/** The numbers whose owners the operator asks for their consent; the simulator's for the 3-legged flow. */
export const CONSENT_PREFIXES = ['+44770090005', '+44770090006'];

/**
 * Writes the service's file of operators, and returns the settings that name it. With `both`, the owners
 * of some numbers are asked on their phones, and those of all others are not.
 */
export async function operatorSettings(
  operators: Operators,
  simulator: LaunchedSimulator,
  directory: string,
): Promise<Readonly<Record<string, string>>> {
  const operator = (name: string, flow: string, prefixes: readonly string[]): object => ({
    name,
    prefixes,
    flow,
    authUrl: simulator.authUrl,
    simSwapUrl: simulator.simSwapUrl,
    client: { method: 'basic', id: simulator.clientId, secret: { variable: SECRET_VARIABLE } },
  });
  const list = {
    both: [
      operator('without-consent', '2-legged', ['default']),
      operator('by-consent', '3-legged', CONSENT_PREFIXES),
    ],
    '2-legged': [operator('without-consent', '2-legged', ['default'])],
    '3-legged': [operator('by-consent', '3-legged', ['default'])],
  };
  const file = join(directory, 'operators.json');
  await writeFile(file, JSON.stringify({ operators: list[operators] }, undefined, 2));
  return { OPERATORS_FILE: file, [SECRET_VARIABLE]: simulator.clientSecret };
}

const SECRET_VARIABLE = 'DEMO_CLIENT_SECRET';
