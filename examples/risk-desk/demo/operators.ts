import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launchSimulator } from '../../../simulator/launch.ts';
import { startThreeOperators, type SimulatedOperators } from '../../supergraph/operators.ts';

/**
 * Which operators the service calls: three, each played by a simulator in its own dialect; or one or two
 * that follow the standard, both played by one simulator.
 */
export type Operators = 'three' | 'both' | '2-legged' | '3-legged';

/** The numbers whose owners are prompted for consent: the simulator's for the 3-legged flow. */
export const CONSENT_PREFIXES = ['+44770090005', '+44770090006'];

/** Starts the operators, and writes the service's file of them into a directory. */
export function startOperators(
  operators: Operators,
  directory: string,
): Promise<SimulatedOperators> {
  switch (operators) {
    case 'three':
      return startThreeOperators({
        vodafone: CONSENT_PREFIXES,
        claro: ['default'],
        aggregator: ['+1'],
      });
    case 'both':
    case '2-legged':
    case '3-legged':
      return startStandardOperators(operators, directory);
  }
}

/** With `both`, the owners of some numbers are prompted, and those of all others are not. */
async function startStandardOperators(
  operators: Exclude<Operators, 'three'>,
  directory: string,
): Promise<SimulatedOperators> {
  const simulator = await launchSimulator();
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
  const statsUrl = `${simulator.authUrl}/stats`;
  return {
    list: [{ name: 'operator', prefixes: ['default'], statsUrl }],
    settings: { OPERATORS_FILE: file, [SECRET_VARIABLE]: simulator.clientSecret },
    [Symbol.asyncDispose]: () => simulator.stop(),
  };
}

const SECRET_VARIABLE = 'DEMO_CLIENT_SECRET';
