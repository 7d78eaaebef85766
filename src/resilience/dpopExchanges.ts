import type { Clock } from '../system/clock.ts';
import { COMMON_ERRORS } from '../judging/errorMap.ts';
import type { Exchange, HttpReply, OutgoingRequest } from '../wire/exchange.ts';
import { singleValue } from '../wire/headers.ts';
import { errorWord } from '../judging/refusal.ts';
import type { LightAbortSignal } from '../system/urgency.ts';

/** Signs proofs of possession (RFC 9449 §4.2), each for one request. */
export interface ProofSigner {
  /**
   * The request with its proof.
   *
   * @param url where it goes, with its query
   */
  bind(request: OutgoingRequest, url: string, nonce?: string): Promise<OutgoingRequest>;
}

/** Adds the proof of one exchange. */
export type Bind = (request: OutgoingRequest, url: string) => Promise<OutgoingRequest>;

/** Where an exchange goes: lookups and tokens have nonces of their own, also behind one gateway (RFC 9449 §8.2 and §9). */
export interface DpopPlace {
  readonly isLookup: boolean;
  /** The address of its endpoint. */
  readonly address: string;
}

/**
 * How often an exchange may be challenged and repeated. A second challenge means that the nonce changed while the
 * repetition was on its way; a server that refuses each nonce that it has just named contradicts itself.
 */
const MAX_CHALLENGES = 3;

/**
 * Exchanges that carry a proof of possession (RFC 9449). A server may want its nonce in the proof: an exchange that is
 * challenged was not carried out, so it is repeated with the nonce of the challenge (§8 and §9).
 */
export class DpopExchanges {
  readonly #signer: ProofSigner;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #servers = new Map<string, ServerNonce>();

  constructor(signer: ProofSigner, clock: Pick<Clock, 'after'>) {
    this.#signer = signer;
    this.#clock = clock;
  }

  /**
   * Sends once, and again after each challenge with a new nonce, {@link MAX_CHALLENGES} times at most; `challenges` is how
   * often it was challenged before the exchange that it returns. A challenge that may be the reply to another request is
   * a lost reply.
   *
   * @param send makes the request, binds it and sends it
   */
  async carry(
    { isLookup, address }: DpopPlace,
    signal: LightAbortSignal | undefined,
    send: (bind: Bind, isRepeated: boolean) => Promise<Exchange>,
  ): Promise<{ readonly exchange: Exchange; readonly challenges: number }> {
    const server = this.#serverOf(isLookup, address);
    const right = new Right(server);
    const bind = this.#binder(right);
    try {
      for (let challenges = 0; ; challenges += 1) {
        await server.enter(right, signal);
        let exchange: Exchange | undefined;
        try {
          exchange = right.read(await send(bind, challenges > 0), isLookup);
          if (challenges === MAX_CHALLENGES || !server.challenged.has(right)) {
            return { exchange, challenges };
          }
        } finally {
          server.left(exchange);
        }
      }
    } finally {
      server.forget(right);
    }
  }

  /** Signs with the nonce that the server has named last by then, or with that of a challenge. */
  #binder(right: Right): Bind {
    return async (request, url) => ({
      ...(await this.#signer.bind(request, url, right.nonce())),
      onHeaders: (status, headers) => {
        // The body decides whether it is a challenge.
        if (!MAY_CHALLENGE.has(status)) right.learn(headers);
      },
    });
  }

  #serverOf(isLookup: boolean, address: string): ServerNonce {
    const name = `${isLookup ? 'lookups' : 'tokens'} ${new URL(address).origin}`;
    let server = this.#servers.get(name);
    if (server === undefined) {
      server = new ServerNonce(this.#clock);
      this.#servers.set(name, server);
    }
    return server;
  }
}

/**
 * The most exchanges at a server while challenged ones are still to be repeated: few do not delay each other by as much
 * as a nonce lasts.
 */
const MAX_WHILE_CHALLENGED = 4;

/** How long the other exchanges wait for the first one: an operator may not reply at all for one number. */
const FIRST_MS = 1000;

/**
 * The nonce of one server. It may have changed since the last exchange ended: then one exchange goes first, and the
 * others wait until the headers of its reply arrive, {@link FIRST_MS} at most; where it breaks, another one goes first.
 * The nonce may change again while many exchanges are at the server: until all that were challenged are repeated,
 * {@link MAX_WHILE_CHALLENGED} at most are there at a time.
 */
