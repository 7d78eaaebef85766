import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestIssuer } from '../test/caller/testIssuer.ts';
import { listen } from '../test/support/listening.ts';
import { command } from '../test/support/redisCommands.ts';
import { freshStateKey, startRedis, type RedisServer } from '../test/support/redisServer.ts';
import { createCertificate } from '../test/tls/certificate.ts';
import { temporaryFolder } from '../test/support/temporary.ts';
import type {
  OtherServer,
  OurServer,
  Place,
  Production,
  RawContestant,
  Third,
} from './contestants/contestant.ts';
import { CLIENT } from './contestants/schema.ts';
import type { LoadOrder, LoadResult } from './load/order.ts';
import { DEFAULT_BEHAVIOUR, type OperatorBehaviour } from './operator/behaviour.ts';
import type { OperatorCounts } from './operator/traffic.ts';
import type { ServerAddresses, WireName } from './operator/wires.ts';
import type { OperatorAddress } from './processes/competing.ts';
import { Program, type ProgramSettings } from './processes/conversation.ts';

/** A contestant that runs: its process, and which of the operator's servers it asks. */
export interface Running {
  readonly program: Program;
  readonly wire: WireName;
}

/** One that serves: where, and how to be its client. */
export interface RunningServer extends Running {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What holds while something is measured. */
export interface Conditions extends OperatorBehaviour {
  /** From a contestant that is far away to the operator, or back. */
  readonly oneWayMs: number;
}

const CA_FILE = 'ca.pem';
const NEVER_OVER = '999999999';
/** They may ask about anyone, for the whole time of a run. */
const RISK_TEAM = {
  sub: 'risk-team',
  client_id: 'dashboard',
  scope: 'sim-swap:read',
  exp: Math.floor(Date.now() / 1000) + 3600,
};

const NOBODY_LISTENS = 'http://127.0.0.1:1';

/** The settings of one operator. */
function one({ authUrl, simSwapUrl }: OperatorAddress): Readonly<Record<string, string>> {
  return {
    OPERATOR_AUTH_URL: authUrl,
    OPERATOR_SIM_SWAP_URL: simSwapUrl,
    OPERATOR_CLIENT_ID: CLIENT.id,
    OPERATOR_CLIENT_SECRET: CLIENT.secret,
  };
}

/** The processes that every run has. */
interface Crew {
  readonly operator: Program;
  readonly network: Program;
  readonly load: Program;
}

/** The processes of a run: the operator, the network, the clients, and the contestants. Ends them all. */
export class Stage implements AsyncDisposable {
  readonly #crew: Crew;
  readonly #servers: Readonly<Record<Place['distance'], ServerAddresses>>;
  readonly #issuer: TestIssuer;
  /** Takes traces and says so; it stands beside the clients, and not among what is measured. */
  readonly #collector: Server;
  /** An operator that takes requests, and replies to none. */
  readonly #hanging: Server;
  /** For the certificate that contestants are to trust, and the audit logs. */
  readonly #directory: string;
  readonly #contestants: Program[] = [];
  /** Started for the first contestant that needs it. */
  #redis: Promise<RedisServer> | undefined;
  readonly #starting = new Set<Promise<Program>>();

  private constructor(
    crew: Crew,
    servers: Readonly<Record<Place['distance'], ServerAddresses>>,
    issuer: TestIssuer,
    { collector, hanging }: Readonly<Record<'collector' | 'hanging', Server>>,
    directory: string,
  ) {
    this.#crew = crew;
    this.#servers = servers;
    this.#issuer = issuer;
    this.#collector = collector;
    this.#hanging = hanging;
    this.#directory = directory;
  }

  static async open(): Promise<Stage> {
    const [operator, network, load, issuer] = await Promise.all([
      Program.start(new URL('operator/operator.ts', import.meta.url)),
      Program.start(new URL('network/network.ts', import.meta.url)),
      Program.start(new URL('load/load.ts', import.meta.url)),
      TestIssuer.start(),
    ]);
    const collector = createServer((request, response) => {
      request.resume();
      response.end();
    });
    await listen(collector);
    const hanging = createServer((request) => void request.resume());
    await listen(hanging);
    const certificate = createCertificate();
    const near = await operator.ask<ServerAddresses>('open', certificate);
    const far = await network.ask<ServerAddresses>('open', near);
    const directory = temporaryFolder();
    writeFileSync(join(directory, CA_FILE), certificate.cert);
    return new Stage(
      { operator, network, load },
      { near, far },
      issuer,
      { collector, hanging },
      directory,
    );
  }

  /** Says what holds from now on. */
  async behave({ oneWayMs = 0, ...behaviour }: Partial<Conditions> = {}): Promise<void> {
    await this.#crew.operator.ask('behave', { ...DEFAULT_BEHAVIOUR, ...behaviour });
    await this.#crew.network.ask('setDistance', oneWayMs);
  }

  /** What reached one of the operator's servers since this was last asked. */
  counts(wire: WireName): Promise<OperatorCounts> {
    return this.#crew.operator.ask('counts', wire);
  }

  send(order: LoadOrder): Promise<LoadResult> {
    return this.#crew.load.ask('run', order);
  }

  /** While `work` is done, other clients ask as well. */
  async beside<T>(order: Omit<LoadOrder, 'requests'>, work: () => Promise<T>): Promise<T> {
    await this.#crew.load.ask('besides', order);
    try {
      return await work();
    } finally {
      await this.#crew.load.ask('stop');
    }
  }

