import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestIssuer } from '../test/caller/testIssuer.ts';
import type { OperatorAddress } from './processes/contestant.ts';
import { Program, type ProgramSettings } from './processes/conversation.ts';
import type { OperatorCounts, OperatorManners } from './operator/manners.ts';
import { NOBODY_SWAPPED } from './operator/manners.ts';
import { CLIENT } from './contestants/schema.ts';
import type { LoadOrder, LoadResult } from './load/order.ts';

/** A server under test: its process, where it serves, and how to be its client. */
export interface ServerUnderTest {
  readonly program: Program;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Every server that takes part. */
export type ServerName = 'rest data source' | 'loader per field' | 'mercurius' | 'ours';

const FILES: Readonly<Record<ServerName, string>> = {
  'rest data source': 'restDataSource.ts',
  'loader per field': 'loaderPerField.ts',
  mercurius: 'mercurius.ts',
  ours: 'ours.ts',
};

const NEVER_OVER = '999999999';
/** They may ask about anyone, for the whole time of a run. */
const RISK_TEAM = {
  sub: 'risk-team',
  client_id: 'dashboard',
  scope: 'sim-swap:read',
  exp: Math.floor(Date.now() / 1000) + 3600,
};

/** The processes of a run: the operator, the clients, and whoever is under test. Ends them all. */
export class Stage implements AsyncDisposable {
  readonly #operator: Program;
  readonly #load: Program;
  readonly #programs: Program[];
  readonly #issuer: TestIssuer;
  readonly #directory = mkdtempSync(join(tmpdir(), 'bench-'));
  readonly #starting = new Set<Promise<Program>>();
  readonly address: OperatorAddress;

  private constructor(
    operator: Program,
    load: Program,
    issuer: TestIssuer,
    address: OperatorAddress,
  ) {
    this.#operator = operator;
    this.#load = load;
    this.#programs = [operator, load];
    this.#issuer = issuer;
    this.address = address;
  }

  static async open(): Promise<Stage> {
    const [operator, load, issuer] = await Promise.all([
      Program.start(new URL('operator/operator.ts', import.meta.url)),
      Program.start(new URL('load/load.ts', import.meta.url)),
      TestIssuer.start(),
    ]);
    return new Stage(operator, load, issuer, await operator.ask<OperatorAddress>('address'));
  }

  /** Says how the operator behaves from now on; and forgets what reached it. */
  async behave(manners: Partial<OperatorManners> = {}): Promise<void> {
    await this.#operator.ask('behave', { ...NOBODY_SWAPPED, ...manners });
    await this.counts();
  }

  /** What reached the operator since this was last asked. */
  counts(): Promise<OperatorCounts> {
    return this.#operator.ask('counts');
  }

  send(order: LoadOrder): Promise<LoadResult> {
    return this.#load.ask('run', order);
  }

  /** A contestant that makes its own work. */
  async program(file: string): Promise<Program> {
    const { authUrl, simSwapUrl } = this.address;
    return this.#start(file, {
      arguments: [authUrl, simSwapUrl],
      allowsCodeFromStrings: file === FILES.mercurius,
    });
  }

  async server(name: Exclude<ServerName, 'ours'>): Promise<ServerUnderTest> {
    const program = await this.program(FILES[name]);
    return { program, url: await program.ask('url'), headers: {} };
  }

  /** Ours, with nobody to know and nothing to record. */
  async ours(settings: Readonly<Record<string, string>> = {}): Promise<ServerUnderTest> {
    const { authUrl, simSwapUrl } = this.address;
    const program = await this.#start(FILES.ours, {
      environment: {
        BENCH_SETTINGS: JSON.stringify({
          PORT: '0',
          MAX_NUMBERS_PER_OPERATION: '1000',
          OPERATOR_AUTH_URL: authUrl,
          OPERATOR_SIM_SWAP_URL: simSwapUrl,
          OPERATOR_CLIENT_ID: CLIENT.id,
          OPERATOR_CLIENT_SECRET: CLIENT.secret,
          ...settings,
        }),
      },
    });
    return { program, url: await program.ask('url'), headers: {} };
  }

  /** Ours with all that it has for production: callers' tokens, quotas, and an audit log in a file. */
  async oursInProduction(
    settings: Readonly<Record<string, string>> = {},
  ): Promise<ServerUnderTest> {
    const served = await this.ours({
      NODE_ENV: 'production',
      ...this.#issuer.settings,
      QUOTA_NUMBERS_PER_HOUR: NEVER_OVER,
      QUOTA_LOOKUPS_PER_HOUR: NEVER_OVER,
      AUDIT_LOG: join(this.#directory, 'audit.jsonl'),
      AUDIT_KEY: crypto.randomUUID() + crypto.randomUUID(),
      ...settings,
    });
    const token = await this.#issuer.token(RISK_TEAM);
    return { ...served, headers: { authorization: `Bearer ${token}` } };
  }

  async #start(file: string, settings: ProgramSettings): Promise<Program> {
    const url = new URL(`contestants/${file}`, import.meta.url);
    const program = Program.start(url, settings);
    this.#starting.add(program);
    try {
      this.#programs.push(await program);
      return await program;
    } finally {
      this.#starting.delete(program);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Whoever is starting needs the others until it has.
    await Promise.allSettled(this.#starting);
    await Promise.all(this.#programs.map((program) => program.stop()));
    await this.#issuer.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
