import type { Clock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { Log } from '../../src/log.ts';
import { startServer, type RunningServer } from '../../src/server.ts';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { systemClock } from '../../src/systemClock.ts';
import { silentLog } from '../silentLog.ts';

/** A reply of the service. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>> | null | undefined;
  /** The codes of its errors, in their order. */
  readonly codes: readonly string[];
}

/** The service, in front of a simulated operator. */
export interface TestService {
  readonly url: string;
  readonly simulator: Simulator;
  ask(
    query: string,
    headers?: Readonly<Record<string, string>>,
    variables?: object,
  ): Promise<Reply>;
  stop(): Promise<void>;
}

/** Starts a service with these settings, on free ports. */
export async function startService(
  settings: Environment,
  { log = silentLog, clock = systemClock }: { log?: Log; clock?: Clock } = {},
): Promise<TestService> {
  const simulator = await startSimulator({ port: 0 });
  const config = readConfig({
    PORT: '0',
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
    ...settings,
  });
  const server: RunningServer = await startServer({
    config,
    operators: config.operators,
    clock,
    log,
  });
  return {
    url: server.url,
    simulator,
    ask: (query, headers, variables) => post(server.url, { query, variables }, headers),
    async stop() {
      await server.stop();
      await simulator.close();
    },
  };
}

interface Body {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

async function post(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { data, errors = [] } = JSON.parse(text) as Body;
  const codes = errors.map(({ extensions }) => extensions?.code ?? 'no code');
  return { status: response.status, headers: response.headers, text, data, codes };
}
