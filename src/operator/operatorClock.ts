import type { DateFact } from '../domain/fact.ts';
import type { HttpReply } from '../wire/exchange.ts';
import { singleValue } from '../wire/headers.ts';
import type { Log } from '../log/log.ts';
import type { OperatorSettings } from './operatorSettings.ts';

/** The margin where an operator's dates have none: clocks differ, and a reply takes a while. */
const MIN_MARGIN_MS = 5 * 60_000;

const HOUR_MS = 3_600_000;

/**
 * Compares our clock with an operator's, by the header `Date` of its replies (RFC 9110 §6.6.1). Our clock decides how
 * long ago a date was: if it were days ahead, it would answer `false` about a swap of yesterday.
 */
export class OperatorClock {
  readonly #marginMs: number;
  /** The clocks of all operators, including this one. */
  readonly #all: Set<OperatorClock>;
  readonly #log: Log;
  #aheadMs: number | undefined;

  constructor(
    { dateMarginHours }: Pick<OperatorSettings, 'dateMarginHours'>,
    all: Set<OperatorClock>,
    log: Log,
  ) {
    this.#marginMs = Math.max(MIN_MARGIN_MS, dateMarginHours * HOUR_MS);
    this.#all = all.add(this);
    this.#log = log;
  }

  /** By how much our clock was ahead of the operator's at the latest reply; `undefined` before the first. */
  get aheadMs(): number | undefined {
    return this.#aheadMs;
  }

  /** The fact, as undated where its own reply does not show that the clocks agree. Other facts are not affected. */
  judge(fact: DateFact, { headers }: Pick<HttpReply, 'headers'>): DateFact {
    const dateMs = Date.parse(singleValue(headers['date']) ?? '');
    if (Number.isNaN(dateMs)) {
      if (this.#aheadMs === undefined) return fact;
      this.#log.warn(
        'A reply has no Date header, unlike others of this operator: its date of a SIM change answers no window.',
      );
      return { ...fact, isUndated: true };
    }
    this.#aheadMs = fact.sentAtMs - dateMs;
    if (!this.#isWrong) return fact;
    const agree = [...this.#all].some((other) => other !== this && this.#agreesWith(other));
    this.#log.warn(agree ? OURS_IS_WRONG : CLOCKS_DIFFER, {
      aheadHours: Math.round(this.#aheadMs / HOUR_MS),
    });
    return { ...fact, isUndated: true };
  }

  get #isWrong(): boolean {
    return Math.abs(this.#aheadMs ?? 0) > this.#marginMs;
  }

  #agreesWith(other: OperatorClock): boolean {
    const apartMs = Math.abs((this.#aheadMs ?? 0) - (other.#aheadMs ?? 0));
    return other.#isWrong && apartMs < this.#marginMs;
  }
}

const OURS_IS_WRONG =
  'The clock of this machine is wrong, as several operators show: their dates answer no window until it is set.';
const CLOCKS_DIFFER =
  'The clocks of this machine and of the operator differ by more than dateMarginHours: its dates answer no window.';
