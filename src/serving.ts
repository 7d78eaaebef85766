import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApolloServer } from '@apollo/server';
import type { Gates, OpenedGate } from './callers.ts';
import type { Gate } from './caller/gate.ts';
import type { SigningKeys } from './caller/signingKeys.ts';
import { Quotas } from './caller/quotas/quotas.ts';
import type { Clock } from './clock.ts';
import { allowsHost } from './config/allowedHosts.ts';
import type { Config } from './config.ts';
import { contextFactory, type RequestContext } from './context.ts';
import type { Generation, Generations } from './generations.ts';
import { createApolloServer, type ApolloSettings } from './graphql/apollo.ts';
import { CrossOrigin } from './graphql/crossOrigin.ts';
import { createEndpoint } from './graphql/endpoint.ts';
import type { Explorer } from './graphql/explorer.ts';
import type { Reply } from './graphql/reply.ts';
import { Leases, type Closable, type Lease } from './leases.ts';
import type { Log } from './log.ts';
import type { Observation } from './observation.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import type { Stores } from './stores.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';

/** What a reload brings. */
export interface ServedSettings {
  readonly config: Config;
  /** The operators to ask: those of the settings, or the built-in simulator. */
  readonly operators: readonly OperatorSettings[];
}

/** What lives as long as the process, whatever its settings become. */
export interface ServingParts {
  readonly stores: Stores;
  readonly generations: Generations;
  readonly gates: Gates;
  readonly apollos: Apollos;
  readonly observation: Observation;
  readonly explorer: Explorer | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** GraphQL servers whose settings change: a document that was parsed is known for as long as they stay the same. */
export class Apollos {
  readonly #log: Log;
  readonly #started = new Leases<ApolloSettings, StartedApollo>();

  constructor(log: Log) {
    this.#log = log;
  }

  async open({ role, production, limits }: ApolloSettings): Promise<Lease<StartedApollo>> {
    const settings = { role, production, limits };
    const lease = this.#started.take('apollo', settings, () => {
      const apollo = createApolloServer(settings, this.#log);
      return { apollo, started: apollo.start(), close: () => apollo.stop() };
    });
    await lease.part.started;
    return lease;
  }
}

interface StartedApollo extends Closable {
  readonly apollo: ApolloServer<RequestContext>;
  readonly started: Promise<void>;
}

/** For answers to be put together when the time of requests is over. */
const LAST_ANSWERS_MS = 2000;

/** Answers requests by one set of settings, which do not change for a request that is under way. */
export class Serving {
  readonly settings: ServedSettings;
  readonly quotas: Quotas;
  readonly #generation: Generation;
  readonly #gate: OpenedGate;
  readonly #apollo: Lease<StartedApollo>;
  readonly #clock: Clock;
  readonly #answer: (request: IncomingMessage, response: ServerResponse) => Promise<Reply>;
  #underWay = 0;
  #onIdle: () => void = () => undefined;

  private constructor(
    settings: ServedSettings,
    parts: ServingParts,
    { generation, gate, apollo }: Opened,
  ) {
    this.settings = settings;
    this.#generation = generation;
    this.#gate = gate;
    this.#apollo = apollo;
    this.#clock = parts.clock;
    const { config, operators } = settings;
    const { stores, observation, explorer, clock, log } = parts;
    const names = operators.map(({ name }) => name);
    this.quotas = new Quotas(config.quotas, stores.counts, names);
    this.#answer = createEndpoint({
      apollo: apollo.part.apollo,
      requestTimeoutMs: config.requestTimeoutMs,
      clock,
      log,
      crossOrigin: new CrossOrigin(config.allowedOrigins),
      allowsHost: hostCheck(config),
      async admit(headers) {
        const admitted = await gate.gate.admit(headers);
        switch (admitted.kind) {
          case 'refused':
            observation.onRefused(admitted.reason);
            return admitted;
          case 'admitted':
            return admitted;
        }
      },
      trustedDocuments: config.trustedDocuments,
      explorer: config.trustedDocuments === undefined ? explorer : undefined,
      createContext: contextFactory({
        simSwaps: generation,
        quotas: this.quotas,
        maxWaitMs: maxWaitMs(settings),
      }),
      onAnswered: observation.onAnswered,
    });
  }

  /** Rejects when it cannot serve by these settings; then nothing has changed. */
  static async begin(settings: ServedSettings, parts: ServingParts): Promise<Serving> {
    const { config, operators } = settings;
    const { consent, directory } = config;
    const apollo = await parts.apollos.open(config);
    try {
      const withStores = await Promise.all(
        operators.map(async (one) => ({
          settings: one,
          stores: await parts.stores.forOperator(one, consent),
        })),
      );
      const generation = parts.generations.begin({ operators: withStores, directory, consent });
      const gate = parts.gates.open(config.callers);
      return new Serving(settings, parts, { generation, gate, apollo });
    } catch (error) {
      await apollo.release();
      throw error;
    }
  }

  /** The names of the operators that were made for it: they are new, or their settings have changed. */
  get made(): readonly string[] {
    return this.#generation.made;
  }

  /** Absent where every caller is anonymous. */
  get keys(): SigningKeys | undefined {
    return this.#gate.keys;
  }

  /** Whose access token it is. */
  readonly authenticate: Gate['authenticate'] = (authorization) =>
    this.#gate.gate.authenticate(authorization);

  async graphql(request: IncomingMessage, response: ServerResponse): Promise<Reply> {
    this.#underWay += 1;
    try {
      return await this.#answer(request, response);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onIdle();
    }
  }

  /** Once other settings are in force: lets its requests end, and then gives up what they alone used. */
  async retire(): Promise<void> {
    await this.#untilIdle();
    await this.#apollo.release();
    await Promise.all([this.#generation.retire(), this.#gate.close()]);
  }

  /** Once no request can come any more. */
  async close(): Promise<void> {
    await this.#apollo.release();
    await this.#generation.close();
    await this.#gate.close();
  }

  /** No longer than requests may take. */
  async #untilIdle(): Promise<void> {
    if (this.#underWay === 0) return;
    const idle = new AbortController();
    this.#onIdle = () => idle.abort();
    const limitMs = this.settings.config.requestTimeoutMs + LAST_ANSWERS_MS;
    await this.#clock.sleep(limitMs, idle.signal).catch(() => undefined);
  }
}

interface Opened {
  readonly generation: Generation;
  readonly gate: OpenedGate;
  readonly apollo: Lease<StartedApollo>;
}

/**
 * A page of another site whose name leads to this machine asks under that name. Where a token is needed it
 * has none; where none is needed, hosts are checked.
 */
function hostCheck({ callers, allowedHosts }: Config): (host: string | undefined) => boolean {
  const isChecked = callers.tokens === undefined || allowedHosts.length > 0;
  return isChecked ? (host) => allowsHost(host, allowedHosts) : () => true;
}

/** The longest that a request may wait for the owner of a number; `undefined` where no owner is asked. */
function maxWaitMs({ config, operators }: ServedSettings): number | undefined {
  if (!operators.some(({ flow }) => asksOwner(flow))) return undefined;
  return Math.min(config.consent.maxWaitMs, config.requestTimeoutMs);
}
