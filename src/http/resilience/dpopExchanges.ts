import { COMMON_ERRORS } from '../errorMap.ts';
import type { Exchange, HttpReply, OutgoingRequest } from '../exchange.ts';
import { singleValue } from '../headers.ts';
import { errorWord } from '../refusal.ts';
import type { LightAbortSignal } from '../urgency.ts';

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
  /** Of its endpoint. */
  readonly address: string;
}

/**
 * Exchanges that carry a proof of possession (RFC 9449). A server may want its nonce in the proof: a challenge carries
 * nothing out, so the same right is offered once more, with the nonce of the challenge (§8 and §9).
 */
export class DpopExchanges {
  readonly #signer: ProofSigner;
  readonly #servers = new Map<string, ServerNonce>();

  constructor(signer: ProofSigner) {
    this.#signer = signer;
  }

  /**
   * Sends once, and once more after a challenge; `challenges` is how often it was challenged before the exchange that it
   * returns. A challenge that may be the reply to another request is a lost reply.
   *
   * @param send makes the request, binds it and sends it
   */
  async carry<Sent extends { readonly exchange: Exchange }>(
    { isLookup, address }: DpopPlace,
    signal: LightAbortSignal | undefined,
    send: (bind: Bind, isRepeated: boolean) => Promise<Sent>,
  ): Promise<Sent & { readonly challenges: 0 | 1 }> {
    const server = this.#serverOf(isLookup, address);
    const turn = await server.begin(signal);
    try {
      const { nonce } = server;
      const first = await send(this.#binder(turn, nonce), false);
      const challenge = nonceOfChallenge(first.exchange, isLookup, nonce);
      if (challenge === undefined) {
        return { ...first, exchange: ended(first.exchange, isLookup, turn), challenges: 0 };
      }
      turn.goFirst();
      const second = await send(this.#binder(turn, challenge), true);
      const exchange = ended(second.exchange, isLookup, turn);
      // Before, another exchange would use up a nonce that counts once.
      if (exchange.kind === 'reply' && exchange.isChallenge !== true) turn.taken(challenge);
      return { ...second, exchange, challenges: 1 };
    } finally {
      turn.end();
    }
  }

  #binder(turn: Turn, nonce: string | undefined): Bind {
    return async (request, url) => ({
      ...(await this.#signer.bind(request, url, nonce)),
      onHeaders: (status, headers) => {
        // Whether that is a challenge, its body says.
        if (!MAY_CHALLENGE.has(status)) turn.learn(headers);
      },
    });
  }

  #serverOf(isLookup: boolean, address: string): ServerNonce {
    const name = `${isLookup ? 'lookups' : 'tokens'} ${new URL(address).origin}`;
    let server = this.#servers.get(name);
    if (server === undefined) {
      server = new ServerNonce();
      this.#servers.set(name, server);
    }
    return server;
  }
}

/**
 * The nonce of one server. It may have changed since the last exchange ended: then one goes first, and the others wait
 * until the headers of its reply have come, or it has ended.
 */
class ServerNonce {
  nonce: string | undefined;
  /** `undefined` until its first reply. */
  givesNonces: boolean | undefined;
  underWay = 0;
  first: Turn | undefined;

  async begin(signal: LightAbortSignal | undefined): Promise<Turn> {
    const turn = new Turn(this);
    const { first } = this;
    this.underWay += 1;
    if (first !== undefined) {
      await (signal?.unlessAborted(first.known) ?? first.known);
    } else if (this.underWay === 1 && this.givesNonces !== false) {
      turn.goFirst();
    }
    return turn;
  }
}

class Turn {
  readonly #server: ServerNonce;
  readonly #known = Promise.withResolvers<void>();
  /** Whether a reply to this exchange has brought a nonce. */
  #hasLearned = false;

  constructor(server: ServerNonce) {
    this.#server = server;
  }

  get known(): Promise<void> {
    return this.#known.promise;
  }

  goFirst(): void {
    this.#server.first ??= this;
  }

  learn(headers: HttpReply['headers']): void {
    const nonce = nonceIn(headers);
    if (nonce !== undefined) {
      this.#server.nonce = nonce;
      this.#hasLearned = true;
    }
    this.#server.givesNonces ||= nonce !== undefined;
    this.#letGo();
  }

  /** The server has accepted the nonce of its challenge, and may have named the next one. */
  taken(nonce: string): void {
    this.#server.givesNonces = true;
    if (!this.#hasLearned) this.#server.nonce = nonce;
  }

  end(): void {
    this.#server.underWay -= 1;
    this.#letGo();
  }

  #letGo(): void {
    if (this.#server.first === this) this.#server.first = undefined;
    this.#known.resolve();
  }
}

const MAY_CHALLENGE: ReadonlySet<number> = new Set([400, 401]);

/** A challenge that is left is a refusal of the exchange, and says nothing of its token. */
function ended(exchange: Exchange, isLookup: boolean, turn: Turn): Exchange {
  if (exchange.kind === 'fault') return exchange;
  if (wantsNonce(exchange.reply, isLookup)) {
    return exchange.isUnproven === true ? LOST : { ...exchange, isChallenge: true };
  }
  const { status, headers } = exchange.reply;
  if (MAY_CHALLENGE.has(status) && exchange.isUnproven !== true) turn.learn(headers);
  return exchange;
}

const LOST: Exchange = {
  kind: 'fault',
  fault: {
    cause: 'invalid-reply',
    sent: true,
    detail: 'the challenge may be that of another request',
    flaw: 'no correlator',
  },
};

/** `undefined` where the exchange was not challenged, or not by a nonce that can be used. Pure. */
function nonceOfChallenge(
  exchange: Exchange,
  isLookup: boolean,
  sent: string | undefined,
): string | undefined {
  if (exchange.kind === 'fault' || exchange.isUnproven === true) return undefined;
  if (!wantsNonce(exchange.reply, isLookup)) return undefined;
  const nonce = nonceIn(exchange.reply.headers);
  return nonce === sent ? undefined : nonce;
}

/** RFC 9449 §8 at the authorization server, and §9 at lookups. Pure. */
function wantsNonce(reply: HttpReply, isLookup: boolean): boolean {
  if (reply.status !== (isLookup ? 401 : 400)) return false;
  const schemes = [reply.headers['www-authenticate'] ?? []].flat();
  return (
    errorWord(reply, { wordIn: 'error', errors: COMMON_ERRORS }) === 'use_dpop_nonce' ||
    (isLookup && schemes.some((scheme) => WANTS_NONCE.test(scheme)))
  );
}

const WANTS_NONCE = /\bDPoP\b.*\berror\s*=\s*"?use_dpop_nonce\b/i;

/** NQCHAR (RFC 6749, Appendix A); a nonce is short, and a longer one is not kept. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;

function nonceIn(headers: HttpReply['headers']): string | undefined {
  const nonce = singleValue(headers['dpop-nonce']);
  return nonce !== undefined && NONCE.test(nonce) ? nonce : undefined;
}
