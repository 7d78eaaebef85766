import { isDeepStrictEqual } from 'node:util';
import { createCorrelator } from '../../src/system/correlator.ts';
import type {
  LookupAuthorizer,
  Admitted,
  AuthorizerRequest,
  CachedAnswer,
  Denied,
} from '../../src/lookups/lookupAuthorizer.ts';
import { ConsentedLookups } from '../../src/consents/consentedLookups.ts';
import { Executor } from '../../src/lookups/executor.ts';
import { KeptAnswers, KeptFacts } from '../../src/lookups/keptAnswers.ts';
import type { FactCache } from '../../src/lookups/factCache.ts';
import type { LookupRequest } from '../../src/lookups/lookupRoute.ts';
import type { Operators, RoutedOperator } from '../../src/lookups/operators.ts';
import type { ConsentStore } from '../../src/consents/consentStore.ts';
import type { Ask, History, OperatorName } from './history.ts';
import { StrictOperators, SWAPPED_HOURS_AGO } from './strictOperator.ts';
import { consentOperator, LEASE_MS, RULES } from '../lookups/askedConsents.ts';
import { answerKnown } from '../support/askedFields.ts';
import { askAll, OFFER, requestAt } from '../lookups/requests.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';
import type { TestClock } from '../support/testClock.ts';
import { ALICE } from '../support/values.ts';

type Wrongs = ReturnType<typeof noWrongs>;

/** Each must be zero. */
export type Wrongness = Wrongs & StrictOperators['offences'];

function noWrongs() {
  return {
    /** Requests without an answer at the end of their patience. */
    unsettled: 0,
    defects: 0,
    wrongAnswers: 0,
    /** Answers that were returned before they were audited. */
    unaudited: 0,
    /** Prompts, polls and lookups more or fewer than without nonces. */
    otherThanWithoutNonces: 0,
  };
}

/** The processes and stores of a history. */
export interface Place {
  readonly clock: TestClock;
  /** One for each replica. */
  readonly stores: readonly ConsentStore[];
  readonly factCache: FactCache;
  /** How late an answer, or how early a poll, may be. */
  readonly latenessMs: number;
  /** Of a store that may lose what it wrote after it was saved, and notices it. */
  readonly snapshot?: { readonly save: () => void; readonly goBack: () => void };
}

const CLAIMED_BEFORE_MS = 5;

/**
 * Runs a history, and once more without nonces where it has them, and counts what was wrong in it, and how often its
 * operators challenged.
 */
export async function runHistory(
  history: History,
  placeOf: (history: History) => Place,
): Promise<{ readonly wrong: Wrongness; readonly challenges: number }> {
  const { carriedOut, wrong, challenges } = await run(history, placeOf(history));
  if (history.nonces?.isLate === false) {
    const plain = await run({ ...history, nonces: undefined }, placeOf(history));
    if (!isDeepStrictEqual(carriedOut, plain.carriedOut)) wrong.otherThanWithoutNonces += 1;
  }
  return { wrong, challenges };
}

async function run(history: History, place: Place) {
  const { clock } = place;
  const operators = new StrictOperators(history, clock, place.latenessMs);
  const audit = new Audit(history.admissions);
  const processOf = (store: ConsentStore) =>
    new ServingProcess(store, history, place, operators, audit);
  const processes = place.stores.map(processOf);
  const all = [...processes];
  const restarting = history.restarts.map(async ({ atMs, replica }) => {
    await clock.sleep(atMs);
    // The memory of a process ends with it.
    if (processes.length === 1) return;
    const started = processOf(place.stores[replica] as ConsentStore);
    processes[replica] = started;
    all.push(started);
  });
  const { loss } = history;
  const losing = async (snapshot = place.snapshot): Promise<void> => {
    if (loss === undefined || snapshot === undefined) return;
    await clock.sleep(loss.savedAtMs);
    snapshot.save();
    await clock.sleep(loss.lostMs);
    snapshot.goBack();
    operators.storeWentBack();
    // A prompt that was claimed before has left by then.
    await clock.sleep(CLAIMED_BEFORE_MS);
    operators.storeInDoubt();
  };
  const wrong = noWrongs();
  const asking = history.asks.map(async (ask) => {
    if (ask.atMs > 0) await clock.sleep(ask.atMs);
    const serving = processes[ask.replica % processes.length];
    if (serving !== undefined) await makeRequest(ask, serving, place, audit, operators, wrong);
  });
  const answered = Promise.all([...asking, ...restarting, losing()]);
  const lastMs = Math.max(
    ...history.asks.map(({ atMs, patienceMs, directoryMs = 0 }) => atMs + directoryMs + patienceMs),
    ...history.restarts.map(({ atMs }) => atMs),
    loss === undefined ? 0 : loss.savedAtMs + loss.lostMs + CLAIMED_BEFORE_MS,
  );
  if (!(await settlesWithin(clock, lastMs + place.latenessMs, answered))) wrong.unsettled += 1;
  // Exchanges outlive their requests, and their leases.
  const closed = answered.then(() => Promise.all(all.map((one) => one.close())));
  if (!(await settlesWithin(clock, 4 * LEASE_MS, closed))) wrong.unsettled += 1;
  const { offences, carriedOut, challenges } = operators;
  return { wrong: { ...offences, ...wrong }, carriedOut, challenges };
}

