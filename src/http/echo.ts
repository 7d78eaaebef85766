import type { HttpReply } from './exchange.ts';
import type { UnprovenOrigin } from './replyFlaw.ts';

/** `OPERATOR_CORRELATOR_ECHO`: what to expect of the operator's correlator header (design §4). */
export type EchoSetting = 'auto' | 'always' | 'never';

/** A reply's head, and the request that it came after. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: HttpReply['headers'];
  /** The correlator of the request. */
  readonly correlator: string;
  /** Whether its connection had carried nothing before. */
  readonly isConnectionFresh: boolean;
}

/**
 * Whose reply it is: `proven` by the echo or by a fresh connection; `unproven` where the echo is due and
 * missing, which an error may be; or a reason to refuse it.
 */
export type Origin = 'proven' | 'unproven' | { readonly refused: UnprovenOrigin };

/** Tells the replies of one endpoint apart. */
export interface ReplyCheck {
  /** Whether only a connection that carried nothing before can be trusted. */
  readonly needsFreshConnection: boolean;
  originOf(head: ReplyHead): Origin;
  /** Takes fresh connections until the endpoint echoes again. */
  distrust(): void;
}

/**
 * Whether replies of one endpoint can be told apart by their correlator.
 *
 * `auto` learns it: until the endpoint has echoed once, nothing but a fresh connection for every
 * exchange keeps a late reply from answering the next question. `never` stays there for good, and does
 * not read the header: a gateway may write correlators of its own.
 */
export class EchoPolicy implements ReplyCheck {
  readonly #setting: EchoSetting;
  readonly #header: string;
  #hasEchoed = false;
  #isDistrusted = false;

  /** @param header in lower case */
  constructor(setting: EchoSetting, header = 'x-correlator') {
    this.#setting = setting;
    this.#header = header;
  }

  get needsFreshConnection(): boolean {
    return this.#isDistrusted || !this.#isEchoDue;
  }

  /**
   * The correlator of another request refuses every status. An absent one refuses only a success:
   * gateways in front of an operator answer errors of their own without it.
   */
  originOf({ status, headers, correlator, isConnectionFresh }: ReplyHead): Origin {
    if (this.#setting === 'never') return 'proven';
    const echoed = headers[this.#header];
    if (echoed === correlator) {
      this.#hasEchoed = true;
      this.#isDistrusted = false;
      return 'proven';
    }
    if (echoed !== undefined) {
      return { refused: this.#hasEchoed ? 'another correlator' : 'another correlator, never ours' };
    }
    if (!this.#isEchoDue) return 'proven';
    if (status >= 200 && status < 300) {
      return { refused: this.#hasEchoed ? 'no correlator' : 'no correlator, never ours' };
    }
    return isConnectionFresh ? 'proven' : 'unproven';
  }

  distrust(): void {
    this.#isDistrusted = true;
  }

  get #isEchoDue(): boolean {
    return this.#setting === 'always' || (this.#setting === 'auto' && this.#hasEchoed);
  }
}
