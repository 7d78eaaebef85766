import type { HttpReply } from './exchange.ts';

/** `OPERATOR_CORRELATOR_ECHO`: what we may expect of the operator's `x-correlator` (design §4). */
export type EchoSetting = 'auto' | 'always' | 'never';

/** What a reply's `x-correlator` says about whose reply it is. */
export type EchoVerdict = 'ours' | 'another' | 'absent';

/** Compares the correlator that a reply carries with the one that was sent. */
export function judgeEcho(sent: string, headers: HttpReply['headers']): EchoVerdict {
  const echoed = headers['x-correlator'];
  if (echoed === undefined) return 'absent';
  return echoed === sent ? 'ours' : 'another';
}

/** Tells the replies of one endpoint apart. */
export interface ReplyCheck {
  /** Whether only a connection that carried nothing before can be trusted. */
  readonly needsFreshConnection: boolean;
  /** Why a reply is refused; `undefined` when it stands. */
  refuses(verdict: EchoVerdict, status: number): string | undefined;
}

/**
 * Whether replies of one endpoint can be told apart by their correlator.
 *
 * `auto` learns it: until the endpoint has echoed once, nothing but a fresh connection for every
 * exchange keeps a late reply from answering the next question. `never` stays there for good.
 */
export class EchoPolicy implements ReplyCheck {
  readonly #setting: EchoSetting;
  #hasEchoed = false;

  constructor(setting: EchoSetting) {
    this.#setting = setting;
  }

  get needsFreshConnection(): boolean {
    return !this.#echoIsDue;
  }

  /**
   * The correlator of another request refuses every status. An absent one refuses only a success:
   * gateways in front of an operator answer errors of their own without it.
   */
  refuses(verdict: EchoVerdict, status: number): string | undefined {
    if (verdict === 'another') return "the reply carries another request's correlator";
    if (verdict === 'absent' && this.#echoIsDue && status >= 200 && status < 300) {
      return 'the reply carries no correlator';
    }
    if (verdict === 'ours') this.#hasEchoed = true;
    return undefined;
  }

  get #echoIsDue(): boolean {
    return this.#setting === 'always' || (this.#setting === 'auto' && this.#hasEchoed);
  }
}