class ServerNonce {
  nonce: string | undefined;
  /** Whether one of its nonces is valid for several exchanges. */
  sharesNonces = false;
  /** Exchanges that were challenged with a usable nonce, and are not repeated yet. */
  readonly challenged = new Set<Right>();
  /** Whether the server names nonces; `undefined` until its first reply. */
  #givesNonces: boolean | undefined;
  /** Whether a reply has named or accepted the nonce since the server was last without exchanges. */
  #isKnown = false;
  #underWay = 0;
  /** Ends the wait for the first one, while it lasts. */
  #patience: (() => void) | undefined;
  #lastNamed: string | undefined;
  readonly #waiting = new Map<Right, () => void>();
  readonly #clock: Pick<Clock, 'after'>;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Waits until the exchange may leave, or is aborted. */
  async enter(right: Right, signal: LightAbortSignal | undefined): Promise<void> {
    if (!this.#mayEnter(right)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.set(right, resolve);
      await (signal?.unlessAborted(promise) ?? promise);
      // Unless aborted, it was counted when it was let through.
      if (!this.#waiting.delete(right)) return;
    }
    this.#count();
  }

  #count(): void {
    this.#underWay += 1;
    if (!this.#isKnown) this.#patience ??= this.#clock.after(FIRST_MS, () => this.#letGo(true));
  }

  #mayEnter(right: Right): boolean {
    const isFull = this.challenged.size > 0 && this.#underWay >= MAX_WHILE_CHALLENGED;
    if (this.#isKnown || this.challenged.has(right)) return !isFull;
    return this.#underWay === 0 && this.challenged.size === 0;
  }

  /** @param exchange absent where none was made */
  left(exchange: Exchange | undefined): void {
    this.#underWay -= 1;
    this.#letGo(exchange !== undefined && !mayLearnNonce(exchange));
  }

  forget(right: Right): void {
    if (this.challenged.delete(right)) this.#letGo(true);
  }

  /** @param isEnough whether nothing more can be learned by letting one go first */
  #letGo(isEnough: boolean): void {
    this.#isKnown ||= isEnough;
    // These first: while any of them waits, few go at a time.
    for (const right of this.challenged) this.#letEnter(right);
    for (const right of this.#waiting.keys()) this.#letEnter(right);
    if (this.#underWay === 0) this.#isKnown = this.#givesNonces === false;
    if (!this.#isKnown && this.#underWay > 0) return;
    this.#patience?.();
    this.#patience = undefined;
  }

  #letEnter(right: Right): void {
    const letGo = this.#waiting.get(right);
    if (letGo === undefined || !this.#mayEnter(right)) return;
    this.#waiting.delete(right);
    this.#count();
    letGo();
  }

  challenge(right: Right, nonce: string): void {
    this.#named(nonce);
    if (this.sharesNonces) this.nonce = nonce;
    this.challenged.add(right);
    this.#givesNonces = true;
    this.#isKnown = false;
  }

  /**
   * Reads the next nonce from a reply that is not a challenge, or that the server has accepted the nonce of its
   * challenge. Before that, another exchange would use up a nonce that is valid once.
   */
  learn(named: string | undefined, accepted: string | undefined): void {
    if (named !== undefined) this.#named(named);
    const nonce = named ?? accepted;
    this.nonce = nonce ?? this.nonce;
    this.#givesNonces ||= nonce !== undefined;
    this.#letGo(true);
  }

  /** A nonce that is named twice is valid more than once. */
  #named(nonce: string): void {
    this.sharesNonces ||= nonce === this.#lastNamed;
    this.#lastNamed = nonce;
  }
}

/** Whether another exchange should go first to learn the nonce. A server that does not reply is not waited for. */
function mayLearnNonce(exchange: Exchange): boolean {
  return exchange.kind === 'reply'
    ? exchange.challenge?.nonce !== undefined
    : exchange.fault.cause !== 'timeout';
}

/** The right to one exchange that is carried out. */
class Right {
  readonly #server: ServerNonce;
  /** The nonce of its last proof. */
  #sent: string | undefined;
  /** The nonce of the challenge before its next proof. */
  #challenge: string | undefined;

  constructor(server: ServerNonce) {
    this.#server = server;
  }

  /** A nonce that is valid once belongs to the exchange that was challenged with it; others may have changed since. */
  nonce(): string | undefined {
    const { nonce, sharesNonces } = this.#server;
    this.#sent = sharesNonces ? nonce : (this.#challenge ?? nonce);
    return this.#sent;
  }

  /** Reads a reply. A challenge refuses the exchange, and says nothing about its token. */
  read(exchange: Exchange, isLookup: boolean): Exchange {
    this.#server.challenged.delete(this);
    if (exchange.kind === 'fault') return exchange;
    const { reply, isUnproven } = exchange;
    if (!wantsNonce(reply, isLookup)) {
      if (MAY_CHALLENGE.has(reply.status) && isUnproven !== true) this.learn(reply.headers);
      return exchange;
    }
    if (isUnproven === true) return LOST;
    const named = nonceIn(reply.headers);
    const nonce = named === this.#sent ? undefined : named;
    this.#challenge = nonce;
    if (nonce !== undefined) this.#server.challenge(this, nonce);
    return { ...exchange, challenge: { nonce } };
  }

  learn(headers: HttpReply['headers']): void {
    this.#server.learn(nonceIn(headers), this.#challenge);
  }
}

const MAY_CHALLENGE: ReadonlySet<number> = new Set([400, 401]);

const LOST: Exchange = {
  kind: 'fault',
  fault: {
    cause: 'invalid-reply',
    sent: true,
    detail: 'the challenge may be that of another request',
    flaw: 'no correlator',
  },
};

/** Whether the reply is a challenge: by RFC 9449 §8 at the authorization server, by §9 at lookups. Pure. */
function wantsNonce(reply: HttpReply, isLookup: boolean): boolean {
  if (reply.status !== (isLookup ? 401 : 400)) return false;
  const schemes = [reply.headers['www-authenticate'] ?? []].flat();
  return (
    errorWord(reply, { wordIn: 'error', errors: COMMON_ERRORS }) === 'use_dpop_nonce' ||
    (isLookup && schemes.some(namesChallenge))
  );
}

/** By two searches: an expression for both would take quadratic time where one of them is repeated. */
function namesChallenge(scheme: string): boolean {
  const at = scheme.search(/\bDPoP\b/i);
  return at >= 0 && /\berror\s*=\s*"?use_dpop_nonce\b/i.test(scheme.slice(at));
}

/** NQCHAR (RFC 6749, Appendix A). A nonce is short; a longer one is not kept. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;

function nonceIn(headers: HttpReply['headers']): string | undefined {
  const nonce = singleValue(headers['dpop-nonce']);
  return nonce !== undefined && NONCE.test(nonce) ? nonce : undefined;
}
