import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/system/clock.ts';
import type { TimedFact } from '../../src/domain/fact.ts';
import type { LookupFailureCode } from '../../src/domain/errors.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';
import type { Lookup, Operation, Question } from '../../src/domain/question.ts';
import type { Executor } from '../../src/lookups/executor.ts';
import { KeptAnswers } from '../../src/lookups/keptAnswers.ts';
import { type FactCache, MemoryFactCache } from '../../src/lookups/factCache.ts';
import type {
  LookupSession,
  LookupOutcome,
  LookupRequest,
  LookupRoute,
} from '../../src/lookups/lookupRoute.ts';
import type { Offer } from '../../src/lookups/planner.ts';
import { RedisFactCache } from '../../src/lookups/redisFactCache.ts';
import { SharedLookups } from '../../src/lookups/sharedLookups.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { SlowRedis } from '../lookups/slowRedis.ts';
import { answerKnown } from '../support/askedFields.ts';
import { askAll, executorOn, OFFER, requestAt } from '../lookups/requests.ts';
import { TestClock } from '../support/testClock.ts';
import { ALICE, HOUR_MS, OPEN_AUTHORIZER } from '../support/values.ts';
import type { Ask, History } from './history.ts';
import { EPOCH_MS, SwappingLine, type Said } from './swappingLine.ts';

export type Verdict = ReturnType<typeof noVerdict>;

function noVerdict() {
  const lookups: number[] = [];
  return {
    /** Answers that could be wrong. */
    falses: 0,
    /** A `false` for a swapped line, whose facts are all outdated by known ones. */
    wrongFalses: 0,
    withoutAnswer: 0,
    /** Facts whose lookups left longer before their request than the setting allows. */
    tooOldFacts: 0,
    /** Facts of another caller or purpose. */
    anothersFacts: 0,
    outlivedDeadlines: 0,
    /** Facts that another request had looked up. */
    toldAgain: 0,
    /** Requests of more lookups than one date and 1 + ⌈log₂ k⌉ checks, while no other request was under way. */
    tooManyLookups: 0,
    /** By request. */
    lookups,
  };
}

const MARGIN_HOURS = OFFER.dateMarginHours;

/** CONSENT_RESULT_SECONDS. */
const RESULT_MS = 3_600_000;

/** The time that Redis takes to reply makes a fact older. */
const SLACK_MS = 1000;

/** Their clocks differ. */
const REPLICAS = [
  { monotonicAheadMs: 0, wallAheadMs: 0 },
  { monotonicAheadMs: 7_000_000, wallAheadMs: 30 * 60_000 },
];

/** The reply to one request. All times count from the start of the history. */
interface Reply extends Said {
  readonly asked: Asked;
  readonly replyId: string;
  readonly leftAtMs: number;
  keptAtMs: number;
}

/** One request, and its facts. */
interface Asked {
  readonly ask: Ask;
  readonly cameInAtMs: number;
  /** The names of its facts. */
  readonly told: Set<string>;
  readonly lookups: Operation[];
  lastLookUpAtMs: number;
  isAlone: boolean;
}

export function runHistory(history: History): Promise<Verdict> {
  return new World(history).run();
}

class World {
  readonly #time = new TestClock();
  readonly #startMs = this.#time.monotonicMs();
  readonly #redis = new SlowRedis(this.#time);
  readonly #history: History;
  readonly #line: SwappingLine;
  readonly #offer: Offer;
  readonly #replies: Reply[] = [];
  readonly #asked = new Map<string, Asked>();
  readonly #replicas: readonly { readonly clock: Clock; readonly route: LookupRoute }[];
  readonly #verdict = noVerdict();
  #underWay = 0;

