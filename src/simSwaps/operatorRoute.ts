import type { Clock } from '../system/clock.ts';
import type { ConsentSettings } from '../consents/consentRecord.ts';
import type { ConsentedLookups } from '../consents/consentedLookups.ts';
import type { ConsentStore, OperatorRefusals } from '../consents/consentStore.ts';
import { ConsentTokens, reusedConsents } from '../consents/consentTokens.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Ciba } from '../domain/profile.ts';
import { DirectLookups, type LookupTokens } from '../lookups/directLookups.ts';
import type { FactCache } from '../lookups/factCache.ts';
import { KeptAnswers } from '../lookups/keptAnswers.ts';
import { AUDIT_BUDGET_MS, type LookupAuthorizer } from '../lookups/lookupAuthorizer.ts';
import { lookupFailed, type LookupRoute } from '../lookups/lookupRoute.ts';
import { OneLookupPerNumber } from '../lookups/oneLookupPerNumber.ts';
import type { Offer } from '../lookups/planner.ts';
import { SharedLookups } from '../lookups/sharedLookups.ts';
import {
  operatorIdentitiesOf,
  operatorIdentityOf,
  permitsPurpose,
  type OperatorSettings,
} from '../operator/operatorSettings.ts';
import { COMMAND_TIMEOUT_MS } from '../sharedState/redis.ts';
import { tokenCoverage } from '../tokens/authorizationSettings.ts';
import type { OperatorConnections } from './operatorConnections.ts';

export interface SimSwapStores {
  readonly consents: ConsentStore;
  readonly factCache: FactCache;
  /** @param operator its identity */
  refusalsOf(operator: string): OperatorRefusals;
}

export interface OperatorRouteParts {
  readonly settings: OperatorSettings;
  readonly connections: OperatorConnections;
  readonly offer: Offer;
  readonly admission: LookupAuthorizer;
  readonly stores: SimSwapStores;
  readonly consent: ConsentSettings;
  /** Shared by all operators: the owner of a number is one person. */
  readonly consented: ConsentedLookups;
  /** Shared by all operators: facts that are being marked as delivered. */
  readonly marking: Map<string, Promise<unknown>>;
  readonly clock: Clock;
}

/** From a planned lookup to the operator: purpose, kept answers, then consent or a shared lookup. */
export function operatorRoute(parts: OperatorRouteParts): LookupRoute {
  const { settings } = parts;
  const route = keptOrMade(parts);
  return settings.scopes.purpose || settings.purposes !== undefined
    ? permitted(route, settings)
    : route;
}

/** Refuses purposes that the contract does not allow: nothing is counted or sent for them. */
function permitted(route: LookupRoute, settings: OperatorSettings): LookupRoute {
  return {
    lookUp: (lookup, session, recalledAtMs) =>
      permitsPurpose(settings, session.request.purpose)
        ? route.lookUp(lookup, session, recalledAtMs)
        : Promise.resolve(lookupFailed(lookup, PURPOSE_REFUSED)),
    delivered: (facts, about) => route.delivered?.(facts, about),
    consent: (number, request) => route.consent(number, request),
    close: () => route.close(),
  };
}

const PURPOSE_REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'number' };

function keptOrMade(parts: OperatorRouteParts): LookupRoute {
  const { settings, connections, offer, admission, stores, consent, marking, clock } = parts;
  const { factCache } = stores;
  const kept = (route: LookupRoute) =>
    new KeptAnswers(route, { factCache, admission, offer, marking });
  switch (settings.flow) {
    case '2-legged': {
      const route = directLookups(parts, connections.tokens);
      // There is nothing to recall unless facts are kept.
      return settings.keepFactsSeconds === 0 ? route : kept(route);
    }
    case '3-legged': {
      const { grant, tokens } = settings;
      if (tokens.use === 'once') return kept(consentedLookups(parts, grant));
      const reused = new ConsentTokens({
        clock,
        marginMs: tokens.marginSeconds * 1000,
        coverageOf: (subject) => tokenCoverage(settings, subject),
        failureMs: consent.failureMs,
      });
      const consented = consentedLookups(parts, grant, reused);
      return kept(reusedConsents(reused, consented, directLookups(parts, reused)));
    }
  }
}

function directLookups(parts: OperatorRouteParts, tokens: LookupTokens): LookupRoute {
  const { settings, connections, admission, stores, clock } = parts;
  const { operator, bulkheads } = connections;
  const identity = operatorIdentityOf(settings);
  const direct = new DirectLookups({ tokens, operator, identity, admission, bulkheads, clock });
  const route = settings.oneCallPerNumber ? new OneLookupPerNumber(direct, clock) : direct;
  const keepMs = settings.keepFactsSeconds * 1000;
  return new SharedLookups(route, { factCache: stores.factCache, keepMs, admission });
}

function consentedLookups(
  { settings, connections, offer, admission, stores, consent, consented }: OperatorRouteParts,
  { firstPoll }: Ciba,
  consentTokens?: ConsentTokens,
): LookupRoute {
  const { tokens, operator, bulkheads } = connections;
  const identity = operatorIdentityOf(settings);
  // An exchange and its one retry.
  const exchangeMs = 2 * settings.limits.timeoutMs;
  const leaseMs = exchangeMs + AUDIT_BUDGET_MS + 2 * COMMAND_TIMEOUT_MS;
  return consented.routeTo({
    identity,
    identities: operatorIdentitiesOf(settings),
    name: settings.name,
    tokens,
    consentTokens,
    operator,
    admission,
    refusals: stores.refusalsOf(identity),
    offer,
    rules: { ...consent, leaseMs, firstPoll },
    bulkheads,
    exchangeMs,
  });
}
