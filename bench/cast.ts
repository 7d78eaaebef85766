import { exchanging, serving, type Terms } from './measure/costs.ts';
import type { Figures } from './measure/figures.ts';
import type { Entrant } from './measure/interleave.ts';
import type { Program } from './processes/conversation.ts';
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
  'loader per field': 0.25,
  'rest data source': 0.25,
};

/** The contestants: each is started when it is first called for, and kept for the tables that follow. */
export class Cast {
  readonly stage: Stage;
  readonly #programs = new Map<string, Promise<Program>>();
  readonly #servers = new Map<string, Promise<ServerUnderTest>>();

  constructor(stage: Stage) {
    this.stage = stage;
  }

  /** One that makes its own work. */
  program(file: string): Promise<Program> {
    const program = this.#programs.get(file) ?? this.stage.program(file);
    this.#programs.set(file, program);
    return program;
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
    const server = this.#servers.get(name) ?? start();
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

  async #entrant(name: EntrantName, own: Workload, terms?: Terms): Promise<Entrant<Figures>> {
    return name === 'raw undici'
      ? exchanging(name, this.stage, await this.program('raw.ts'), own, terms)
      : serving(name, this.stage, [await this.server(name)], own, terms);
  }
}

function requestsOf(name: EntrantName, { requests, fields }: Workload): number {
  const lookups = name.startsWith('ours') ? 1 : LOOKUPS_ONE_BY_ONE[fields];
  return Math.max(1, Math.round((requests * (SHARES[name] ?? 1)) / lookups));
}
