import type { Clock } from '../../system/clock.ts';
import type { Abortable } from '../lightAbortSignal.ts';
import type { Urgency } from './bulkhead.ts';
import type { ExchangeKind } from './retryDecision.ts';

const SECOND_MS = 1000;

/**
 * Who goes first. The token of a lookup grows old, and one that an owner has consented to cannot be had
 * again; what prompts an owner begins new work, and goes last.
 */
const PRECEDENCE: readonly ExchangeKind[] = [
  'lookup',
  'token-poll',
  'client-credentials',
  'backchannel-authentication',
  // The company's own, which no contract of an operator's bounds.
  'directory',
];

/** An exchange may begin, or cannot in its time: then again after so many seconds. */
export type Turn =
  { readonly kind: 'now' } | { readonly kind: 'not-in-time'; readonly retryAfterSeconds: number };

/** So many exchanges may begin in any span of so many milliseconds. */
export interface RateLimit {
  readonly exchanges: number;
  readonly spanMs: number;
}

/** The limit of a contract, such as 5 in 1 s, or 1 in 2 s for half a request a second. Pure. */
export function rateLimitOf(requestsPerSecond: number): RateLimit {
  const exchanges = Math.max(1, Math.floor(requestsPerSecond));
  return { exchanges, spanMs: (exchanges / requestsPerSecond) * SECOND_MS };
}

/**
 * When an exchange may begin that has so many others before it.
 *
 * @param begunAtMs when the latest exchanges began, in their order, as many as the limit allows or fewer
 * @returns on the same clock; `nowMs` where it may begin at once. Pure.
 */
export function mayBeginAtMs(
  { exchanges, spanMs }: RateLimit,
  begunAtMs: readonly number[],
  ahead: number,
  nowMs: number,
): number {
  const missing = exchanges - begunAtMs.length;
  // The one that begins now or next takes the place of the one that began a span before it.
  const replaced = (ahead % exchanges) - missing;
  const freeAtMs = replaced < 0 ? nowMs : (begunAtMs[replaced] ?? nowMs) + spanMs;
  return Math.max(nowMs, freeAtMs) + Math.floor(ahead / exchanges) * spanMs;
}

interface RateTicket extends Abortable {
  readonly urgency: Urgency;
  readonly kind: ExchangeKind;
  call(turn: Turn): void;
}

const NOW: Turn = { kind: 'now' };

/**
 * Holds the exchanges with one operator, over all its endpoints, to the rate of its contract.
 *
 * One that cannot begin before its deadline is refused at once, so that few wait; one that has to let
 * others pass may be refused at its deadline.
 */
export class RequestRate {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  /** On the monotonic clock, the latest ones in their order. */
  readonly #begunAtMs: number[] = [];
  readonly #waiting: Readonly<Record<ExchangeKind, Set<RateTicket>>> = {
    lookup: new Set(),
    'token-poll': new Set(),
    'client-credentials': new Set(),
    'backchannel-authentication': new Set(),
    directory: new Set(),
  };
  #isServing = false;

  constructor(requestsPerSecond: number, clock: Clock) {
    this.#limit = rateLimitOf(requestsPerSecond);
    this.#clock = clock;
  }

  /** Resolves when an exchange may begin, which counts from then on, or cannot before the deadline. */
  turn(kind: ExchangeKind, urgency: Urgency): Promise<Turn> {
    const nowMs = this.#clock.monotonicMs();
    const mayBeginMs = this.#mayBeginMs(this.#aheadOf(kind), nowMs);
    if (mayBeginMs <= nowMs) {
      this.#begin(nowMs);
      return Promise.resolve(NOW);
    }
    if (mayBeginMs >= urgency.deadlineMs || urgency.signal?.aborted === true) {
      return Promise.resolve(notInTime(mayBeginMs - nowMs));
    }
    return this.#wait(kind, urgency);
  }

  #wait(kind: ExchangeKind, urgency: Urgency): Promise<Turn> {
    const { signal } = urgency;
    return new Promise((resolve) => {
      const waiting = this.#waiting[kind];
      const ticket: RateTicket = {
        urgency,
        kind,
        call: (turn) => {
          waiting.delete(ticket);
          signal?.delete(ticket);
          resolve(turn);
        },
        abort: () => this.#refuse(ticket),
      };
      signal?.add(ticket);
      waiting.add(ticket);
      if (!this.#isServing) void this.#serve();
    });
  }

  /** Sleeps until the next exchange may begin, or the next deadline, as long as one waits. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    for (let next = this.#first(); next !== undefined; next = this.#first()) {
      const nowMs = this.#clock.monotonicMs();
      const wakeAtMs = Math.min(this.#mayBeginMs(0, nowMs), this.#nextDeadlineMs());
      if (wakeAtMs > nowMs) await this.#clock.sleep(wakeAtMs - nowMs);
      this.#step();
    }
    this.#isServing = false;
  }

  #step(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const ticket of this.#inTurn()) {
      if (ticket.urgency.deadlineMs <= nowMs) this.#refuse(ticket);
    }
    const next = this.#first();
    if (next === undefined || this.#mayBeginMs(0, nowMs) > nowMs) return;
    this.#begin(nowMs);
    next.call(NOW);
  }

  #begin(nowMs: number): void {
    this.#begunAtMs.push(nowMs);
    if (this.#begunAtMs.length > this.#limit.exchanges) this.#begunAtMs.shift();
  }

  #refuse(ticket: RateTicket): void {
    this.#waiting[ticket.kind].delete(ticket);
    const nowMs = this.#clock.monotonicMs();
    ticket.call(notInTime(this.#mayBeginMs(this.#aheadOf(ticket.kind), nowMs) - nowMs));
  }

  #mayBeginMs(ahead: number, nowMs: number): number {
    return mayBeginAtMs(this.#limit, this.#begunAtMs, ahead, nowMs);
  }

  /** Those that go before one that comes now. */
  #aheadOf(kind: ExchangeKind): number {
    const before = PRECEDENCE.slice(0, PRECEDENCE.indexOf(kind) + 1);
    return before.reduce((ahead, one) => ahead + this.#waiting[one].size, 0);
  }

  #inTurn(): RateTicket[] {
    return PRECEDENCE.flatMap((kind) => [...this.#waiting[kind]]);
  }

  #first(): RateTicket | undefined {
    for (const kind of PRECEDENCE) {
      for (const ticket of this.#waiting[kind]) return ticket;
    }
    return undefined;
  }

  #nextDeadlineMs(): number {
    return this.#inTurn().reduce(
      (next, { urgency }) => Math.min(next, urgency.deadlineMs),
      Infinity,
    );
  }
}

function notInTime(waitMs: number): Turn {
  return { kind: 'not-in-time', retryAfterSeconds: Math.max(1, Math.ceil(waitMs / SECOND_MS)) };
}
