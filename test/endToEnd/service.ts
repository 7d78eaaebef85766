import { readConfig } from '../../src/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { Log } from '../../src/log.ts';
import { startServer } from '../../src/server.ts';
import {
  DEMO_CLIENT,
  startSimulator,
  type Simulator,
  type SimulatorSettings,
} from '../../src/simulator/simulator.ts';
import { systemClock } from '../../src/systemClock.ts';

/** An answer as a client sees it. */
export interface GraphqlReply {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number };
  }[];
}

/** What may accompany a question. */
export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The service, listening on a free port. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  /** What it wrote to its log, as text. */
  readonly logged: readonly string[];
  ask(query: string, variables?: object, options?: AskOptions): Promise<GraphqlReply>;
}

/** The service, and the simulator that it asks. */
export interface SimulatedService extends Service {
  readonly simulator: Simulator;
  stats(): ReturnType<Simulator['stats']>;
}

/** Starts the service in front of an operator that somebody else has started. */
export async function startService(
  operatorUrl: string,
  environment: Environment,
): Promise<Service> {
  const config = readConfig({
    PORT: '0',
    OPERATOR_AUTH_URL: operatorUrl,
    OPERATOR_SIM_SWAP_URL: operatorUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
    ...environment,
  });
  const logged: string[] = [];
  const log = recordingLog(logged);
  const server = await startServer({
    config,
    operators: config.operators,
    clock: systemClock,
    log,
  });
  return {
    url: server.url,
    logged,
    async ask(query, variables = {}, { headers = {}, signal = null } = {}) {
      const reply = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
        signal,
      });
      return (await reply.json()) as GraphqlReply;
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Starts the service in front of a simulator of its own. */
export async function startSimulated(
  environment: Environment = {},
  settings: Partial<SimulatorSettings> = {},
): Promise<SimulatedService> {
  const simulator = await startSimulator({ port: 0, ...settings });
  const service = await startService(simulator.authUrl, {
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    ...environment,
  });
  return {
    ...service,
    simulator,
    stats: () => simulator.stats(),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await simulator.close();
    },
  };
}

function recordingLog(lines: string[]): Log {
  const write = (message: string, details: object = {}): void => {
    lines.push(`${message} ${JSON.stringify(details)}`);
  };
  return { info: write, warn: write, error: write };
}
