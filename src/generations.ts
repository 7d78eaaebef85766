import type { Clock } from './clock.ts';
import type { OpenConnections } from './http/connections/openConnections.ts';
import type { BulkheadLoad } from './http/resilience/bulkhead.ts';
import { Leases, type Closable, type Lease } from './leases.ts';
import { createSimSwapLoader, type SimSwapLoader } from './loaders/simSwapLoader.ts';
import type { PhoneNumber } from './domain/phoneNumber.ts';
import type { Log } from './log.ts';
import type { ConsentSettings } from './lookups/consentSettings.ts';
import type { DirectoryAnswers } from './lookups/directoryAnswers.ts';
import { Executor } from './lookups/executor.ts';
import type { KeptFacts } from './lookups/keptFacts.ts';
import type { LookupRequest } from './lookups/lookupRoute.ts';
import type { Operators, RoutedOperator } from './lookups/operators.ts';
import { OperatorsByDirectory } from './lookups/operatorsByDirectory.ts';
import { OperatorsInSuccession } from './lookups/operatorsInSuccession.ts';
import { RoutingTable, RoutingTables } from './lookups/routingTables.ts';
import type { NumberDirectorySettings, OperatorSettings } from './operator/operatorSettings.ts';
import { storeNameOf } from './operator/storeName.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';
import { MAX_LIFE_MS } from './tokens/consents/consentRecord.ts';
import type { ConsentStore } from './tokens/consents/consentStore.ts';
import { withoutCredentials } from './tokens/credentials.ts';

/** SIM swap answers: everything below GraphQL and HTTP, with no server and no store of its own. */
export interface SimSwaps {
  /** The loader of one request. */
  forRequest(request: LookupRequest): SimSwapLoader;
  /** How busy every bulkhead is at this moment. */
  load(): readonly OperatorLoad[];
  /** Waits for what must not be cut, then closes the connections. */
  close(): Promise<void>;
}

/** How busy one bulkhead of an operator is. */
export interface OperatorLoad extends BulkheadLoad {
  readonly operator: string;
  /** What it does: lookups of an operation, or requests for consent and their polls. */
  readonly work: BulkheadName;
}

/** How many connections to one endpoint of an operator are open. */
export interface EndpointConnections {
  readonly operator: string;
  /** As in the log. */
  readonly endpoint: string;
  readonly connections: OpenConnections;
}

export type BulkheadName = 'retrieve-date' | 'check' | 'requests' | 'polls';

/** What one operator's numbers leave behind for further requests. */
export interface OperatorStores {
  readonly consents: ConsentStore;
  readonly keptFacts: KeptFacts;
}

/** One operator to ask. */
export interface OperatorParts {
  readonly settings: OperatorSettings;
  /** Where absent, consents lie in this process and the facts of the 2-legged flow are not kept. */
  readonly stores?: OperatorStores;
}

/** By what numbers are asked about from now on. */
export interface GenerationSettings {
  /** A number is asked about at the one whose prefix of it is the longest. */
  readonly operators: readonly OperatorParts[];
  /** Says which operator serves a number, before any is asked; by prefix alone where absent. */
  readonly directory?: NumberDirectorySettings | undefined;
  readonly consent: ConsentSettings;
}

/** An operator with its limits, circuits, connections and tokens. */
export interface ServedOperator extends RoutedOperator, Closable {
  readonly load: () => readonly OperatorLoad[];
  readonly connections: () => readonly EndpointConnections[];
  /** Takes credentials that have changed; exchanges from now on carry them. */
  readonly renew: (settings: OperatorSettings) => void;
}

/** A number directory, with its connections. */
export interface OpenedDirectory extends Closable {
  readonly answers: DirectoryAnswers;
}

/** What generations are made with. */
export interface GenerationsParts {
  openOperator(operator: OperatorParts, consent: ConsentSettings): ServedOperator;
  openDirectory(settings: NumberDirectorySettings): OpenedDirectory;
  readonly clock: Clock;
  readonly log: Log;
}

