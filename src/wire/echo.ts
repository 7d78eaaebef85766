import type { Clock } from '../system/clock.ts';
import type { HttpReply, UnprovenOrigin } from './exchange.ts';

/** What to expect of the operator's correlator header (docs/design.md, "Whose reply it is"). */
export type EchoSetting = 'auto' | 'always' | 'never';

/** A kept connection may carry a reply to another exchange; a fresh one and a stream of HTTP/2 do not. */
export type ReplyWay = 'stream' | 'fresh connection' | 'kept connection';

/** `proven` by the echo or by a fresh connection; `unproven` for an error without the expected echo. */
export type Origin = 'proven' | 'unproven' | { readonly refused: UnprovenOrigin };

/**
 * How replies over HTTP/1.1 without an echo are handled:
 *
 * - `fresh`: each exchange takes a fresh connection, which proves its reply.
 * - `checked`: connections are kept, and a reply is unproven until a later check.
 * - `alike`: connections are kept, since all replies are equivalent.
 */
export type SilentReplies = 'fresh' | 'checked' | 'alike';

/** Longer than an idle connection is kept, so that connections with a stray reply are closed by then. */
const DISTRUST_SILENT_MS = 60_000;

export type ReplyCheck = Pick<EchoPolicy, 'needsFreshConnection' | 'originOf' | 'distrust'>;

/**
 * Checks replies by their correlator. `auto` learns: until the endpoint has echoed once, each exchange takes a fresh
 * connection, so that a late reply cannot answer the next question. `never` always does so, and does not read the
 * header: a gateway may write its own correlators.
 */
export class EchoPolicy {
  readonly #setting: EchoSetting;
  readonly #header: string;
  readonly #silent: SilentReplies;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #hasEchoed = false;
  #isEchoDue: boolean;
  #distrustedUntilMs = -Infinity;

  /** @param header in lower case */
  constructor(
    setting: EchoSetting,
    silent: SilentReplies,
    clock: Pick<Clock, 'monotonicMs'>,
    header = 'x-correlator',
  ) {
    this.#setting = setting;
    this.#isEchoDue = setting === 'always';
    this.#silent = silent;
    this.#clock = clock;
    this.#header = header;
  }

  /** Whether exchanges need fresh connections over HTTP/1.1. */
  get needsFreshConnection(): boolean {
    if (this.#distrustedUntilMs > this.#clock.monotonicMs()) return true;
    return !this.#isEchoDue && this.#silent === 'fresh';
  }

  /**
   * A reply with another correlator is refused whatever its status; a reply without one is refused only where it is a
   * success: gateways in front of an operator send errors of their own without it.
   *
   * @param correlator of the request before the reply
   */
  originOf(
    status: number,
    headers: HttpReply['headers'],
    correlator: string,
    way: ReplyWay,
  ): Origin {
    if (this.#setting === 'never') return this.#originOfSilent(way);
    const echoed = headers[this.#header];
    if (echoed === correlator) {
      this.#hasEchoed = true;
      this.#isEchoDue = true;
      this.#distrustedUntilMs = -Infinity;
      return 'proven';
    }
    if (echoed !== undefined) {
      return {
        refused: this.#hasEchoed
          ? 'another correlator'
          : 'another correlator, and ours was never echoed',
      };
    }
    if (!this.#isEchoDue) return this.#originOfSilent(way);
    if (status >= 200 && status < 300) {
      return {
        refused: this.#hasEchoed ? 'no correlator' : 'no correlator, and ours was never echoed',
      };
    }
    return way === 'kept connection' ? 'unproven' : 'proven';
  }

  /** Takes fresh connections until the endpoint echoes again, or for a while where it never has. */
  distrust(): void {
    this.#distrustedUntilMs = this.#isEchoDue
      ? Infinity
      : this.#clock.monotonicMs() + DISTRUST_SILENT_MS;
  }

  #originOfSilent(way: ReplyWay): Origin {
    return way === 'kept connection' && this.#silent === 'checked' ? 'unproven' : 'proven';
  }
}
