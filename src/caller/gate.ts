import type { IncomingHttpHeaders } from 'node:http';
import { singleValue } from '../wire/headers.ts';
import type { TokenVerifier } from './tokenVerifier.ts';
import type { Purpose } from '../domain/identity.ts';
import { ANONYMOUS, type Caller, type CallerSettings } from './caller.ts';
import { hash, timingSafeEqual } from 'node:crypto';

/** The purpose of a request, where the token has none. */
export const PURPOSE_HEADER = 'x-purpose';

export interface AdmittedRequest {
  readonly kind: 'admitted';
  readonly caller: Caller;
  readonly purpose: Purpose;
}

/** The reply to a request that is refused before its body is read. */
interface HttpRefusal {
  readonly kind: 'refused';
  /** For those who run the service. */
  readonly reason: RefusalReason;
  readonly status: number;
  readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN' | 'BAD_USER_INPUT' | 'UNAVAILABLE';
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const REFUSALS = {
  'not-the-router': {
    status: 403,
    code: 'FORBIDDEN',
    message: 'This subgraph answers only its router.',
  },
  // RFC 6750 §3.1: a request without credentials gets a challenge without an error code.
  'no-token': {
    status: 401,
    code: 'UNAUTHENTICATED',
    message: 'Missing access token. Send `Authorization: Bearer <token>`.',
    headers: { 'www-authenticate': 'Bearer realm="sim-swap"' },
  },
  // One word for every flaw: a forger learns nothing from it.
  'invalid-token': {
    status: 401,
    code: 'UNAUTHENTICATED',
    message: 'The access token is not valid. Get another one.',
    headers: { 'www-authenticate': 'Bearer realm="sim-swap", error="invalid_token"' },
  },
  'no-keys': {
    status: 503,
    code: 'UNAVAILABLE',
    message: 'Access tokens cannot be verified at the moment. Try again later.',
    headers: { 'retry-after': '5' },
  },
  'no-such-purpose': {
    status: 400,
    code: 'BAD_USER_INPUT',
    message: `The purpose, in the token's claim or in the header ${PURPOSE_HEADER}, is not one of those allowed.`,
  },
} as const satisfies Record<string, Omit<HttpRefusal, 'kind' | 'reason'>>;

export type RefusalReason = keyof typeof REFUSALS;

function refused(reason: RefusalReason): HttpRefusal {
  return { kind: 'refused', reason, ...REFUSALS[reason] };
}

interface GateParts extends Pick<CallerSettings, 'routerSecrets' | 'purposes'> {
  /** Absent where every caller is anonymous. */
  readonly tokens: Pick<TokenVerifier, 'verify'> | undefined;
}

/** Admits a request or refuses it, by its headers only: no body is parsed for an unknown client. */
export class Gate {
  readonly #parts: GateParts;
  readonly #routerDigests: readonly Buffer[];
  /** By name. */
  readonly #purposes: ReadonlyMap<string, Purpose>;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#purposes = new Map(parts.purposes.map((one) => [one.name, one]));
    this.#routerDigests = parts.routerSecrets.map(digest);
  }

  /** @param mayWait whether there is room for a request that waits for the issuer's keys */
  admit(
    headers: IncomingHttpHeaders,
    mayWait?: () => boolean,
  ): AdmittedRequest | HttpRefusal | Promise<AdmittedRequest | HttpRefusal> {
    const { tokens } = this.#parts;
    if (this.#routerDigests.length > 0 && !this.#isRouter(headers)) {
      return refused('not-the-router');
    }
    return tokens === undefined
      ? this.#admitCaller(ANONYMOUS, headers)
      : this.#admitHolder(tokens, headers, mayWait);
  }

  /** Compares in constant time. */
  #isRouter(headers: IncomingHttpHeaders): boolean {
    const presented = singleValue(headers['x-router-secret']);
    const given = digest(presented ?? '');
    const matches = this.#routerDigests.map((one) => timingSafeEqual(one, given));
    return presented !== undefined && matches.includes(true);
  }

  async #admitHolder(
    tokens: Pick<TokenVerifier, 'verify'>,
    headers: IncomingHttpHeaders,
    mayWait?: () => boolean,
  ): Promise<AdmittedRequest | HttpRefusal> {
    const { authorization } = headers;
    if (authorization === undefined) return refused('no-token');
    // RFC 6750 §2.1.
    const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization) ?? [];
    const judged = await tokens.verify(token ?? '', mayWait);
    if (judged === 'invalid') return refused('invalid-token');
    return typeof judged === 'string' ? refused(judged) : this.#admitCaller(judged, headers);
  }

  /** The purpose is the token's, otherwise the header's, otherwise the first that is allowed. */
  #admitCaller(caller: Caller, headers: IncomingHttpHeaders): AdmittedRequest | HttpRefusal {
    const stated = caller.purpose ?? singleValue(headers[PURPOSE_HEADER]);
    const purpose = stated === undefined ? this.#parts.purposes[0] : this.#purposes.get(stated);
    return purpose === undefined
      ? refused('no-such-purpose')
      : { kind: 'admitted', caller, purpose };
  }
}

/** Has the same length for every secret, as the comparison requires. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
