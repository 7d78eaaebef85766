import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../src/config/environment.ts';
import { DEMO_CLIENT } from '../simulator/simulator.ts';
import { startServiceWith, type Service, type ServiceParts } from './service.ts';

/** How a simulator knows its client, as OPERATORS_FILE has it. */
export const DEMO_ENTRY = {
  id: DEMO_CLIENT.clientId,
  secret: { file: 'client-secret' },
};

/** An entry of every number, asked by client credentials at this address. */
export function entryAt(url: string, members: object = {}): object {
  const addresses = { authUrl: url, simSwapUrl: url };
  const who = { name: 'alpha', prefixes: ['default'], flow: '2-legged', client: DEMO_ENTRY };
  return { ...who, ...addresses, ...members };
}

/** A file of operators in a folder of its own, with the secret that {@link DEMO_ENTRY} points to. */
export class OperatorsFile implements Disposable {
  readonly path: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'operators-'));

  /** @param others members of the file beside its operators */
  constructor(operators: readonly object[], others: object = {}) {
    writeFileSync(join(this.#folder, 'client-secret'), `${DEMO_CLIENT.clientSecret}\n`);
    this.path = join(this.#folder, 'operators.jsonc');
    writeFileSync(this.path, JSON.stringify({ ...others, operators }));
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

export function startServiceOf(
  operators: readonly object[],
  environment: Environment = {},
  others: object = {},
  parts: ServiceParts = {},
): Promise<Service> {
  // It is read once, at the start.
  using file = new OperatorsFile(operators, others);
  return startServiceWith({ PORT: '0', OPERATORS_FILE: file.path, ...environment }, parts);
}
