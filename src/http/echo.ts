import type { Clock } from '../system/clock.ts';
import type { HttpReply, UnprovenOrigin } from './exchange.ts';

/** What to expect of the operator's correlator header (docs/design.md, "Whose reply it is"). */
export type EchoSetting = 'auto' | 'always' | 'never';

/** A kept connection may bring what belongs to another exchange; a fresh one and a stream of HTTP/2 do not. */
export type ReplyWay = 'stream' | 'fresh connection' | 'kept connection';

/** `proven` by the echo or by a fresh connection; `unproven` where the echo is due and missing, which an error may be. */
export type Origin = 'proven' | 'unproven' | { readonly refused: UnprovenOrigin };

/**
 * What becomes of replies over HTTP/1.1 that no echo tells apart:
 *
 * - `fresh`: each takes a fresh connection, and is proven by it.
 * - `checked`: connections are kept, and what comes on one is unproven: whether it is the right one shows later.
 * - `alike`: connections are kept, since one reply is as good as another.
 */
export type SilentReplies = 'fresh' | 'checked' | 'alike';

/** Longer than an idle connection is kept: by then, those that a stray reply came on are gone. */
const DISTRUST_SILENT_MS = 60_000;

export type ReplyCheck = Pick<EchoPolicy, 'needsFreshConnection' | 'originOf' | 'distrust'>;

/**
 * Tells replies apart by their correlator. `auto` learns it: until the endpoint has echoed once, nothing but a fresh
 * connection for every exchange keeps a late reply from answering the next question. `never` stays there for good, and
 * does not read the header: a gateway may write correlators of its own.
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

  /** Over HTTP/1.1. */
  get needsFreshConnection(): boolean {
    if (this.#distrustedUntilMs > this.#clock.monotonicMs()) return true;
    return !this.#isEchoDue && this.#silent === 'fresh';
  }

  /**
   * The correlator of another request refuses every status. An absent one refuses only a success:
   * gateways in front of an operator answer errors of their own without it.
   *
   * @param correlator of the request that it came after
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
      return { refused: this.#hasEchoed ? 'another correlator' : 'another correlator, never ours' };
    }
    if (!this.#isEchoDue) return this.#originOfSilent(way);
    if (status >= 200 && status < 300) {
      return { refused: this.#hasEchoed ? 'no correlator' : 'no correlator, never ours' };
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
