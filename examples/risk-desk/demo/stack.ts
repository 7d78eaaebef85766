import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishedSdl } from '../../../scripts/publishedSdl.ts';
import { portOrFree, startProgram } from '../../processes.ts';
import { compose, fetchSdl } from '../../supergraph/composition.ts';
import type { SimulatedOperator } from '../../supergraph/operators.ts';
import { startGateway, startSubgraphsWith } from '../../supergraph/stack.ts';
import { Desk } from '../server/desk.ts';
import { SESSION_LIMITS, type DeskSettings, type Purpose } from '../server/settings.ts';
import { startOperators, type Operators } from './operators.ts';
import { BATCH_SCOPE, CLIENT_ID, PEOPLE, READ_SCOPE } from './people.ts';

/** What may differ from the demo. */
export interface StackOptions {
  /** `both` where it is left out. */
  readonly operators?: Operators;
  /** Settings of the SIM swap service. */
  readonly service?: Readonly<Record<string, string>>;
  /** Settings of the desk. */
  readonly desk?: Partial<DeskSettings>;
  /** 0, which is the default, is any that is free. */
  readonly ports?: { readonly desk?: number; readonly identityProvider?: number };
  readonly accessTokenSeconds?: number;
}

/** Another program listens where a part of the stack should. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse';
  readonly port: number;

  constructor(port: number) {
    super(`Port ${port} is in use.`);
    this.port = port;
  }
}

/** @throws {PortInUse} where another program listens on one of these ports */
export async function refusePortsInUse(ports: StackOptions['ports'] = {}): Promise<void> {
  for (const port of Object.values(ports)) {
    if ((await portOrFree(port)) !== port) throw new PortInUse(port);
  }
}

/** Everything from the operator to the desk, running. */
export interface Stack extends AsyncDisposable {
  /** Where the desk is. */
  readonly url: string;
  readonly issuer: string;
  readonly gatewayUrl: string;
  /** The counts of the operator simulator, of the first one where there are several. */
  readonly statsUrl: string;
  readonly operators: readonly SimulatedOperator[];
  /** The file with the audit log. */
  readonly auditLog: string;
  readonly people: typeof PEOPLE;
  stop(): Promise<void>;
}

/** For whom access tokens are. */
const RESOURCE = 'https://sim-swap.example';

export const PURPOSES: readonly Purpose[] = [
  { id: 'fraud-prevention', label: 'Preventing fraud' },
  { id: 'account-recovery', label: 'Recovering an account' },
  { id: 'complaint', label: 'Answering a complaint' },
];

const PAGE = fileURLToPath(new URL('../dist', import.meta.url));

/**
 * Starts the operator simulators, the SIM swap service with its audit log, the accounts subgraph, the gateway,
 * an OpenID provider with two people, and the desk.
 *
 * @throws {PortInUse} before anything is started
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  await refusePortsInUse(options.ports);
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'risk-desk-'));
  started.defer(() => rm(directory, { recursive: true }));
  const auditLog = join(directory, 'audit.log');

  // The desk and the provider must know each other's address before either can answer.
  const server = createServer({ requestTimeout: 20_000, headersTimeout: 10_000 });
  server.listen(options.ports?.desk ?? 0, '127.0.0.1');
  await once(server, 'listening');
  started.defer(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientSecret = randomBytes(32).toString('base64url');
  const provider = await startProgram(
    new URL('identityProviderMain.ts', import.meta.url),
    {
      PORT: String(options.ports?.identityProvider ?? 0),
      DESK_ORIGIN: origin,
      RESOURCE,
      CLIENT_SECRET: clientSecret,
      ACCESS_TOKEN_SECONDS: String(options.accessTokenSeconds ?? 300),
    },
    // A package of oidc-provider's writes functions as strings.
    { allowsCodeFromStrings: true },
  );
  started.defer(() => provider.stop());
  const issuer = provider.url;

  // Gateway and service know callers by the same tokens.
  const callers = { JWT_JWKS_URL: `${issuer}/jwks`, JWT_ISSUER: issuer, JWT_AUDIENCE: RESOURCE };
  const routerSecret = randomBytes(32).toString('base64url');
  const operators = started.use(await startOperators(options.operators ?? 'both', directory));
  const subgraphs = started.use(
    await startSubgraphsWith(
      { accounts: 0, simSwap: 0 },
      {
        ...operators.settings,
        // The page shows that it waits for the owner of a number, rather than a request that hangs.
        CONSENT_WAIT_MS: '300',
        ...callers,
        BATCH_SCOPE,
        PURPOSES: PURPOSES.map(({ id }) => id).join(','),
        ROUTER_SECRET: routerSecret,
        AUDIT_LOG: auditLog,
        AUDIT_KEY: randomBytes(32).toString('base64url'),
        QUOTA_CLIENTS: JSON.stringify({
          [CLIENT_ID]: { numbersPerHour: 25_000, lookupsPerHour: 100_000 },
        }),
        ...options.service,
      },
    ),
  );
  const { accounts, simSwap } = subgraphs;
  // The service gives its schema only to its router; it is in the repository.
  const supergraph = compose([
    await fetchSdl(accounts),
    { ...simSwap, sdl: publishedSdl('subgraph') },
  ]);
  const gateway = started.use(await startGateway(supergraph, { routerSecret, callers }));

  const desk = await Desk.open({
    origin,
    issuer,
    clientId: CLIENT_ID,
    clientSecret,
    resource: RESOURCE,
    scopes: [READ_SCOPE, BATCH_SCOPE],
    batchScope: BATCH_SCOPE,
    gatewayUrl: gateway.url,
    purposes: PURPOSES,
    lookupPrice: { amount: 0.02, currency: 'EUR' },
    pageDirectory: PAGE,
    sessions: SESSION_LIMITS,
    singleQuestionsPerHour: 600,
    monotonicMs: () => performance.now(),
    ...options.desk,
  });
  started.defer(() => desk.close());
  server.on('request', (request, response) => void desk.handle(request, response));

  const running = started.move();
  const stop = () => running.disposeAsync();
  return {
    url: origin,
    issuer,
    gatewayUrl: gateway.url,
    statsUrl: operators.list[0]?.statsUrl ?? '',
    operators: operators.list,
    auditLog,
    people: PEOPLE,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
