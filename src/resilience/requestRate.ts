import type { Clock } from '../system/clock.ts';
import type { Abortable, Urgency } from '../system/urgency.ts';
import type { ExchangeKind } from './retries.ts';

const SECOND_MS = 1000;

/**
 * The priority of waiting exchanges. The token of a lookup expires, and one that an owner has consented to cannot be
 * acquired again; a prompt begins new work, and comes last. The company's own directory is not part of any operator's
 * contract.
 */
const RANK: Readonly<Record<ExchangeKind, number>> = {
  lookup: 0,
  'token-poll': 1,
  'client-credentials': 2,
  'backchannel-authentication': 3,
  directory: 4,
};

/** Seconds until an exchange may begin that cannot begin in time; `undefined` where it may begin now. */
export type Turn = number | undefined;

export interface RateLimit {
  readonly exchanges: number;
  readonly spanMs: number;
}

/** 5 exchanges in 1 s, for example, or 1 in 2 s for half a request per second. Pure. */
export function rateLimitOf(requestsPerSecond: number): RateLimit {
  const exchanges = Math.max(1, Math.floor(requestsPerSecond));
  return { exchanges, spanMs: (exchanges / requestsPerSecond) * SECOND_MS };
}

/**
 * When an exchange with `others` ahead of it may begin.
 *
 * @param begunAtMs when the latest exchanges began, in order, at most as many as the limit allows
 * @returns a time on the same clock; `nowMs` where it may begin at once. Pure.
 */
export function mayBeginAtMs(
  { exchanges, spanMs }: RateLimit,
  begunAtMs: readonly number[],
  ahead: number,
  nowMs: number,
): number {
  const missing = exchanges - begunAtMs.length;
  // Of the exchanges that begin now or next, each takes the place of the one that began a span before it.
  const replaced = (ahead % exchanges) - missing;
  const freeAtMs = replaced < 0 ? nowMs : (begunAtMs[replaced] ?? nowMs) + spanMs;
  return Math.max(nowMs, freeAtMs) + Math.floor(ahead / exchanges) * spanMs;
}

interface RateTicket extends Abortable {
  readonly deadlineMs: number;
  readonly rank: number;
  call(turn: Turn): void;
}

/**
 * Limits the exchanges with one operator, over all its endpoints, to the rate of its contract. An exchange that cannot
 * begin before its deadline is refused at once, so that few wait; one that others overtake may be refused as late as
 * its deadline.
 */
export class RequestRate {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #begunAtMs: number[] = [];
  readonly #waiting: RateTicket[] = [];
  #isServing = false;

  constructor(requestsPerSecond: number, clock: Clock) {
    this.#limit = rateLimitOf(requestsPerSecond);
    this.#clock = clock;
  }

  /** Resolves when the exchange may begin, and counts it from then on; or when it cannot begin before the deadline. */
  turn(kind: ExchangeKind, { deadlineMs, signal }: Urgency): Promise<Turn> {
    const nowMs = this.#clock.monotonicMs();
    const rank = RANK[kind];
    const mayBeginMs = this.#mayBeginMs(this.#aheadOf(rank), nowMs);
    if (mayBeginMs <= nowMs) {
      this.#begin(nowMs);
      return Promise.resolve(undefined);
    }
    if (mayBeginMs >= deadlineMs || signal?.aborted === true) {
      return Promise.resolve(notInTime(mayBeginMs - nowMs));
    }
    return new Promise((resolve) => {
      const ticket: RateTicket = {
        deadlineMs,
        rank,
        call: (turn) => {
          this.#waiting.splice(this.#waiting.indexOf(ticket), 1);
          signal?.delete(ticket);
          resolve(turn);
        },
        abort: () => this.#refuse(ticket),
      };
      signal?.add(ticket);
      this.#waiting.splice(this.#aheadOf(rank), 0, ticket);
      if (!this.#isServing) void this.#serve();
    });
  }

  /** Sleeps until the next exchange may begin or the next deadline, while exchanges wait. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#waiting.length > 0) {
      const nowMs = this.#clock.monotonicMs();
      const deadlines = this.#waiting.map(({ deadlineMs }) => deadlineMs);
      const wakeAtMs = Math.min(this.#mayBeginMs(0, nowMs), ...deadlines);
      if (wakeAtMs > nowMs) await this.#clock.sleep(wakeAtMs - nowMs);
      this.#step();
    }
    this.#isServing = false;
  }

  #step(): void {
    const nowMs = this.#clock.monotonicMs();
    const late = this.#waiting.filter(({ deadlineMs }) => deadlineMs <= nowMs);
    for (const ticket of late) this.#refuse(ticket);
    const [next] = this.#waiting;
    if (next === undefined || this.#mayBeginMs(0, nowMs) > nowMs) return;
    this.#begin(nowMs);
    next.call(undefined);
  }

  #begin(nowMs: number): void {
    this.#begunAtMs.push(nowMs);
    if (this.#begunAtMs.length > this.#limit.exchanges) this.#begunAtMs.shift();
  }

  /** Reports when an exchange that arrives now, in its place, could begin. */
  #refuse(ticket: RateTicket): void {
    const nowMs = this.#clock.monotonicMs();
    const ahead = this.#aheadOf(ticket.rank) - 1;
    ticket.call(notInTime(this.#mayBeginMs(ahead, nowMs) - nowMs));
  }

  #mayBeginMs(ahead: number, nowMs: number): number {
    return mayBeginAtMs(this.#limit, this.#begunAtMs, ahead, nowMs);
  }

  #aheadOf(rank: number): number {
    return this.#waiting.findLastIndex((ticket) => ticket.rank <= rank) + 1;
  }
}

function notInTime(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / SECOND_MS));
}
