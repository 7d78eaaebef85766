import { setTimeout as sleep } from 'node:timers/promises';
import { freshStateKey, startRedis } from '../redisServer.ts';
import { Fleet } from './fleet.ts';
import { StrictOperator, type Offences } from './strictOperator.ts';

/** What came of it. */
export interface Findings {
  readonly consents: number;
  readonly prompts: number;
  readonly polls: number;
  readonly kills: number;
  readonly freezes: number;
  /** How each request for an answer ended, the ones that were asked again included. */
  readonly heard: ReadonlyMap<string, number>;
  /** How each person's wish ended. */
  readonly ends: ReadonlyMap<string, number>;
  readonly wrong: Wrongness;
}

/** What must be zero, each. */
export interface Wrongness extends Offences {
  wrongAnswers: number;
  answersToAnotherCaller: number;
  requestsWithoutAnEnd: number;
  consentsWithoutAnEnd: number;
  defects: number;
}

/** What can be taken away, to see what it is good for. */
export const GUARDS = ['shared-store', 'doubt'] as const;

export type Guard = (typeof GUARDS)[number];

const REPLICAS = 3;
const AT_ONCE = 60;
const REQUEST_TIMEOUT_MS = 3000;
/** A request that is not answered by then hangs. */
const HANGS_AFTER_MS = REQUEST_TIMEOUT_MS + 5000;
/** Doubt, a second try and all waits included; whoever has no answer by then never gets one. */
const LONGEST_CONSENT_MS = 90_000;
const KILL_EVERY_MS = 1500;
const FREEZE_EVERY_MS = 7000;
const FREEZE_MS = 1500;

const ENVIRONMENT = {
  OPERATOR_CLIENT_ID: 'chaos',
  OPERATOR_CLIENT_SECRET: 'chaos',
  OPERATOR_FLOW: '3-legged',
  OPERATOR_OPERATIONS: 'retrieve-date',
  OPERATOR_TIMEOUT_MS: '1000',
  REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
  CONSENT_WAIT_MS: '1500',
  // Longer than a prompt lives, after an exchange of two tries.
  CONSENT_DOUBT_SECONDS: '12',
  CONSENT_DENIED_SECONDS: '3',
};

/** At most a thousand consents, one a test number, while replicas die and Redis falls silent. */
export async function runConsentChaos(consents: number, without?: Guard): Promise<Findings> {
  const redis = await startRedis();
  const operator = new StrictOperator();
  const operatorUrl = await operator.listen();
  const fleet = new Fleet({
    ...ENVIRONMENT,
    OPERATOR_AUTH_URL: operatorUrl,
    OPERATOR_SIM_SWAP_URL: operatorUrl,
    ...(without === 'doubt' ? { CONSENT_DOUBT_SECONDS: '1' } : {}),
    REDIS_URL: without === 'shared-store' ? '' : redis.url,
    STATE_KEY: freshStateKey(),
  });
  const tally = new Tally(operator);
  const over = new AbortController();
  let freezes = 0;
  const everyNow = async (ms: number, act: () => Promise<void>): Promise<void> => {
    while (!over.signal.aborted) {
      await sleep(ms * (0.5 + Math.random()), undefined, { signal: over.signal }).catch(() => '');
      if (!over.signal.aborted) await act();
    }
  };
  try {
    await fleet.start(REPLICAS);
    const trouble = [
      everyNow(KILL_EVERY_MS, () => fleet.killOne()),
      everyNow(FREEZE_EVERY_MS, async () => {
        freezes += 1;
        redis.freeze();
        await sleep(FREEZE_MS);
        redis.thaw();
      }),
    ];
    const numbers = Array.from({ length: consents }, (_, i) => String(i).padStart(3, '0'));
    const worker = async (): Promise<void> => {
      for (let last = numbers.pop(); last !== undefined; last = numbers.pop()) {
        await pursueAll(`+447700900${last}`, fleet, tally);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    over.abort();
    await Promise.all(trouble);
  } finally {
    over.abort();
    fleet.stop();
    operator.close();
    await redis.kill();
  }
  const { prompts, polls, offences } = operator;
  const { heard, ends, wrong } = tally;
  const { kills } = fleet;
  return {
    consents,
    prompts,
    polls,
    kills,
    freezes,
    heard,
    ends,
    wrong: { ...wrong, ...offences },
  };
}

/** One number: several requests of one caller at once and, for some numbers, one of another. */
async function pursueAll(number: string, fleet: Fleet, tally: Tally): Promise<void> {
  const requests = 1 + Math.floor(Math.random() * 3);
  const callers = Array.from({ length: requests }, () => 'anna');
  if (Math.random() < 0.2) callers.push('bert');
  await Promise.all(callers.map((caller) => pursue(number, caller, fleet, tally)));
}

/** Asks until there is an end, as an app does. */
async function pursue(number: string, caller: string, fleet: Fleet, tally: Tally): Promise<void> {
  const givesUpAtMs = Date.now() + LONGEST_CONSENT_MS;
  while (Date.now() < givesUpAtMs) {
    const query = new URLSearchParams({ number, caller }).toString();
    const reply = await ask(`${fleet.anyUrl()}/?${query}`, tally);
    const end = tally.count(reply, number, caller);
    if (end === 'end') return;
    await sleep(Math.min((reply.failure?.retryAfterSeconds ?? 0.2) * 1000, 2000));
  }
  tally.wrong.consentsWithoutAnEnd += 1;
}

interface Reply {
  readonly date?: string;
  readonly failure?: { readonly code: string; readonly retryAfterSeconds?: number };
}

async function ask(url: string, tally: Tally): Promise<Reply> {
  const hangs = AbortSignal.timeout(HANGS_AFTER_MS);
  try {
    const response = await fetch(url, { signal: hangs });
    return (await response.json()) as Reply;
  } catch {
    if (hangs.aborted) tally.wrong.requestsWithoutAnEnd += 1;
    return { failure: { code: 'the replica died' } };
  }
}

/** Ends that an app tells its user; after all else it asks again. */
const ENDS: ReadonlySet<string> = new Set(['CONSENT_DENIED', 'CONSENT_EXPIRED']);

class Tally {
  readonly heard = new Map<string, number>();
  readonly ends = new Map<string, number>();
  readonly wrong: Omit<Wrongness, keyof Offences> = {
    wrongAnswers: 0,
    answersToAnotherCaller: 0,
    requestsWithoutAnEnd: 0,
    consentsWithoutAnEnd: 0,
    defects: 0,
  };
  readonly #operator: StrictOperator;

  constructor(operator: StrictOperator) {
    this.#operator = operator;
  }

  count({ date, failure }: Reply, number: string, caller: string): 'end' | 'again' {
    const heard = failure?.code ?? 'a date';
    increment(this.heard, heard);
    if (heard === 'DEFECT') this.wrong.defects += 1;
    if (failure !== undefined && !ENDS.has(heard)) return 'again';
    increment(this.ends, heard);
    if (failure !== undefined) return 'end';
    const judged = this.#operator.isRightFor(date ?? '', number, caller);
    if (judged === 'wrong') this.wrong.wrongAnswers += 1;
    if (judged === "another's") this.wrong.answersToAnotherCaller += 1;
    return 'end';
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