  /** A contestant that makes its own work, of a file below `contestants/`. */
  async program(file: string, place: Place, ...more: readonly string[]): Promise<Running> {
    const { authUrl, simSwapUrl } = this.#address(place);
    const program = await this.#start(file, {
      arguments: [authUrl, simSwapUrl, ...more],
      allowsCodeFromStrings: file === 'mercurius.ts',
    });
    return { program, wire: place.wire };
  }

  async raw(contestant: RawContestant): Promise<Running> {
    return this.program('raw.ts', contestant, contestant.connections);
  }

  async server(contestant: OtherServer | OurServer): Promise<RunningServer> {
    const { program, headers } =
      contestant.kind === 'ours' ? await this.#ours(contestant) : await this.#other(contestant);
    return { program, wire: contestant.wire, url: await program.ask('url'), headers };
  }

  async #other(contestant: OtherServer): Promise<Pick<RunningServer, 'program' | 'headers'>> {
    const { program } = await this.program(`${contestant.program}.ts`, contestant);
    return { program, headers: {} };
  }

  async #ours(contestant: OurServer): Promise<Pick<RunningServer, 'program' | 'headers'>> {
    const address = this.#address(contestant);
    const settings = {
      PORT: '0',
      MAX_NUMBERS_PER_OPERATION: '1000',
      ...(contestant.third === undefined
        ? one(address)
        : this.#three(contestant.third, address.authUrl)),
      ...(await this.#production(contestant.production)),
      ...(contestant.isTraced ? this.#traces() : {}),
      ...contestant.settings,
    };
    const environment = { BENCH_SETTINGS: JSON.stringify(settings) };
    const program = await this.#start('ours.ts', { environment });
    if (contestant.production === undefined) return { program, headers: {} };
    const token = await this.#issuer.token(RISK_TEAM);
    return { program, headers: { authorization: `Bearer ${token}` } };
  }

  async #production(far: Production | undefined): Promise<Readonly<Record<string, string>>> {
    const tokens = {
      ...this.#issuer.settings,
      QUOTA_NUMBERS_PER_HOUR: NEVER_OVER,
      QUOTA_LOOKUPS_PER_HOUR: NEVER_OVER,
    };
    const audit = {
      ...tokens,
      NODE_ENV: 'production',
      AUDIT_LOG: join(this.#directory, 'audit.jsonl'),
      AUDIT_KEY: crypto.randomUUID() + crypto.randomUUID(),
    };
    switch (far) {
      case undefined:
        return {};
      case 'tokens':
        return tokens;
      case 'audit':
        return audit;
      case 'whole':
        this.#redis ??= startRedis();
        return { ...audit, REDIS_URL: (await this.#redis).url, STATE_KEY: freshStateKey() };
    }
  }

  /** Of its one Redis so far: scripts, and the time of its core that they took. */
  async redisUse(): Promise<{ readonly scripts: number; readonly micros: number }> {
    if (this.#redis === undefined) return { scripts: 0, micros: 0 };
    const info = String(await command((await this.#redis).port, ['INFO', 'commandstats']));
    const sum = (figure: string): number => {
      const found = info.matchAll(new RegExp(`^cmdstat_eval(?:sha)?:.*\\b${figure}=(\\d+)`, 'gm'));
      return Array.from(found, ([, count]) => Number(count)).reduce(
        (total, count) => total + count,
        0,
      );
    };
    return { scripts: sum('calls'), micros: sum('usec') };
  }

  #traces(): Readonly<Record<string, string>> {
    const { port } = this.#collector.address() as AddressInfo;
    return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  }

  /** Three operators, of which the third is at an address of its own. */
  #three(third: Third, well: string): Readonly<Record<string, string>> {
    const file = join(this.#directory, `three-${third}.json`);
    const { port } = this.#hanging.address() as AddressInfo;
    const sick = { well, dead: NOBODY_LISTENS, hangs: `http://127.0.0.1:${port}` }[third];
    const operators = [well, well, sick].map((url, index) => ({
      name: `operator-${index}`,
      prefixes: [`+447700900${index}`],
      flow: '2-legged',
      authUrl: url,
      simSwapUrl: `${url}/sim-swap/v1`,
      client: { id: CLIENT.id, secret: { variable: 'BENCH_CLIENT_SECRET' } },
      limits: { timeoutMs: 1000 },
    }));
    writeFileSync(file, JSON.stringify({ operators }));
    return { OPERATORS_FILE: file, BENCH_CLIENT_SECRET: CLIENT.secret };
  }

  #address({ wire, distance }: Place): OperatorAddress {
    const { protocol, port } = this.#servers[distance][wire];
    const url = `${protocol}://127.0.0.1:${port}`;
    return { authUrl: url, simSwapUrl: `${url}/sim-swap/v1` };
  }

  async #start(file: string, settings: ProgramSettings): Promise<Program> {
    const program = Program.start(new URL(`contestants/${file}`, import.meta.url), {
      ...settings,
      environment: {
        ...settings.environment,
        NODE_EXTRA_CA_CERTS: join(this.#directory, CA_FILE),
      },
    });
    this.#starting.add(program);
    try {
      this.#contestants.push(await program);
      return await program;
    } finally {
      this.#starting.delete(program);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A program that is starting needs the others until it has.
    await Promise.allSettled(this.#starting);
    const { operator, network, load } = this.#crew;
    const programs = [...this.#contestants, operator, network, load];
    await Promise.all(programs.map((program) => program.stop()));
    await this.#issuer.close();
    await (await this.#redis)?.kill();
    for (const server of [this.#collector, this.#hanging]) {
      server.closeAllConnections();
      server.close();
    }
  }
}
