import { type Clock, systemClock } from '../../src/system/clock.ts';
import { readConfig } from '../../src/config/config.ts';
import type { ExplorerOpening } from '../../src/graphql/explorer.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { Log } from '../../src/log/log.ts';
import { startServer } from '../../src/app/server.ts';
import {
  DEMO_CLIENT,
  startSimulator,
  type Simulator,
  type SimulatorSettings,
} from '../../simulator/simulator.ts';
import { withEntry } from './operatorEntry.ts';
import { WiredOperator, type OperatorScript } from './wiredOperator.ts';

export interface ReplyError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>> & {
    readonly code?: string;
    readonly retryAfterSeconds?: number;
  };
}

export interface GraphqlReply {
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads into it as deep as it likes
  readonly data?: any;
  readonly errors?: readonly ReplyError[];
}

export interface Reply extends Required<GraphqlReply> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** All of it but the correlators of its errors, as JSON. */
  readonly body: GraphqlReply;
  /** The codes of its errors, in their order. */
  readonly codes: readonly string[];
}

export interface Service extends AsyncDisposable {
  readonly url: string;
  /** What was logged, each line as one text that begins with its level. */
  readonly logged: readonly string[];
  ask(
    query: string,
    variables?: object,
    headers?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Reply>;
  send(path: string, request?: RequestInit): Promise<Reply>;
  stop(): Promise<void>;
}

export interface SimulatedService extends Service {
  readonly simulator: Simulator;
  stats(): ReturnType<Simulator['stats']>;
}

/** What a test may replace. */
export interface ServiceParts {
  readonly clock?: Clock;
  readonly explorerOpening?: ExplorerOpening;
}

/** For tests about anything but time: on a machine that does other things no answer is late. */
export const PATIENT: Environment = { REQUEST_TIMEOUT_MS: '60000', OPERATOR_TIMEOUT_MS: '30000' };

/** The settings of a service on a free port that calls an operator at this address. */
export function settingsFor(operatorUrl: string): Environment {
  return {
    PORT: '0',
    OPERATOR_AUTH_URL: operatorUrl,
    OPERATOR_SIM_SWAP_URL: operatorUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
  };
}

export function startService(
  operatorUrl: string,
  environment: Environment = {},
  parts: ServiceParts = {},
): Promise<Service> {
  return startServiceWith({ ...settingsFor(operatorUrl), ...environment }, parts);
}

export async function startServiceWith(
  environment: Environment,
  parts: ServiceParts = {},
): Promise<Service> {
  const config = readConfig(withEntry(environment));
  const logged: string[] = [];
  const server = await startServer({
    config,
    operators: config.operators,
    clock: systemClock,
    log: logInto(logged),
    ...parts,
  });
  return {
    url: server.url,
    logged,
    send: async (path, request) => readReply(await fetch(server.url + path, request)),
    ask: (...asked) => askAt(server.url, ...asked),
    stop: () => server.stop(),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export async function askAt(
  url: string,
  query: string,
  variables?: object,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Reply> {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
    signal: signal ?? null,
  };
  return readReply(await fetch(`${url}/graphql`, request));
}

export async function startSimulated(
  environment: Environment = {},
  settings: Partial<SimulatorSettings> = {},
  parts: ServiceParts = {},
): Promise<SimulatedService> {
  const simulator = await startSimulator({ port: 0, ...settings });
  const ofSimulator = { OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl, ...environment };
  const service = await startService(simulator.authUrl, ofSimulator, parts);
  const stop = async (): Promise<void> => {
    await service.stop();
    await simulator.close();
  };
  return {
    ...service,
    simulator,
    stats: () => simulator.stats(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export interface WiredService extends Service {
  readonly operator: WiredOperator;
}

export async function startWired(
  script: OperatorScript = {},
  environment: Environment = {},
): Promise<WiredService> {
  const operator = await WiredOperator.start(script);
  const service = await startService(operator.url, environment);
  const stop = async (): Promise<void> => {
    await service.stop();
    await operator[Symbol.asyncDispose]();
  };
  return { ...service, operator, stop, [Symbol.asyncDispose]: stop };
}

/** The requests to the operator that cost something. */
export function costs({ simulator }: SimulatedService): { tokens: number; lookups: number } {
  const { tokens, lookups, refusedLookups } = simulator.stats();
  return { tokens, lookups: lookups + refusedLookups };
}

export function logInto(lines: string[]): Log {
  const write =
    (level: string) =>
    (message: string, details: object = {}): void => {
      lines.push(`${level} ${message} ${JSON.stringify(details)}`);
    };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

/** A reviver. Correlators differ from request to request; those of a reply are in its text. */
export function withoutCorrelators(key: string, value: unknown): unknown {
  return key === 'correlator' ? undefined : value;
}

async function readReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const body = text === '' ? {} : (JSON.parse(text, withoutCorrelators) as GraphqlReply);
  const { status, headers } = response;
  const { data, errors = [] } = body;
  const codes = errors.map(({ extensions }) => extensions?.code ?? 'no code');
  return { status, headers, text, body, data, errors, codes };
}