/** Answers by the settings that it was begun with, whatever settings come after it. */
export interface Generation extends SimSwaps {
  /** The names of the operators that were made for it: they are new, or their settings have changed. */
  readonly made: readonly string[];
  /**
   * Gives up what no later generation uses, once no request asks this one any more. An operator at which consents may
   * live that no later one can pursue is given up when they are over.
   */
  retire(): Promise<void>;
}

/** An operator that is open, and with whom its consents are begun. */
interface OpenOperator extends Closable {
  readonly served: ServedOperator;
  readonly storeName: string;
  readonly isPrompting: boolean;
}

/** Retired operators that consents may be pursued at; with more, the one that was made first is given up. */
const MAX_RETIRED = 16;

/**
 * SIM swap answers while settings change. A new generation takes over from the ones before it whatever has not changed:
 * an operator keeps its connections, tokens and circuits as long as its settings stay the same, and credentials are
 * renewed in their place.
 */
export class Generations {
  readonly #parts: GenerationsParts;
  readonly #operators = new Leases<object, OpenOperator>();
  readonly #directories = new Leases<NumberDirectorySettings, OpenedDirectory>();
  readonly #generations = new Set<Generation>();
  /** In the order in which they were made, each with what ends its retirement. */
  readonly #open = new Map<OpenOperator, AbortController>();
  readonly #tables: RoutingTables;
  /** Those of the newest generation, by their store names. */
  #inForce: ReadonlyMap<string, OpenOperator> = new Map();
  /** The latest first. */
  #retired: readonly RoutedOperator[] = [];

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
    this.#tables = new RoutingTables(parts.clock);
  }

  /** @throws {Error} when the settings name an operator that is not there; then nothing has changed */
  begin({ operators, directory, consent }: GenerationSettings): Generation {
    const made: string[] = [];
    const leases = operators.map((operator) => {
      const { name } = operator.settings;
      return this.#operators.take(name, { ...lastingOf(operator.settings), consent }, () => {
        made.push(name);
        return this.#openOperator(operator, consent);
      });
    });
    const opened =
      directory === undefined
        ? undefined
        : this.#directories.take('directory', directory, () =>
            this.#parts.openDirectory(directory),
          );
    const { routing, table } = this.#routingOrRelease(operators, leases, directory, opened);
    for (const [index, { settings }] of operators.entries()) {
      leases[index]?.part.served.renew(settings);
    }
    this.#inForce = new Map(leases.map(({ part }) => [part.storeName, part]));
    this.#tables.add(table);
    this.#sortOut();
    return this.#generation({ made, routing, table, leases, opened, consent });
  }

  /** How busy every bulkhead is at this moment, those of operators included that are being given up. */
  load(): readonly OperatorLoad[] {
    return [...this.#open.keys()].flatMap(({ served }) => served.load());
  }

  /** The connections that are open at this moment, to the same operators. */
  connections(): readonly EndpointConnections[] {
    return [...this.#open.keys()].flatMap(({ served }) => served.connections());
  }

  /** Waits for what must not be cut, then closes all connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#generations].map((generation) => generation.close()));
  }

  #generation({ made, routing, table, leases, opened, consent }: Begun): Generation {
    const stopping = new AbortController();
    const lifeMs = longestLifeMs(consent);
    const end = async (): Promise<void> => {
      table.endsAtMs = this.#parts.clock.monotonicMs() + lifeMs;
      await Promise.all([
        ...leases.map(async (lease) => {
          await this.#whileConsentsLive(lease.part, lifeMs, stopping.signal);
          await lease.release();
        }),
        opened?.release(),
      ]);
      this.#generations.delete(generation);
    };
    let ended: Promise<void> | undefined;
    const generation: Generation = {
      made,
      forRequest: (request) => createSimSwapLoader(new Executor(routing, request)),
      load: () => leases.flatMap(({ part }) => part.served.load()),
      retire: () => (ended ??= end()),
      close() {
        stopping.abort();
        return (ended ??= end());
      },
    };
    this.#generations.add(generation);
    return generation;
  }

  #openOperator(operator: OperatorParts, consent: ConsentSettings): OpenOperator {
    const { settings } = operator;
    const served = this.#parts.openOperator(operator, consent);
    const opened: OpenOperator = {
      served,
      storeName: storeNameOf(settings),
      isPrompting: asksOwner(settings.flow),
      close: async () => {
        this.#open.delete(opened);
        this.#sortOut();
        await served.close();
      },
    };
    this.#open.set(opened, new AbortController());
    return opened;
  }

  #routingOrRelease(
    operators: readonly OperatorParts[],
    leases: readonly Lease<OpenOperator>[],
    directory: NumberDirectorySettings | undefined,
    opened: Lease<OpenedDirectory> | undefined,
  ): TabledRouting {
    try {
      return this.#routing(operators, leases, directory, opened);
    } catch (error) {
      for (const lease of leases) void lease.release();
      void opened?.release();
      throw error;
    }
  }

  #routing(
    operators: readonly OperatorParts[],
    leases: readonly Lease<OpenOperator>[],
    directory: NumberDirectorySettings | undefined,
    opened: Lease<OpenedDirectory> | undefined,
  ): TabledRouting {
    const serving = leases.flatMap(({ part }, index) => {
      const { settings } = operators[index] ?? {};
      if (settings === undefined) return [];
      const { name, prefixes, others } = settings;
      const { offer, route } = part.served;
      return { storeName: part.storeName, name, prefixes, others, offer, route };
    });
    const table = new RoutingTable(serving, directory);
    const { byPrefix } = table;
    const current =
      directory === undefined || opened === undefined
        ? byPrefix
        : new OperatorsByDirectory({
            answers: opened.part.answers,
            fallback: directory.fallback,
            operators: byPrefix,
            log: this.#parts.log,
          });
    const routing = new OperatorsInSuccession(current, (number) => this.#elsewhere(table, number));
    return { routing, table };
  }

  /** Where a consent about a number may live, though this table sends it to another operator. */
  #elsewhere(table: RoutingTable, number: PhoneNumber): readonly RoutedOperator[] {
    const names = this.#tables.elsewhere(table, number);
    if (names.size === 0) return this.#retired;
    const others = [...names].flatMap((name) => {
      const operator = this.#inForce.get(name);
      return operator?.isPrompting === true ? operator.served : [];
    });
    return [...this.#retired, ...others];
  }

  /** Tells which operators the newest generation names no more, and gives the first up when they are too many. */
  #sortOut(): void {
    const retired = [...this.#open].filter(([operator]) => this.#isRetired(operator)).toReversed();
    this.#retired = retired.map(([{ served }]) => served);
    for (const [, over] of retired.slice(MAX_RETIRED)) over.abort();
  }

  #isRetired({ storeName, isPrompting }: OpenOperator): boolean {
    return isPrompting && !this.#inForce.has(storeName);
  }

  async #whileConsentsLive(
    operator: OpenOperator,
    lifeMs: number,
    stopping: AbortSignal,
  ): Promise<void> {
    const over = this.#open.get(operator);
    if (over === undefined || !this.#isRetired(operator)) return;
    const signal = AbortSignal.any([stopping, over.signal]);
    await this.#parts.clock.sleep(lifeMs, signal).catch(() => undefined);
  }
}

/** Where numbers go, with all that is asked for it, and by the settings alone. */
interface TabledRouting {
  readonly routing: Operators;
  readonly table: RoutingTable;
}

interface Begun extends TabledRouting {
  readonly made: readonly string[];
  readonly leases: readonly Lease<OpenOperator>[];
  readonly opened: Lease<OpenedDirectory> | undefined;
  readonly consent: ConsentSettings;
}

/** What an operator is made anew for: not its place among the others, its price or its credentials. */
function lastingOf(settings: OperatorSettings): object {
  const { prefixes: _prefixes, others: _others, price: _price, ...lasting } = settings;
  return withoutCredentials(lasting);
}

/** Until then a prompt may live, or what came of it keeps the owner from another one. */
function longestLifeMs({
  doubtSeconds,
  deniedSeconds,
  failureSeconds,
  resultSeconds,
}: ConsentSettings): number {
  const keptMs = Math.max(doubtSeconds, deniedSeconds, failureSeconds) * 1000;
  return Math.max(MAX_LIFE_MS, keptMs) + resultSeconds * 1000;
}
