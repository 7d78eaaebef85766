import type { Clock } from '../../src/system/clock.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { Bulkhead } from '../../src/http/resilience/bulkhead.ts';
import type {
  LookupAuthorizer,
  Admitted,
  Asked,
  CachedAnswer,
} from '../../src/lookups/lookupAuthorizer.ts';
import { ConsentedLookups } from '../../src/consents/consentedLookups.ts';
import { Executor } from '../../src/lookups/executor.ts';
import { KeptAnswers } from '../../src/lookups/keptAnswers.ts';
import type { FactCache } from '../../src/lookups/factCache.ts';
import type { LookupRequest, LookupRoute } from '../../src/lookups/lookupRoute.ts';
import type { Offer } from '../../src/lookups/plan.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { ConsentStore } from '../../src/consents/consentStore.ts';
import type { Ask, History } from './history.ts';
import { StrictOperator, SWAPPED_HOURS_AGO, type Offences } from './strictOperator.ts';
import { callerNamed } from '../values.ts';
import { servedBy } from '../lookups/servedBy.ts';

/** What must be zero, each. */
export interface Wrongness extends Offences {
  /** Requests without an answer when their patience was over. */
  unsettled: number;
  defects: number;
  wrongAnswers: number;
  /** Answers that were told before they were audited. */
  unaudited: number;
}

/** Where a history takes place. */
export interface Place {
  readonly clock: Clock;
  readonly number: PhoneNumber;
  /** Of each replica; the same one where there is one process. */
  readonly stores: readonly { readonly store: ConsentStore; readonly factCache: FactCache }[];
  /** Whether a promise settles while so much time passes. */
  settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean>;
  /** How late an answer, or how early a poll, may be: 0 where the clock is handed in. */
  readonly latenessMs: number;
}

export const DOUBT_MS = 300_000;
export const RESULT_MS = 60_000;
const FAILURE_MS = 60_000;
const EXCHANGE_MS = 10_000;
const LEASE_MS = 13_000;

const OFFER: Offer = {
  operations: new Set(['retrieve-date', 'check']),
  maxAgeHours: 2400,
  dateMarginHours: 48,
  trustMonitoredPeriod: true,
};

/** Lets a history happen, and says what was wrong in it. */
export async function runHistory(history: History, place: Place): Promise<Wrongness> {
  const { clock } = place;
  const operator = new StrictOperator(history, clock, place.latenessMs);
  const audit = new Audit();
  const bulkhead = () => new Bulkhead({ permits: 10, queue: 10 }, clock);
  const replicas = place.stores.map((stores): LookupRoute => {
    const route = new ConsentedLookups(
      {
        ...stores,
        tokens: operator,
        operator,
        admission: audit,
        offer: OFFER,
        rules: {
          doubtMs: DOUBT_MS,
          deniedMs: history.deniedMs,
          failureMs: FAILURE_MS,
          resultMs: RESULT_MS,
          leaseMs: LEASE_MS,
          firstPoll: 'at-once',
        },
        bulkheads: { requests: bulkhead(), polls: bulkhead() },
        exchangeMs: EXCHANGE_MS,
        clock,
      },
      0,
      'test',
    );
    return new KeptAnswers(route, { ...stores, admission: audit, offer: OFFER });
  });
  const wrong = { unsettled: 0, defects: 0, wrongAnswers: 0, unaudited: 0 };
  const asking = history.asks.map(async (ask) => {
    if (ask.atMs > 0) await clock.sleep(ask.atMs);
    const replica = replicas[ask.replica % replicas.length];
    if (replica !== undefined) await makeRequest(ask, replica, place, audit, operator, wrong);
  });
  const answered = Promise.all(asking);
  const lastMs = Math.max(...history.asks.map(({ atMs, patienceMs }) => atMs + patienceMs));
  if (!(await place.settlesWithin(lastMs + place.latenessMs, answered))) wrong.unsettled += 1;
  // Exchanges outlive their requests, and their leases.
  const closed = answered.then(() => Promise.all(replicas.map((replica) => replica.close())));
  if (!(await place.settlesWithin(4 * LEASE_MS, closed))) wrong.unsettled += 1;
  return { ...operator.offences, ...wrong };
}

async function makeRequest(
  ask: Ask,
  replica: LookupRoute,
  { clock, number, latenessMs }: Place,
  audit: Audit,
  operator: StrictOperator,
  wrong: Omit<Wrongness, keyof Offences>,
): Promise<void> {
  const { asker, questions, patienceMs, hangsUpAfterMs } = ask;
  const askerName = `${asker.caller}${asker.purpose.replaceAll('-', '')}`;
  const hungUp = new AbortController();
  const cameInAtMs = clock.monotonicMs();
  const request: LookupRequest = {
    caller: callerNamed(asker.caller),
    purpose: asker.purpose,
    correlator: createCorrelator(askerName),
    cameInAtMs,
    signal: hungUp.signal,
    deadlineMs: cameInAtMs + 60_000,
    waitMs: patienceMs,
  };
  const executor = new Executor(
    servedBy({ name: 'operator', offer: OFFER, route: replica }),
    request,
  );
  const over = new AbortController();
  const hangingUp =
    hangsUpAfterMs === undefined
      ? undefined
      : clock.sleep(hangsUpAfterMs, over.signal).then(
          () => hungUp.abort(),
          () => undefined,
        );
  await executor.ask(number, questions);
  if (!hungUp.signal.aborted) executor.told();
  over.abort();
  await hangingUp;
  if (clock.monotonicMs() > cameInAtMs + patienceMs + latenessMs) wrong.unsettled += 1;
  const isRight = (swapped: boolean, maxAgeHours: number): boolean => {
    if (swapped) return maxAgeHours >= SWAPPED_HOURS_AGO || operator.hasSwapped;
    return maxAgeHours < SWAPPED_HOURS_AGO && !operator.knewOfSwap(askerName, cameInAtMs);
  };
  for (const question of questions) {
    const answer = executor.answerTo(number, question);
    if (answer instanceof Error) {
      wrong.defects += 1;
      continue;
    }
    switch (answer.kind) {
      case 'failure':
        continue;
      case 'date':
        if (answer.latestSimChange === null) wrong.wrongAnswers += 1;
        break;
      case 'window':
        if (question.asks === 'date' || !isRight(answer.swapped, question.maxAgeHours)) {
          wrong.wrongAnswers += 1;
        }
    }
    if (!audit.has(request)) wrong.unaudited += 1;
  }
}

/** Knows which requests have a line about an answer. */
class Audit implements LookupAuthorizer {
  readonly #requests = new Set<unknown>();

  admit({ event, request }: Asked): Admitted {
    if (event === 'lookup') this.#requests.add(request);
    return { kind: 'admitted', ended: () => undefined };
  }

  heard({ request }: CachedAnswer): undefined {
    this.#requests.add(request);
  }

  has(request: LookupRequest): boolean {
    return this.#requests.has(request);
  }
}
