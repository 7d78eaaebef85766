import { DpopExchanges, type ProofSigner } from '../../src/resilience/dpopExchanges.ts';
import type { Clock } from '../../src/system/clock.ts';
import type { ExchangeContext } from '../../src/tokens/tokenManager.ts';

export interface NonceRule {
  /** How long a nonce is the current one, which counts like the one before; `undefined` where each counts once. */
  readonly periodMs: number | undefined;
  /** Whether the headers of a reply arrive at its end: the exchanges that wait for them are late. */
  readonly isLate: boolean;
}

const ADDRESS = 'https://operator.example/';
const REQUEST = { headers: [], contentType: undefined, body: undefined, correlator: 'one' };

/** Challenges each exchange whose proof does not name a valid nonce (RFC 9449 §8 and §9), at once. */
export class NonceServer {
  challenges = 0;
  readonly #rule: NonceRule;
  readonly #clock: Clock;
  readonly #unused = new Set<string>();
  #given = 0;

  constructor(rule: NonceRule, clock: Clock) {
    this.#rule = rule;
    this.#clock = clock;
  }

  /** Carries out an exchange of a process once it is not challenged. */
  async carry<T>(
    exchanges: DpopExchanges,
    isLookup: boolean,
    { signal, onFirstByte }: Pick<ExchangeContext, 'signal' | 'onFirstByte'>,
    reply: () => Promise<T>,
  ): Promise<T> {
    let replying: Promise<T> | undefined;
    await exchanges.carry({ isLookup, address: ADDRESS }, signal, async (bind) => {
      const { headers, onHeaders } = await bind(REQUEST, ADDRESS);
      onFirstByte?.();
      const times = { sentAtMs: this.#clock.nowMs(), leftAtMs: this.#clock.monotonicMs() };
      const isTaken = this.#takes(headers[0]);
      const named = { 'dpop-nonce': this.#next(), 'content-type': 'application/json' };
      if (!isTaken) {
        this.challenges += 1;
        const body = JSON.stringify({ error: 'use_dpop_nonce' });
        const challenge = { status: isLookup ? 401 : 400, headers: named, body };
        return { kind: 'reply', reply: challenge, ...times };
      }
      replying = reply();
      if (this.#rule.isLate) await replying;
      onHeaders?.(200, named);
      await replying;
      return { kind: 'reply', reply: { status: 200, headers: named, body: '' }, ...times };
    });
    if (replying === undefined) throw new Error('Each challenge named another nonce.');
    return replying;
  }

  #next(): string {
    if (this.#rule.periodMs !== undefined) return String(this.#period(this.#rule.periodMs));
    this.#given += 1;
    this.#unused.add(String(this.#given));
    return String(this.#given);
  }

  #takes(nonce: string | undefined): boolean {
    if (nonce === undefined) return false;
    const { periodMs } = this.#rule;
    if (periodMs === undefined) return this.#unused.delete(nonce);
    return this.#period(periodMs) - Number(nonce) <= 1;
  }

  #period(periodMs: number): number {
    return Math.floor(this.#clock.monotonicMs() / periodMs);
  }
}

/** Its proofs only name the nonce. */
const SIGNER: ProofSigner = {
  bind: (request, _url, nonce) =>
    Promise.resolve({ ...request, headers: nonce === undefined ? [] : [nonce] }),
};

/** The exchanges of one process. */
export function exchangesOf(clock: Clock): DpopExchanges {
  return new DpopExchanges(SIGNER, clock);
}
