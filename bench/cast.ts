import { exchanging, serving, type Terms } from './measure/costs.ts';
import type { Figures } from './measure/figures.ts';
import type { Entrant } from './measure/interleave.ts';
import type { Program } from './processes/conversation.ts';
import type { Gauge } from './processes/gauge.ts';
import type { ServerName, ServerUnderTest, Stage } from './stage.ts';
import { LOOKUPS_ONE_BY_ONE, type Workload } from './workload.ts';

/** Who takes part, as the tables name them. Whoever appears `again` is the same process, measured twice. */
export type EntrantName = 'raw undici' | 'ours again' | 'ours in production' | ServerName;

/** Everybody, the limit first. */
export const EVERYBODY: readonly EntrantName[] = [
  'raw undici',
  'ours',
  'ours again',
  'ours in production',
  'mercurius',
  'loader per field',
  'rest data source',
];

/**
 * How much of a workload's queries each gets, so that everybody's round takes about as long: a longer one
 * would catch more of what else the machine does, a shorter one would know it less well.
 */
const SHARES: Readonly<Partial<Record<EntrantName, number>>> = {
  'raw undici': 2,
  'loader per field': 0.5,
  'rest data source': 0.5,
};

/** Everybody is at this before being measured, until its code is compiled: before that it runs slower. */
const WARM_UP: Workload = { numbers: 100, fields: 'window', concurrency: 4, requests: 8 };
const WARM_AFTER_CPU_MS = 3500;
/** The guard has no time for that; its bounds allow for what is not compiled. */
const LUKEWARM_AFTER_CPU_MS = 1600;

/** The contestants: each is started when it is first called for, with the operator in no
 * particular manners, and kept for the tables that follow. */
export class Cast {
  readonly stage: Stage;
  readonly #warmAfterCpuMs: number;
  #raw: Promise<Program> | undefined;
  readonly #servers = new Map<string, Promise<ServerUnderTest>>();

  constructor(stage: Stage, { isQuick }: { readonly isQuick: boolean }) {
    this.stage = stage;
    this.#warmAfterCpuMs = isQuick ? LUKEWARM_AFTER_CPU_MS : WARM_AFTER_CPU_MS;
  }

  /** The limit, which makes its own work. */
  raw(): Promise<Program> {
    this.#raw ??= this.#warmRaw();
    return this.#raw;
  }

  server(name: Exclude<EntrantName, 'raw undici'>): Promise<ServerUnderTest> {
    const isOurs = name === 'ours' || name === 'ours again';
    return this.kept(isOurs ? 'ours' : name, () => {
      if (isOurs) return this.stage.ours();
      return name === 'ours in production'
        ? this.stage.oursInProduction()
        : this.stage.server(name);
    });
  }

  /** One with settings of its own, started the first time that it is asked for by this name. */
  kept(name: string, start: () => Promise<ServerUnderTest>): Promise<ServerUnderTest> {
    const server = this.#servers.get(name) ?? this.#warm(name, start);
    this.#servers.set(name, server);
    return server;
  }

  /** Those of these names, each with its share of this workload before it. */
  sharing(
    names: readonly EntrantName[],
    workload: Workload,
    terms?: Terms,
  ): Promise<Entrant<Figures>[]> {
    return Promise.all(
      names.map((name) =>
        this.#entrant(name, { ...workload, requests: requestsOf(name, workload) }, terms),
      ),
    );
  }

  /** Those of these names, each with all of this workload before it. */
  entrants(
    names: readonly EntrantName[],
    workload: Workload,
    terms?: Terms,
  ): Promise<Entrant<Figures>[]> {
    return Promise.all(names.map((name) => this.#entrant(name, workload, terms)));
  }

  async #warmRaw(): Promise<Program> {
    const program = await this.stage.program('raw.ts');
    await this.#warmUp(program, exchanging('raw undici', this.stage, program, WARM_UP));
    return program;
  }

  async #warm(name: string, start: () => Promise<ServerUnderTest>): Promise<ServerUnderTest> {
    const server = await start();
    await this.#warmUp(server.program, serving(name, this.stage, [server], WARM_UP));
    return server;
  }

  async #warmUp(program: Program, entrant: Entrant<Figures>): Promise<void> {
    do await entrant.round();
    while ((await program.ask<Gauge>('gauge', {})).cpuMs < this.#warmAfterCpuMs);
  }

  async #entrant(name: EntrantName, own: Workload, terms?: Terms): Promise<Entrant<Figures>> {
    return name === 'raw undici'
      ? exchanging(name, this.stage, await this.raw(), own, terms)
      : serving(name, this.stage, [await this.server(name)], own, terms);
  }
}

function requestsOf(name: EntrantName, { requests, fields }: Workload): number {
  const lookups = name.startsWith('ours') ? 1 : LOOKUPS_ONE_BY_ONE[fields];
  return Math.max(1, Math.round((requests * (SHARES[name] ?? 1)) / lookups));
}
