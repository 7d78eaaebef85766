import type { Acceptance } from '../system/acceptance.ts';
import type { Clock } from '../system/clock.ts';
import { logAbout, type Log } from '../log/log.ts';
import type { ConsentSettings } from '../consents/consentRecord.ts';
import { MemoryConsentStore, MemoryRefusals } from '../consents/consentStore.ts';
import { ConsentedLookups } from '../consents/consentedLookups.ts';
import type { DateTrust } from '../domain/deduction.ts';
import type { Operation } from '../domain/question.ts';
import { Executor, type SimSwapLoader } from '../lookups/executor.ts';
import { MemoryFactCache, type KeptFor } from '../lookups/factCache.ts';
import { KeptFacts, type KeptFactsParts } from '../lookups/keptAnswers.ts';
import type { LookupAuthorizers } from '../lookups/lookupAuthorizer.ts';
import type { LookupRequest } from '../lookups/lookupRoute.ts';
import { NumbersAtWork, type NumberLimits } from '../lookups/numbersAtWork.ts';
import { OperatorsByPrefix, type Operators } from '../lookups/operators.ts';
import { OperatorsByDirectory } from '../lookups/operatorsByDirectory.ts';
import type { Offer } from '../lookups/planner.ts';
import type { OperatorClock } from '../operator/operatorClock.ts';
import {
  operatorIdentitiesOf,
  type NumberDirectorySettings,
  type OperatorSettings,
} from '../operator/operatorSettings.ts';
import { promptsOwner } from '../tokens/authorizationSettings.ts';
import { DirectoryConnections } from './directoryConnections.ts';
import { OperatorConnections } from './operatorConnections.ts';
import { closeAll } from './operatorEndpoints.ts';
import { operatorRoute, type SimSwapStores } from './operatorRoute.ts';

/** Everything below GraphQL and HTTP, with no server and no store of its own. */
export type SimSwaps = ReturnType<typeof createSimSwaps>;

export interface SimSwapParts {
  readonly operators: readonly OperatorSettings[];
  /** Says which operator serves a number; where absent, the prefix does. */
  readonly directory: NumberDirectorySettings | undefined;
  readonly consent: ConsentSettings;
  readonly stores: SimSwapStores;
  readonly admissions: LookupAuthorizers;
  readonly numberLimits: NumberLimits;
  /** Of connections, before which no exchange of a consent begins; absent without a server. */
  readonly acceptance?: Pick<Acceptance, 'isFirst'> | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const STRANDED =
  'A stored consent is of an operator that is not configured: its number is CONSENT_PENDING until it ends. If the operator was renamed, list its old name in `formerly`.';

/** @throws {Error} when the settings name an operator that does not exist */
export function createSimSwaps(parts: SimSwapParts) {
  const {
    operators,
    directory: directorySettings,
    consent,
    stores,
    admissions,
    acceptance,
    clock,
    log,
  } = parts;
  const { consents: store, factCache } = stores;
  const consented = new ConsentedLookups(
    { store, factCache, rules: consent, clock, onStranded: () => log.warn(STRANDED) },
    consent.waitMs,
    () => acceptance?.isFirst === true,
  );
  const operatorClocks = new Set<OperatorClock>();
  const marking = new Map<string, Promise<unknown>>();
  /** The trust in each operator's dates, by its identity. */
  const trusts = new Map<string, DateTrust>(
    operators.flatMap((one) => operatorIdentitiesOf(one).map((identity) => [identity, one])),
  );
  const anyAdmission = admissions.of('none');

  const served = operators.map((settings) => {
    const { name, prefixes, others } = settings;
    const own = { clock, log: logAbout({ operator: name }, log) };
    const connections = new OperatorConnections(settings, own, operatorClocks);
    const offer: Offer = {
      ...settings,
      trusts,
      requestOf: (lookup, number) => connections.operator.requestOf(lookup, number),
    };
    const admission = admissions.of(name);
    const shared = { stores, consent, consented, marking, clock };
    const route = operatorRoute({ ...shared, settings, connections, offer, admission });
    return {
      name,
      prefixes,
      others,
      offer,
      route,
      connections,
      async close() {
        await route.close();
        await connections.close();
      },
    };
  });

  const byPrefix = new OperatorsByPrefix(served);
  const directory =
    directorySettings && new DirectoryConnections(directorySettings, { clock, log });
  const routing: Operators =
    directory === undefined
      ? byPrefix
      : new OperatorsByDirectory({
          directory: directory.endpoint,
          settings: directory.settings,
          operators: byPrefix,
          kept: anyKept(operators, { factCache, admission: anyAdmission, marking }, trusts),
          clock,
          log,
        });
  const numbersAtWork = new NumbersAtWork(parts.numberLimits, clock);
  return {
    forRequest: (request: LookupRequest): SimSwapLoader =>
      new Executor(routing, request, numbersAtWork, anyAdmission),
    promptsOwners: operators.some(({ flow }) => promptsOwner(flow)),
    numbers: () => numbersAtWork.load,
    load: () => served.flatMap(({ connections }) => connections.load()),
    connections: () => served.flatMap(({ connections }) => connections.connections()),
    /** By how much our clock is ahead of the operators' clocks, where replies have shown it. */
    clocks: () => served.flatMap(({ connections }) => connections.clock()),
    /** Waits for exchanges that must not be cut off, then closes the connections. */
    close: () => closeAll([...served, ...(directory === undefined ? [] : [directory])]),
  };
}

/** Kept facts of all operators; `undefined` where nothing is kept. */
function anyKept(
  operators: readonly OperatorSettings[],
  parts: Omit<KeptFactsParts, 'offer'>,
  trusts: ReadonlyMap<string, DateTrust>,
): KeptFacts | undefined {
  if (operators.every(({ keepFactsSeconds }) => keepFactsSeconds === 0)) return undefined;
  const offer = {
    operations: new Set<Operation>(['retrieve-date', 'check']),
    maxAgeHours: Infinity,
    // For an operator that is no longer configured.
    dateMarginHours: Infinity,
    trustMonitoredPeriod: false,
    trusts,
  };
  return new KeptFacts({ ...parts, offer });
}

/** @param maxBytes of each, if that is less than each may have whatever the heap */
export function storesInMemory(
  operators: readonly OperatorSettings[],
  consent: ConsentSettings,
  clock: Clock,
  maxBytes?: number,
): SimSwapStores {
  return {
    consents: new MemoryConsentStore(clock, maxBytes),
    factCache: new MemoryFactCache(clock, keptFor(operators, consent), maxBytes),
    refusalsOf: () => new MemoryRefusals(clock),
  };
}

export function keptFor(
  operators: readonly OperatorSettings[],
  { resultMs }: Pick<ConsentSettings, 'resultMs'>,
): KeptFor {
  const byIdentity = new Map(
    operators.flatMap((operator) => {
      const keepMs = operator.keepFactsSeconds * 1000;
      const settings = { keepMs, resultMs: promptsOwner(operator.flow) ? resultMs : 0 };
      return operatorIdentitiesOf(operator).map((identity) => [identity, settings] as const);
    }),
  );
  return (operator) => byIdentity.get(operator);
}
