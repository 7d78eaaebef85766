import type { Environment } from '../../src/config/environment.ts';
import { DEMO_CLIENT } from '../../simulator/simulator.ts';
import { startServiceWith, type Service, type ServiceParts } from './service.ts';
import { TemporaryFiles } from './temporary.ts';

/** How a simulator knows its client, as OPERATORS_FILE has it. */
export const DEMO_ENTRY = {
  id: DEMO_CLIENT.clientId,
  secret: { file: 'client-secret' },
};

/** An entry for every number, by client credentials at this address. */
export function entryAt(url: string, members: object = {}): object {
  const addresses = { authUrl: url, simSwapUrl: url };
  const who = { name: 'alpha', prefixes: ['default'], flow: '2-legged', client: DEMO_ENTRY };
  return { ...who, ...addresses, ...members };
}

/** A file of operators in a folder of its own, with the secret that {@link DEMO_ENTRY} points to. */
export class OperatorsFile {
  readonly path: string;

  /** @param others members of the file beside its operators */
  constructor(operators: readonly object[], others: object = {}) {
    const files = new TemporaryFiles();
    files.write('client-secret', `${DEMO_CLIENT.clientSecret}\n`);
    this.path = files.write('operators.jsonc', JSON.stringify({ ...others, operators }));
  }
}

export function startServiceOf(
  operators: readonly object[],
  environment: Environment = {},
  others: object = {},
  parts: ServiceParts = {},
): Promise<Service> {
  // It is read once, at the start.
  const file = new OperatorsFile(operators, others);
  return startServiceWith({ PORT: '0', OPERATORS_FILE: file.path, ...environment }, parts);
}
