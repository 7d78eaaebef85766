import type { Clock } from '../system/clock.ts';
import { follow } from '../system/fromFiles.ts';
import type { Log } from '../log/log.ts';
import { ConnectionFiles } from '../wire/connectionFiles.ts';
import { IdleDetector } from '../wire/spareConnections.ts';
import { EchoPolicy } from '../wire/echo.ts';
import { Bulkhead } from '../resilience/bulkhead.ts';
import { Circuit } from '../resilience/circuit.ts';
import { DpopExchanges } from '../resilience/dpopExchanges.ts';
import { GuardedEndpoint } from '../resilience/guardedEndpoint.ts';
import { RequestRate } from '../resilience/requestRate.ts';
import { RetryBudget, type ExchangeKind } from '../resilience/retries.ts';
import { Operator } from '../operator/operator.ts';
import { OperatorClock } from '../operator/operatorClock.ts';
import { createOperatorEndpoint, ENDPOINT_LABELS } from '../operator/operatorEndpoint.ts';
import {
  LOOKUP_ENDPOINTS,
  settingName,
  type EndpointName,
  type OperatorSettings,
} from '../operator/operatorSettings.ts';
import { SeenTokens } from '../tokens/accessToken.ts';
import { promptsOwner } from '../tokens/authorizationSettings.ts';
import { createClientAuthentication } from '../tokens/clientAuthentication.ts';
import { DpopProofs } from '../tokens/dpop.ts';
import { TokenManager } from '../tokens/tokenManager.ts';
import {
  authorizationEndpoints,
  closeAll,
  eachOf,
  endpointNames,
  silentReplies,
} from './operatorEndpoints.ts';

/** What an operator's permits are for: lookups by their operation, prompts and polls. */
const WORK = ['retrieve-date', 'check', 'requests', 'polls'] as const;

type Work = (typeof WORK)[number];

const KINDS: Readonly<Record<EndpointName, ExchangeKind>> = {
  token: 'client-credentials',
  backchannelAuthentication: 'backchannel-authentication',
  cibaToken: 'token-poll',
  retrieveDate: 'lookup',
  check: 'lookup',
};

/** Beyond this a batch waits longer than its callers do. */
const QUEUE = 10_000;

/** Everything that is sent to one operator, with the current credentials of its files. */
export class OperatorConnections {
  readonly tokens: TokenManager;
  readonly operator: Operator;
  readonly bulkheads: Readonly<Record<Work, Bulkhead>>;
  readonly #settings: OperatorSettings;
  readonly #operatorClock: OperatorClock;
  readonly #files: ConnectionFiles;
  /** The latest endpoint of each label: a discovered one may move. */
  readonly #endpoints = new Map<string, GuardedEndpoint>();
  readonly #authorization: ReturnType<typeof authorizationEndpoints>;
  readonly #lookups: Readonly<Record<(typeof LOOKUP_ENDPOINTS)[number], GuardedEndpoint>>;
  readonly #unfollow: () => void;
  #headers: OperatorSettings['headers'];
  #authenticate: ReturnType<typeof createClientAuthentication>;

  /** @param operatorClocks those of all operators; its own is added */
  constructor(
    settings: OperatorSettings,
    parts: { readonly clock: Clock; readonly log: Log },
    operatorClocks: Set<OperatorClock>,
  ) {
    const { clock, log } = parts;
    const { limits, authentication, correlator, headers, lookupAddresses } = settings;
    const permits = { permits: limits.connections, queue: QUEUE };
    this.#settings = settings;
    this.#headers = headers;
    this.#authenticate = createClientAuthentication(settings, clock);
    this.#operatorClock = new OperatorClock(settings, operatorClocks, log);
    this.#files = new ConnectionFiles(settings, parts);
    this.bulkheads = eachOf(WORK, () => new Bulkhead(permits, clock));

    const shared = { ...parts, files: this.#files, idleDetector: new IdleDetector() };
    const budget = new RetryBudget(clock);
    const { requestsPerSecond } = limits;
    const common = {
      operator: settings.name,
      budget,
      rules: {
        canTakeNewToken: !promptsOwner(settings.flow) && settings.grant.type !== 'none',
        retriesDoubtfulLookups: settings.retryLookups,
      },
      rate: requestsPerSecond === undefined ? undefined : new RequestRate(requestsPerSecond, clock),
      dpop: authentication.dpop ? new DpopExchanges(new DpopProofs(clock), clock) : undefined,
      errors: settings.errors,
      nameSetting: (member: string) => settingName(settings, member),
      correlatorForm: correlator.form,
      ...parts,
      random: Math.random,
    };
    const create = (name: EndpointName, url: string): GuardedEndpoint => {
      const silent = silentReplies(settings, name);
      const replyCheck = new EchoPolicy(correlator.echo, silent, clock, correlator.header);
      const address = { name, url, headers: () => this.#headers, replyCheck };
      const endpoint = createOperatorEndpoint(settings, address, shared);
      const own = { name: ENDPOINT_LABELS[name], kind: KINDS[name], circuit: new Circuit(clock) };
      const guarded = new GuardedEndpoint(endpoint, { ...common, ...own });
      this.#endpoints.set(own.name, guarded);
      return guarded;
    };
    this.#authorization = authorizationEndpoints(settings, create, parts);
    this.#lookups = eachOf(LOOKUP_ENDPOINTS, (name) => create(name, lookupAddresses[name]));

    const seenTokens =
      silentReplies(settings, 'token') === 'checked' ? new SeenTokens() : undefined;
    const { endpoints } = this.#authorization;
    const tokenParts = { seenTokens, budget };
    this.tokens = new TokenManager(settings, endpoints, this.#authenticate, clock, tokenParts);
    const authenticate = () => this.#authenticate;
    this.operator = new Operator(settings, this.#lookups, clock, authenticate, this.#operatorClock);
    this.#unfollow = follow(settings.fromFiles, parts, (renewed) => {
      this.#headers = renewed.headers;
      this.#authenticate = createClientAuthentication(renewed, clock);
      this.tokens.renew(renewed, this.#authenticate);
    });
  }

  load() {
    const { name, flow, tokens } = this.#settings;
    return WORK.filter((work) => isDone(work, { flow, tokens })).map((work) => ({
      operator: name,
      work,
      ...this.bulkheads[work].load,
    }));
  }

  /** By how much our clock is ahead of the operator's, once a reply has shown it. */
  clock() {
    const { aheadMs } = this.#operatorClock;
    return aheadMs === undefined ? [] : [{ operator: this.#settings.name, aheadMs }];
  }

  connections() {
    return endpointNames(this.#settings).flatMap((endpoint) => {
      const connections = this.#endpoints.get(endpoint)?.connections;
      return connections === undefined
        ? []
        : [{ operator: this.#settings.name, endpoint, connections }];
    });
  }

  async close(): Promise<void> {
    this.#unfollow();
    this.#files.close();
    await closeAll([this.#authorization, ...Object.values(this.#lookups)]);
  }
}

/** Whether there is such work: lookups after a prompt leave with its consent, unless its token may be used again. */
function isDone(work: Work, { flow, tokens }: Pick<OperatorSettings, 'flow' | 'tokens'>): boolean {
  switch (work) {
    case 'retrieve-date':
    case 'check':
      return flow === '2-legged' || tokens.use !== 'once';
    case 'requests':
    case 'polls':
      return flow === '3-legged';
  }
}
