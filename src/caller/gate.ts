import type { IncomingHttpHeaders } from 'node:http';
import { singleValue } from '../http/headers.ts';
import type { TokenVerifier } from './tokenVerifier.ts';
import { ANONYMOUS, type Caller } from './caller.ts';
import { hash, timingSafeEqual } from 'node:crypto';

/** The header that says what a question is for, where the token does not. */
export const PURPOSE_HEADER = 'x-purpose';

export interface AdmittedRequest {
  readonly kind: 'admitted';
  readonly caller: Caller;
  readonly purpose: string;
}

export const REFUSAL_REASONS = [
  'not-the-router',
  'no-token',
  'invalid-token',
  'no-keys',
  'no-such-purpose',
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Why a request is refused before its body is read: the status, headers and message of the reply. */
export interface HttpRefusal {
  readonly kind: 'refused';
  /** For those who run the service. */
  readonly reason: RefusalReason;
  readonly status: number;
  readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN' | 'BAD_USER_INPUT' | 'UNAVAILABLE';
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GateParts {
  /** Absent where no router secret is configured. */
  readonly router: RouterProof | undefined;
  /** Absent where every caller is anonymous. */
  readonly tokens: TokenVerifier | undefined;
  /** The first is the default. */
  readonly purposes: readonly string[];
}

/** Admits a request or says why not, by its headers alone: no body is parsed for an unknown client. */
export class Gate {
  readonly #parts: GateParts;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  admit(
    headers: IncomingHttpHeaders,
  ): AdmittedRequest | HttpRefusal | Promise<AdmittedRequest | HttpRefusal> {
    const { router, tokens } = this.#parts;
    if (router?.accepts(singleValue(headers[ROUTER_SECRET_HEADER])) === false) {
      return NOT_THE_ROUTER;
    }
    return tokens === undefined
      ? this.#admitCaller(ANONYMOUS, headers)
      : this.#admitHolder(tokens, headers);
  }

  async #admitHolder(
    tokens: TokenVerifier,
    headers: IncomingHttpHeaders,
  ): Promise<AdmittedRequest | HttpRefusal> {
    const { authorization } = headers;
    if (authorization === undefined) return NO_TOKEN;
    // RFC 6750 §2.1.
    const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization) ?? [];
    const judged = await tokens.verify(token ?? '');
    if (judged === 'invalid') return INVALID_TOKEN;
    return judged === 'unavailable' ? NO_KEYS : this.#admitCaller(judged, headers);
  }

  #admitCaller(caller: Caller, headers: IncomingHttpHeaders): AdmittedRequest | HttpRefusal {
    const { purposes } = this.#parts;
    const purpose = purposeOf(caller, singleValue(headers[PURPOSE_HEADER]), purposes);
    return purpose === undefined ? NO_SUCH_PURPOSE : { kind: 'admitted', caller, purpose };
  }
}

const NOT_THE_ROUTER: HttpRefusal = {
  kind: 'refused',
  reason: 'not-the-router',
  status: 403,
  code: 'FORBIDDEN',
  message: 'This subgraph answers only its router.',
};

/** RFC 6750 §3.1: a request without credentials gets a challenge without an error code. */
const NO_TOKEN: HttpRefusal = {
  kind: 'refused',
  reason: 'no-token',
  status: 401,
  code: 'UNAUTHENTICATED',
  message: 'Missing access token. Send `Authorization: Bearer <token>`.',
  headers: { 'www-authenticate': 'Bearer realm="sim-swap"' },
};

/** One word for every flaw: a forger learns nothing from it. */
const INVALID_TOKEN: HttpRefusal = {
  kind: 'refused',
  reason: 'invalid-token',
  status: 401,
  code: 'UNAUTHENTICATED',
  message: 'The access token is not valid. Get another one.',
  headers: { 'www-authenticate': 'Bearer realm="sim-swap", error="invalid_token"' },
};

const NO_KEYS: HttpRefusal = {
  kind: 'refused',
  reason: 'no-keys',
  status: 503,
  code: 'UNAVAILABLE',
  message: 'Access tokens cannot be verified at the moment. Try again later.',
  headers: { 'retry-after': '5' },
};

const NO_SUCH_PURPOSE: HttpRefusal = {
  kind: 'refused',
  reason: 'no-such-purpose',
  status: 400,
  code: 'BAD_USER_INPUT',
  message: `The purpose, in the token's claim or in the header ${PURPOSE_HEADER}, is not one of those allowed.`,
};

/**
 * What a request is for: what the token says, or else the header, or else the first that is allowed.
 * `undefined` when that is none of those allowed. Pure.
 */
export function purposeOf(
  caller: Caller,
  header: string | undefined,
  allowed: readonly string[],
): string | undefined {
  const purpose = caller.purpose ?? header ?? allowed[0];
  return purpose !== undefined && allowed.includes(purpose) ? purpose : undefined;
}

/** The header by which a router shows that a request comes from it. */
export const ROUTER_SECRET_HEADER = 'x-router-secret';

/** Tells the router from all other clients, by a secret that the two share. */
export class RouterProof {
  readonly #digests: readonly Buffer[];

  /** All of the secrets count: two do while one takes the other's place. */
  constructor(secrets: readonly string[]) {
    this.#digests = secrets.map(digest);
  }

  /** Takes as long for a secret that is nearly right as for one that is not. */
  accepts(presented: string | undefined): boolean {
    const given = digest(presented ?? '');
    const matches = this.#digests.map((one) => timingSafeEqual(one, given));
    return presented !== undefined && matches.includes(true);
  }
}

/** Of equal length whatever the secret's, as the comparison needs it. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
