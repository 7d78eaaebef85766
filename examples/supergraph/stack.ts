import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchSimulator, type LaunchedSimulator } from '../../simulator/launch.ts';
import type { Subgraph } from './composition.ts';
import { startProgram } from '../processes.ts';

/** Something that was started. */
interface Started extends AsyncDisposable {
  readonly url: string;
}

/** The two subgraphs. */
interface BareSubgraphs extends AsyncDisposable {
  readonly accounts: Subgraph;
  readonly simSwap: Subgraph;
}

/** The two subgraphs, and the operator that one of them calls. */
export interface Subgraphs extends BareSubgraphs {
  /** The counts of the operator simulator. */
  readonly statsUrl: string;
}

/** Where both subgraphs listen; 0 is any port that is free. */
interface Ports {
  readonly accounts: number;
  readonly simSwap: number;
}

type Settings = Readonly<Record<string, string>>;

/** The settings that lead the SIM swap subgraph to an operator. */
function askingSimulator(simulator: LaunchedSimulator): Settings {
  return {
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: simulator.clientId,
    OPERATOR_CLIENT_SECRET: simulator.clientSecret,
  };
}

/** Starts both subgraphs, and the operator. */
export async function startSubgraphs(ports: Ports): Promise<Subgraphs> {
  await using started = new AsyncDisposableStack();
  const simulator = await launchSimulator();
  started.defer(() => simulator.stop());
  const subgraphs = started.use(await startSubgraphsWith(ports, askingSimulator(simulator)));
  const running = started.move();
  return {
    accounts: subgraphs.accounts,
    simSwap: subgraphs.simSwap,
    statsUrl: `${simulator.authUrl}/stats`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * Starts both subgraphs, in front of operators that run.
 *
 * @param settings of the SIM swap subgraph
 */
export async function startSubgraphsWith(ports: Ports, settings: Settings): Promise<BareSubgraphs> {
  await using started = new AsyncDisposableStack();
  const simSwap = await startProgram(new URL('../../src/main.ts', import.meta.url), {
    ...process.env,
    ROLE: 'subgraph',
    PORT: String(ports.simSwap),
    ...settings,
  });
  started.defer(() => simSwap.stop());
  const accounts = await startProgram(new URL('accounts/main.ts', import.meta.url), {
    PORT: String(ports.accounts),
  });
  started.defer(() => accounts.stop());
  const running = started.move();
  return {
    accounts: { name: 'accounts', url: accounts.url },
    simSwap: { name: 'sim-swap', url: `${simSwap.url}/graphql` },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** How to start a gateway. */
interface GatewayOptions {
  /** 0 is any that is free. */
  readonly port?: number;
  /** Serves the supergraph in the file that SUPERGRAPH names. */
  readonly program?: URL;
  /** By which the SIM swap subgraph knows the gateway, where it requires a proof. */
  readonly routerSecret?: string | undefined;
  /** Whose tokens it requires, by the names of the service's settings. Without them every caller is accepted. */
  readonly callers?: Settings;
}

const HIVE_GATEWAY = new URL('gateway/main.ts', import.meta.url);

/** Starts a gateway that serves a supergraph. */
export async function startGateway(
  supergraph: string,
  {
    port = 0,
    program = HIVE_GATEWAY,
    routerSecret = process.env['ROUTER_SECRET'],
    callers = {},
  }: GatewayOptions = {},
): Promise<Started> {
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'supergraph-'));
  started.defer(() => rm(directory, { recursive: true }));
  const file = join(directory, 'supergraph.graphql');
  await writeFile(file, supergraph);
  const gateway = await startProgram(program, {
    SUPERGRAPH: file,
    PORT: String(port),
    ROUTER_SECRET: routerSecret,
    ...callers,
  });
  started.defer(() => gateway.stop());
  const url = new URL('/graphql', gateway.url).href;
  await firstAnswer(url);
  const running = started.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** The gateway reads the supergraph at its first query, which should not be a user's. */
async function firstAnswer(url: string): Promise<void> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ __typename }' }),
  });
  // It is refused by a gateway that wants a token, which has read the supergraph by then all the same.
  if (!reply.ok && reply.status !== 401)
    throw new Error(`The gateway answers with status ${reply.status}.`);
}