/** Whether a promise is settled after so much time, once this process has nothing left to run. */
async function settlesWithin(
  clock: TestClock,
  ms: number,
  promise: Promise<unknown>,
): Promise<boolean> {
  await clock.advance(ms);
  const later = new Promise<boolean>((resolve) => {
    setImmediate(() => setImmediate(() => resolve(false)));
  });
  return Promise.race([promise.then(() => true), later]);
}

async function makeRequest(
  ask: Ask,
  serving: ServingProcess,
  { clock, latenessMs }: Place,
  audit: Audit,
  operators: StrictOperators,
  wrong: Wrongs,
): Promise<void> {
  const { asker, questions, patienceMs, hangsUpAfterMs, directoryMs = 0 } = ask;
  const askerName = `${asker.caller}${asker.purpose.replaceAll('-', '')}`;
  const hungUp = new LightAbortSignal();
  const cameInAtMs = clock.monotonicMs();
  const request = requestAt(clock, {
    ...asker,
    correlator: createCorrelator(askerName),
    signal: hungUp,
    deadlineMs: cameInAtMs + 60_000,
    waitMs: patienceMs,
  });
  const executor = new Executor(serving.operatorsFor(ask), request);
  const over = new AbortController();
  const hangingUp =
    hangsUpAfterMs === undefined
      ? undefined
      : clock.sleep(hangsUpAfterMs, over.signal).then(
          () => hungUp.abort(),
          () => undefined,
        );
  await askAll(executor, ALICE, questions);
  if (!hungUp.aborted) executor.delivered();
  over.abort();
  await hangingUp;
  if (clock.monotonicMs() > cameInAtMs + directoryMs + patienceMs + latenessMs)
    wrong.unsettled += 1;
  const isRight = (swapped: boolean, maxAgeHours: number): boolean => {
    if (swapped) return maxAgeHours >= SWAPPED_HOURS_AGO || operators.hasSwapped;
    return maxAgeHours < SWAPPED_HOURS_AGO && !operators.knewOfSwap(askerName, cameInAtMs);
  };
  for (const question of questions) {
    const answer = answerKnown(executor, ALICE, question);
    if (answer instanceof Error) {
      wrong.defects += 1;
      continue;
    }
    switch (answer.kind) {
      case 'failure':
      case 'consent':
        continue;
      case 'date':
        if (answer.latestSimChange === null) wrong.wrongAnswers += 1;
        break;
      case 'window':
        if (question.about === 'date' || !isRight(answer.swapped, question.maxAgeHours)) {
          wrong.wrongAnswers += 1;
        }
    }
    if (!audit.has(request)) wrong.unaudited += 1;
  }
}

/** One process of a replica: its operators and their routes. */
class ServingProcess {
  readonly #operators: Readonly<Record<OperatorName, RoutedOperator>>;
  readonly #kept: KeptFacts;
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(
    store: ConsentStore,
    { deniedMs }: History,
    { clock, factCache }: Place,
    operators: StrictOperators,
    admission: Audit,
  ) {
    const rules = { ...RULES, deniedMs };
    const consented = new ConsentedLookups({ store, factCache, rules, clock }, 0);
    const parts = { factCache, admission, offer: OFFER, marking: new Map() };
    this.#sleep = (ms) => clock.sleep(ms);
    this.#kept = new KeptFacts(parts);
    const operatorOf = (name: OperatorName): RoutedOperator => {
      const operator = consentOperator(name, operators.at(name), clock, { admission, rules });
      return { name, offer: OFFER, route: new KeptAnswers(consented.routeTo(operator), parts) };
    };
    this.#operators = { one: operatorOf('one'), other: operatorOf('other') };
  }

  operatorsFor({ routing: [first = 'one', ...others], directoryMs }: Ask): Operators {
    const inTurn = [
      this.#operators[first],
      ...others.map((name) => this.#operators[name]),
    ] as const;
    const served = { kind: 'served', inTurn } as const;
    if (directoryMs === undefined) return { of: () => served };
    return {
      of: () => undefined,
      find: () => this.#sleep(directoryMs).then(() => served),
      kept: this.#kept,
    };
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#operators).map(({ route }) => route.close()));
  }
}

/** The requests that have an audit line about an answer. */
class Audit implements LookupAuthorizer {
  /** By correlator: a shared lookup has a request of its own. */
  readonly #requests = new Set<string>();
  readonly #admissions: readonly boolean[];
  #lookups = 0;

  constructor(admissions: readonly boolean[]) {
    this.#admissions = admissions;
  }

  admit({ event, request }: AuthorizerRequest): Admitted | Denied {
    if (event === 'lookup') {
      this.#lookups += 1;
      if (this.#admissions[this.#lookups % this.#admissions.length] === false) {
        return { kind: 'denied', failure: { code: 'AUDIT_UNAVAILABLE', reach: 'number' } };
      }
      this.#requests.add(request.correlator.name);
    }
    return { kind: 'admitted', ended: () => undefined };
  }

  delivered({ request }: CachedAnswer): undefined {
    this.#requests.add(request.correlator.name);
  }

  has(request: LookupRequest): boolean {
    return this.#requests.has(request.correlator.name);
  }
}
