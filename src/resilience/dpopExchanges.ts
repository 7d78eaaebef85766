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
  /** Of its endpoint. */
  readonly address: string;
}

/**
 * How often an exchange may be challenged and repeated. Twice is a nonce that changed while the repetition was under way;
 * a server that refuses each nonce that it has just named does not mean what it says.
 */
const MAX_CHALLENGES = 3;

/**
 * Exchanges that carry a proof of possession (RFC 9449). A server may want its nonce in the proof: a challenge carries
 * nothing out, so the same right is offered again, with the nonce of the challenge (§8 and §9).
 */
export class DpopExchanges {
  readonly #signer: ProofSigner;
  readonly #servers = new Map<string, ServerNonce>();

  constructor(signer: ProofSigner) {
    this.#signer = signer;
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
    const turn = await server.begin(signal);
    const offer = async (challenge: string | undefined): Promise<Exchange> => {
      await server.enter(signal);
      let exchange: Exchange | undefined;
      try {
        const sent = await send(this.#binder(turn, challenge), challenge !== undefined);
        exchange = turn.read(sent, isLookup);
        return exchange;
      } finally {
        server.left(exchange);
      }
    };
    try {
      let nonce: string | undefined;
      for (let challenges = 0; ; challenges += 1) {
        const exchange = await offer(nonce);
        const challenge = exchange.kind === 'reply' ? exchange.challenge : undefined;
        if (challenge?.nonce === undefined || challenges === MAX_CHALLENGES) {
          return { exchange, challenges };
        }
        ({ nonce } = challenge);
      }
    } finally {
      turn.end();
    }
  }

  /** Signs with the nonce that the server has named last by then, or with that of a challenge. */
  #binder(turn: Turn, challenge?: string): Bind {
    return async (request, url) => ({
      ...(await this.#signer.bind(request, url, turn.choose(challenge))),
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

/** This many at a server do not delay each other by as much as a nonce lasts. */
const FEW = 4;

/**
 * The nonce of one server. It may have changed since the last exchange ended: then one goes first, and the others wait
 * until the headers of its reply have come, or it has ended. It may change again while many wait at the server: until all
 * that were challenged are repeated, few are there at a time.
 */
class ServerNonce {
  nonce: string | undefined;
  /** `undefined` until its first reply. */
  givesNonces: boolean | undefined;
  /** Whether a nonce of it counts for several exchanges. */
  sharesNonces = false;
  underWay = 0;
  first: Turn | undefined;
  #there = 0;
  /** Challenged, and not repeated yet. */
  readonly challenged = new Set<Turn>();
  #lastNamed: string | undefined;
  readonly #waiting = new Set<() => void>();

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

  /** One that is named twice counts more than once. */
  named(nonce: string): void {
    this.sharesNonces ||= nonce === this.#lastNamed;
    this.#lastNamed = nonce;
  }

  /** Waits until one more may leave, or it is aborted. */
  async enter(signal: LightAbortSignal | undefined): Promise<void> {
    if (this.#isFull) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await (signal?.unlessAborted(promise) ?? promise);
      // Unless aborted, it was counted as it was let go.
      if (!this.#waiting.delete(resolve)) return;
    }
    this.#there += 1;
  }

  get #isFull(): boolean {
    return this.challenged.size > 0 && this.#there >= FEW;
  }

  /** @param exchange absent where none was made */
  left(exchange: Exchange | undefined): void {
    this.#there -= 1;
    for (const letGo of this.#waiting) {
      // Nobody waits for a server that does not reply.
      if (this.#isFull && exchange?.kind === 'reply') return;
      this.#waiting.delete(letGo);
      this.#there += 1;
      letGo();
    }
  }
}

class Turn {
  readonly #server: ServerNonce;
  readonly #known = Promise.withResolvers<void>();
  /** The nonce of its last proof. */
  #sent: string | undefined;
  /** Of the challenge that its last proof follows. */
  #challenge: string | undefined;

  constructor(server: ServerNonce) {
    this.#server = server;
  }

  get known(): Promise<void> {
    return this.#known.promise;
  }

  goFirst(): void {
    this.#server.first ??= this;
  }

  /** A nonce that counts once is that of the exchange that was challenged with it; any other may have changed since. */
  choose(challenge: string | undefined): string | undefined {
    const { nonce, sharesNonces } = this.#server;
    this.#challenge = challenge;
    this.#sent = sharesNonces ? nonce : (challenge ?? nonce);
    return this.#sent;
  }

  /** A challenge is a refusal of the exchange, and says nothing of its token. */
  read(exchange: Exchange, isLookup: boolean): Exchange {
    const server = this.#server;
    server.challenged.delete(this);
    if (exchange.kind === 'fault') return exchange;
    const { reply, isUnproven } = exchange;
    if (!wantsNonce(reply, isLookup)) {
      if (MAY_CHALLENGE.has(reply.status) && isUnproven !== true) this.learn(reply.headers);
      return exchange;
    }
    if (isUnproven === true) return LOST;
    const named = nonceIn(reply.headers);
    const nonce = named === this.#sent ? undefined : named;
    if (nonce !== undefined) {
      this.goFirst();
      server.challenged.add(this);
      server.named(nonce);
      if (server.sharesNonces) server.nonce = nonce;
    }
    return { ...exchange, challenge: { nonce } };
  }

  /**
   * Of a reply that is not a challenge: the next nonce, or that the server has accepted the one of its challenge. Before,
   * another exchange would use up a nonce that counts once.
   */
  learn(headers: HttpReply['headers']): void {
    const named = nonceIn(headers);
    const server = this.#server;
    if (named !== undefined) server.named(named);
    const nonce = named ?? this.#challenge;
    server.nonce = nonce ?? server.nonce;
    server.givesNonces ||= nonce !== undefined;
    this.#letGo();
  }

  end(): void {
    this.#server.underWay -= 1;
    this.#server.challenged.delete(this);
    this.#letGo();
  }

  #letGo(): void {
    if (this.#server.first === this) this.#server.first = undefined;
    this.#known.resolve();
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