  constructor(history: History) {
    this.#history = history;
    this.#line = new SwappingLine(history.line);
    const { keepMs, operations, trustMonitoredPeriod } = history;
    this.#offer = { ...OFFER, operations: OPERATIONS[operations], trustMonitoredPeriod };
    const settings = { keepMs, resultMs: this.#resultMs };
    const seals = new StateSeals([randomBytes(32)]);
    this.#replicas = REPLICAS.map(({ monotonicAheadMs, wallAheadMs }) => {
      const clock: Clock = {
        nowMs: () => this.#epochMs() + wallAheadMs,
        monotonicMs: () => this.#time.monotonicMs() + monotonicAheadMs,
        after: (ms, act) => this.#time.after(ms, act),
        sleep: (ms, signal) => this.#time.sleep(ms, signal),
      };
      const factCache = history.isRedis
        ? new RedisFactCache(this.#redis.sharedBy(clock), clock, { seals, keptFor: () => settings })
        : new MemoryFactCache(clock, () => settings);
      return { clock, route: this.#route(clock, factCache) };
    });
  }

  async run(): Promise<Verdict> {
    const asking: Promise<void>[] = [];
    for (const ask of this.#history.asks) {
      await this.#time.advance(ask.pauseMs);
      asking.push(this.#ask(ask));
    }
    await this.#time.advance(200_000);
    await Promise.all(asking);
    return this.#verdict;
  }

  get #nowMs(): number {
    return this.#time.monotonicMs() - this.#startMs;
  }

  get #resultMs(): number {
    return this.#history.isConsented ? RESULT_MS : 0;
  }

  /** How long a fact answers further requests at most. */
  get #longestMs(): number {
    return Math.max(this.#history.keepMs, this.#resultMs);
  }

