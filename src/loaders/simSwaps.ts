import type { Clock } from '../clock.ts';
import { EchoPolicy, type EchoSetting, type ReplyCheck } from '../http/echo.ts';
import { Endpoint } from '../http/endpoint.ts';
import { Bulkhead } from '../http/resilience/bulkhead.ts';
import { Circuit } from '../http/resilience/circuit.ts';
import { GuardedEndpoint } from '../http/resilience/guardedEndpoint.ts';
import { RetryBudget } from '../http/resilience/retryBudget.ts';
import { decideRetry, type ExchangeKind } from '../http/resilience/retryDecision.ts';
import { SentHeaders } from '../http/sentHeaders.ts';
import { ConsentedLookups } from '../lookups/consentedLookups.ts';
import type { ConsentSettings } from '../lookups/consentSettings.ts';
import { DirectLookups } from '../lookups/directLookups.ts';
import { Executor } from '../lookups/executor.ts';
import type { LookupRequest, LookupRoute } from '../lookups/lookupRoute.ts';
import { Operator } from '../operator/operator.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { judgeCheck, judgeRetrieveDate, type LookupJudges } from '../operator/responses.ts';
import { createClientAuthentication } from '../tokens/clientAuthentication.ts';
import { MemoryConsentStore } from '../tokens/consents/memoryConsentStore.ts';
import { TokenManager } from '../tokens/tokenManager.ts';
import { createSimSwapLoader, type SimSwapLoader } from './simSwapLoader.ts';

/** Fewer permits slow a hundred numbers down; more open sockets that an operator would count. */
const ROOM = { permits: 256, queue: 10_000 };

/** SIM swap answers from one operator. */
export interface SimSwaps {
  /** The loader of one request. */
  forRequest(request: LookupRequest): SimSwapLoader;
  /** Waits for what must not be cut, then closes the connections. */
  close(): Promise<void>;
}

/** Everything that decides whether what the operator sends may be believed, and sent again. */
export interface Judges extends LookupJudges {
  echo(setting: EchoSetting): ReplyCheck;
  readonly retry: typeof decideRetry;
}

const JUDGES: Judges = {
  echo: (setting) => new EchoPolicy(setting),
  retry: decideRetry,
  retrieveDate: judgeRetrieveDate,
  check: judgeCheck,
};

/** What is handed in from outside. */
export interface SimSwapParts {
  readonly clock: Clock;
  /** Others than the ones that serve are for showing what each of those is good for. */
  readonly judges?: Judges;
}

export function createSimSwaps(
  settings: OperatorSettings,
  consent: ConsentSettings,
  { clock, judges = JUDGES }: SimSwapParts,
): SimSwaps {
  const sentHeaders = new SentHeaders();
  const budget = new RetryBudget(clock);
  const endpoints: Endpoint[] = [];
  const guarded = (kind: ExchangeKind, url: string): GuardedEndpoint => {
    const replyCheck = judges.echo(settings.correlatorEcho);
    const endpoint = new Endpoint({ ...settings, url, replyCheck }, sentHeaders);
    endpoints.push(endpoint);
    return new GuardedEndpoint(endpoint, {
      kind,
      circuit: new Circuit(clock),
      budget,
      rules: {
        canTakeNewToken: settings.flow === '2-legged',
        retriesDoubtfulLookups: settings.retriesLookups,
      },
      decideRetry: judges.retry,
      clock,
      random: Math.random,
    });
  };
  const tokens = new TokenManager(
    settings,
    {
      clientCredentials: guarded('client-credentials', `${settings.authUrl}/oauth/v1/token`),
      backchannelAuthentication: guarded(
        'backchannel-authentication',
        `${settings.authUrl}/openIDConnectCIBA/v1/bc-authorize`,
      ),
      cibaToken: guarded('token-poll', `${settings.authUrl}/openIDConnectCIBA/v1/token`),
    },
    createClientAuthentication(settings.clientId, settings.clientAuthentication, clock),
    clock,
  );
  const operator = new Operator(
    settings,
    {
      retrieveDate: guarded('lookup', `${settings.simSwapUrl}/retrieve-date`),
      check: guarded('lookup', `${settings.simSwapUrl}/check`),
    },
    judges,
    clock,
  );
  const room = (): Bulkhead => new Bulkhead(ROOM, clock);
  // An exchange and its one retry.
  const exchangeMs = 2 * settings.timeoutMs;
  const route: LookupRoute =
    settings.flow === '2-legged'
      ? new DirectLookups({
          tokens,
          operator,
          rooms: { 'retrieve-date': room(), check: room() },
          clock,
        })
      : new ConsentedLookups(
          {
            tokens,
            operator,
            store: new MemoryConsentStore(clock),
            offer: settings,
            rules: {
              doubtMs: consent.doubtSeconds * 1000,
              deniedMs: consent.deniedSeconds * 1000,
              resultMs: consent.resultSeconds * 1000,
              leaseMs: exchangeMs + 1000,
              firstPoll: settings.cibaFirstPoll,
            },
            rooms: { requests: room(), polls: room() },
            exchangeMs,
            clock,
          },
          consent.waitMs,
        );
  return {
    forRequest: (request) => createSimSwapLoader(new Executor(route, settings, request)),
    async close() {
      await route.close();
      await Promise.all(endpoints.map((one) => one.close()));
      sentHeaders.close();
    },
  };
}
