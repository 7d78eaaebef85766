import { readConfig } from '../../src/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { Log } from '../../src/log.ts';
import { startServer } from '../../src/server.ts';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { systemClock } from '../../src/systemClock.ts';

/** One error of a reply, as a client reads it. */
export interface ReplyError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A reply of the service. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads into it as deep as it likes
  readonly data: any;
  readonly errors: readonly ReplyError[];
}

/** The service and an operator for it, both on free ports of this machine. */
export interface Service {
  readonly url: string;
  readonly simulator: Simulator;
  /** What was logged, each line as one text. */
  readonly logged: readonly string[];
  /** Asks as a GraphQL client does. */
  ask(
    query: string,
    variables?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  /** Sends whatever it is told to. */
  send(path: string, request?: RequestInit): Promise<Reply>;
  stop(): Promise<void>;
}

/** Starts the real server in a role, in front of a simulator. */
export async function startService(environment: Environment): Promise<Service> {
  const simulator = await startSimulator({ port: 0 });
  const config = readConfig({
    PORT: '0',
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
    ...environment,
  });
  const logged: string[] = [];
  const server = await startServer({
    config,
    operators: config.operators,
    clock: systemClock,
    log: logInto(logged),
  });
  const send = async (path: string, request?: RequestInit): Promise<Reply> =>
    readReply(await fetch(server.url + path, request));
  return {
    url: server.url,
    simulator,
    logged,
    send,
    ask: (query, variables, headers) =>
      send('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      }),
    async stop() {
      await server.stop();
      await simulator.close();
    },
  };
}

/** What the operator has seen, as far as it costs anything. */
export function costs({ simulator }: Service): { tokens: number; lookups: number } {
  const { tokens, lookups, refusedLookups } = simulator.stats();
  return { tokens, lookups: lookups + refusedLookups };
}

/** The codes of a reply's errors, in their order. */
export function codesOf({ errors }: Reply): unknown[] {
  return errors.map((error) => error.extensions?.['code']);
}

/** A log that keeps its lines. */
export function logInto(lines: string[]): Log {
  const write =
    (level: string) =>
    (message: string, details: object = {}): void => {
      lines.push(`${level} ${message} ${JSON.stringify(details)}`);
    };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

async function readReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const body = text === '' ? {} : JSON.parse(text);
  const { status, headers } = response;
  return { status, headers, text, data: body.data, errors: body.errors ?? [] };
}