  #epochMs(): number {
    return EPOCH_MS + this.#nowMs;
  }

  #route(clock: Clock, cache: FactCache): LookupRoute {
    const factCache = this.#watched(cache);
    const { keepMs } = this.#history;
    const parts = { factCache, keepMs, admission: OPEN_AUTHORIZER, offer: this.#offer };
    const direct: LookupRoute = {
      consent: () => Promise.resolve({ kind: 'read', status: undefined }),
      close: () => Promise.resolve(),
      lookUp: (lookup, session) => this.#lookUp(lookup, session, clock, factCache),
    };
    const route = this.#history.isConsented ? direct : new SharedLookups(direct, parts);
    const kept = new KeptAnswers(route, parts);
    return {
      ...direct,
      delivered: (facts, session) => kept.delivered(facts, session),
      lookUp: async (lookup, session) => {
        const asked = this.#askedBy(session.request);
        asked.lastLookUpAtMs = this.#nowMs;
        const outcome = await kept.lookUp(lookup, session);
        if (outcome.kind === 'facts') for (const fact of outcome.facts) this.#tell(asked, fact);
        return outcome;
      },
    };
  }

  #tell(asked: Asked, fact: TimedFact): void {
    asked.told.add(nameOf(fact));
    const reply = this.#replies.find(({ replyId }) => replyId === fact.replyId);
    if (reply === undefined) throw new Error('A fact that no lookup told.');
    if (reply.asked !== asked) this.#verdict.toldAgain += 1;
    if (reply.asked.ask.asker !== asked.ask.asker) this.#verdict.anothersFacts += 1;
    if (reply.leftAtMs < asked.cameInAtMs - this.#longestMs) this.#verdict.tooOldFacts += 1;
  }

  /** Notes when each reply is kept. */
  #watched(factCache: FactCache): FactCache {
    return {
      recall: (...asked) => factCache.recall(...asked),
      keep: async (callerKey, number, fact) => {
        await factCache.keep(callerKey, number, fact);
        for (const reply of this.#replies) {
          if (reply.replyId !== fact.replyId) continue;
          reply.keptAtMs = Math.min(reply.keptAtMs, this.#nowMs);
        }
      },
    };
  }

  async #lookUp(
    lookup: Lookup,
    { request, number }: LookupSession,
    clock: Clock,
    factCache: FactCache,
  ): Promise<LookupOutcome> {
    const asked = this.#askedBy(request);
    const { ask } = asked;
    asked.lookups.push(lookup.operation);
    if (asked.lookups.length > 20) throw new Error('Lookups without an end.');
    const leftAtMs = clock.monotonicMs();
    const left = { atMs: this.#nowMs, wallMs: clock.nowMs() };
    request.onLeaving?.(leftAtMs);
    const failed = (code: LookupFailureCode): LookupOutcome => ({
      kind: 'failed',
      failed: { lookup, failure: { code, reach: 'number' } },
    });
    const isOver = (ms: number): Promise<boolean> =>
      this.#time.sleep(ms, request.signal.asAbortSignal()).then(
        () => false,
        () => true,
      );
    if (await isOver(ask.latencyMs * ask.answeredAt)) return failed('OPERATOR_TIMEOUT');
    if (ask.fails) return failed('OPERATOR_UNAVAILABLE');
    const said = this.#lookupsFor(lookup).map((one) =>
      this.#line.answer(one, ask, this.#nowMs, left.wallMs),
    );
    if (await isOver(ask.latencyMs * (1 - ask.answeredAt))) return failed('OPERATOR_TIMEOUT');
    const replyId = `reply ${this.#replies.length}`;
    const repliedAtMs = clock.monotonicMs();
    const isHeard = !this.#history.isConsented;
    const times = { toldBy: 'one', leftAtMs, repliedAtMs, replyId, isHeard };
    const facts = said.map(({ fact }): TimedFact => ({ ...fact, ...times }));
    for (const one of said) {
      this.#replies.push({ ...one, asked, replyId, leftAtMs: left.atMs, keptAtMs: Infinity });
    }
    if (!this.#history.isConsented) return { kind: 'facts', facts };
    await Promise.all(facts.map((fact) => factCache.keep(request, number, fact)));
    return ask.isGone ? failed('CONSENT_PENDING') : { kind: 'facts', facts };
  }

  #lookupsFor(lookup: Lookup): readonly Lookup[] {
    if (!this.#history.repliesBringBoth) return [lookup];
    const date = { operation: 'retrieve-date' } as const;
    return lookup.operation === 'check' ? [date, lookup] : [date];
  }

  async #ask(ask: Ask): Promise<void> {
    const replica = this.#replicas[this.#history.isRedis ? ask.replica : 0];
    if (replica === undefined) throw new Error('There is no such replica.');
    this.#redis.commandMs = ask.commandMs;
    const { asker, patienceMs } = ask;
    const over = new LightAbortSignal();
    const deadlineMs = replica.clock.monotonicMs() + patienceMs;
    const request = requestAt(replica.clock, { ...asker, signal: over, deadlineMs });
    void this.#time.sleep(patienceMs).then(() => over.abort());
    const asked: Asked = {
      ask,
      cameInAtMs: this.#nowMs,
      told: new Set(),
      lookups: [],
      lastLookUpAtMs: -Infinity,
      isAlone: this.#underWay === 0,
    };
    if (!asked.isAlone) for (const other of this.#asked.values()) other.isAlone = false;
    this.#asked.set(request.correlator.name, asked);
    const executor = executorOn(replica.route, request, this.#offer);
    this.#underWay += 1;
    await askAll(executor, ALICE, ask.questions);
    this.#underWay -= 1;
    // With consent the facts are kept before the answer.
    const isJudged = !this.#history.isConsented;
    const isLate = this.#nowMs > asked.cameInAtMs + patienceMs;
    if (isJudged && isLate) this.#verdict.outlivedDeadlines += 1;
    for (const question of ask.questions) this.#judge(question, executor, asked);
    this.#judgeLookups(asked);
    if (!ask.isGone && !over.aborted) executor.delivered();
  }

  #askedBy({ correlator }: LookupRequest): Asked {
    const asked = this.#asked.get(correlator.name);
    if (asked === undefined) throw new Error('A request that was not made.');
    return asked;
  }

  #judge(question: Question, executor: Executor, asked: Asked): void {
    const answer = answerKnown(executor, ALICE, question);
    if (answer instanceof Error) {
      this.#verdict.withoutAnswer += 1;
      return;
    }
    if (answer.kind !== 'window' || answer.swapped || question.about !== 'window') return;
    this.#verdict.falses += 1;
    const windowMs = question.maxAgeHours * HOUR_MS;
    const held = this.#replies.filter((reply) => this.#isHeld(reply, asked));
    const sayingFalse = this.#replies.filter(
      (reply) => asked.told.has(nameOfReply(reply)) && this.#unchangedMs(reply) >= windowMs,
    );
    const isOutdated = sayingFalse.every((reply) =>
      held.some((other) => this.#outdates(other, reply, windowMs)),
    );
    if (isOutdated) this.#verdict.wrongFalses += 1;
  }

  /** Whether the request got it, or could recall it at its last lookup. */
  #isHeld(reply: Reply, { ask, told, lastLookUpAtMs }: Asked): boolean {
    if (told.has(nameOfReply(reply))) return true;
    return (
      reply.asked.ask.asker === ask.asker &&
      reply.keptAtMs < lastLookUpAtMs &&
      reply.leftAtMs + this.#longestMs > this.#nowMs + SLACK_MS
    );
  }

  /** Whether it shows a swap within the window that the `false` did not know. */
  #outdates(other: Reply, reply: Reply, windowMs: number): boolean {
    const windowStartMs = reply.leftAtMs - windowMs;
    if (!this.#line.swappedBetween(windowStartMs, this.#nowMs)) return false;
    const { fact, changeAtMs } = other;
    if (fact.operation === 'check') {
      const sinceMs = reply.leftAtMs - this.#unchangedMs(reply);
      return fact.swapped && other.leftAtMs - fact.maxAgeHours * HOUR_MS >= sinceMs + SLACK_MS;
    }
    if (changeAtMs === undefined || other.replyId === reply.replyId) return false;
    if (changeAtMs <= windowStartMs) return false;
    return reply.fact.operation === 'check'
      ? changeAtMs > reply.answeredAtMs
      : changeAtMs > (reply.changeAtMs ?? windowStartMs);
  }

  /** For how long before it left nothing had changed, by its fact. */
  #unchangedMs({ fact }: Reply): number {
    if (fact.operation === 'check') return fact.swapped ? -Infinity : fact.maxAgeHours * HOUR_MS;
    const { latestSimChange, monitoredPeriodDays = 0, sentAtMs } = fact;
    if (latestSimChange !== null) {
      return sentAtMs - latestSimChange.epochMs - MARGIN_HOURS * HOUR_MS;
    }
    const isTrusted = this.#history.trustMonitoredPeriod;
    return isTrusted ? (monitoredPeriodDays * 24 - MARGIN_HOURS) * HOUR_MS : -Infinity;
  }

  #judgeLookups({ ask, lookups, isAlone }: Asked): void {
    this.#verdict.lookups.push(lookups.length);
    if (!isAlone) return;
    const windows = ask.questions.filter(({ about: asks }) => asks === 'window').length;
    const checks = lookups.filter((operation) => operation === 'check').length;
    const mayCheck = windows === 0 ? 0 : 1 + Math.ceil(Math.log2(windows));
    if (checks > mayCheck || lookups.length - checks > 1) this.#verdict.tooManyLookups += 1;
  }
}

/** The name of one fact of a reply. */
function nameOf({ replyId, operation }: Pick<TimedFact, 'replyId' | 'operation'>): string {
  return `${replyId} ${operation}`;
}

function nameOfReply({ replyId, fact: { operation } }: Reply): string {
  return nameOf({ replyId, operation });
}

const OPERATIONS: Readonly<Record<History['operations'], ReadonlySet<Operation>>> = {
  both: new Set<Operation>(['retrieve-date', 'check']),
  date: new Set<Operation>(['retrieve-date']),
  check: new Set<Operation>(['check']),
};
