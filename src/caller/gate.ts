import type { IncomingHttpHeaders } from 'node:http';
import { singleValue } from '../http/singleValue.ts';
import { ANONYMOUS, type Caller } from './caller.ts';
import { PURPOSE_HEADER, purposeOf } from './purposes.ts';
import { ROUTER_SECRET_HEADER, type RouterProof } from './routerProof.ts';
import type { TokenVerifier } from './tokenVerifier.ts';

/** Who sent a request, and what for. */
export interface Admitted {
  readonly caller: Caller;
  readonly purpose: string;
}

/** Why a request is turned away before it is read: a status, headers, and a word for people. */
export interface TurnedAway {
  readonly status: number;
  readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN' | 'BAD_USER_INPUT' | 'UNAVAILABLE';
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the gate is made of. */
export interface GateParts {
  /** Absent where no proof is asked. */
  readonly router: RouterProof | undefined;
  /** Absent where everyone is anonymous. */
  readonly tokens: TokenVerifier | undefined;
  /** The first is taken where nothing is said. */
  readonly purposes: readonly string[];
}

/** Lets a request in, or says why not. It looks at the headers alone: nothing is parsed for a stranger. */
export class Gate {
  readonly #parts: GateParts;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  async admit(headers: IncomingHttpHeaders): Promise<Admitted | TurnedAway> {
    const { router, purposes } = this.#parts;
    if (router?.accepts(singleValue(headers[ROUTER_SECRET_HEADER])) === false)
      return NOT_THE_ROUTER;
    const caller = await this.#authenticate(headers.authorization);
    if ('status' in caller) return caller;
    const purpose = purposeOf(caller, singleValue(headers[PURPOSE_HEADER]), purposes);
    return purpose === undefined ? NO_SUCH_PURPOSE : { caller, purpose };
  }

  async #authenticate(authorization: string | undefined): Promise<Caller | TurnedAway> {
    const { tokens } = this.#parts;
    if (tokens === undefined) return ANONYMOUS;
    if (authorization === undefined) return NO_TOKEN;
    // RFC 6750 §2.1.
    const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization) ?? [];
    const judged = await tokens.verify(token ?? '');
    if (judged === 'invalid') return INVALID_TOKEN;
    return judged === 'unavailable' ? NO_KEYS : judged;
  }
}

const NOT_THE_ROUTER: TurnedAway = {
  status: 403,
  code: 'FORBIDDEN',
  message: 'This subgraph answers its router alone.',
  headers: {},
};

/** RFC 6750 §3.1: who has not tried to authenticate hears of no error. */
const NO_TOKEN: TurnedAway = {
  status: 401,
  code: 'UNAUTHENTICATED',
  message: 'Send an access token, with the header authorization: Bearer.',
  headers: { 'www-authenticate': 'Bearer realm="sim-swap"' },
};

/** One word for every flaw: a forger learns nothing from it. */
const INVALID_TOKEN: TurnedAway = {
  status: 401,
  code: 'UNAUTHENTICATED',
  message: 'The access token is not valid. Get another one.',
  headers: { 'www-authenticate': 'Bearer realm="sim-swap", error="invalid_token"' },
};

const NO_KEYS: TurnedAway = {
  status: 503,
  code: 'UNAVAILABLE',
  message: 'Access tokens cannot be verified for the moment. Ask again later.',
  headers: { 'retry-after': '5' },
};

const NO_SUCH_PURPOSE: TurnedAway = {
  status: 400,
  code: 'BAD_USER_INPUT',
  message: `The purpose, in the token's claim or in the header ${PURPOSE_HEADER}, is none of those allowed.`,
  headers: {},
};
