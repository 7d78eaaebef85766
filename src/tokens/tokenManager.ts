import type { Clock } from '../clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupFailure } from '../errors.ts';
import type { Correlator } from '../http/correlator.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { AccessToken, type TokenSubject } from './accessToken.ts';
import type { AuthorizationSettings } from './authorizationSettings.ts';
import type { ClientAuthentication } from './clientAuthentication.ts';
import {
  judgeAcknowledgement,
  judgePoll,
  judgeToken,
  type AcknowledgementJudgement,
  type IssuedToken,
} from './tokenResponses.ts';

/** Whose exchange it is: how it is named on the wire, and what ends it early. */
export interface ExchangeContext {
  readonly correlator: Correlator;
  readonly signal?: AbortSignal;
}

/** A token, or why there is none. */
export type Acquired = { readonly token: AccessToken } | { readonly failure: LookupFailure };

/** What a poll came to: a token, an end, or (with nothing decided yet) when to go on. */
export type Polled =
  | Acquired
  | {
      readonly goOn: 'authorization_pending' | 'slow_down' | 'no_reply';
      readonly retryAfterSeconds?: number;
    };

/** Where the authorization server takes requests (service, "Endpoints" 1 to 3). */
export interface AuthorizationEndpoints {
  readonly clientCredentials: Endpoint;
  readonly backchannelAuthentication: Endpoint;
  readonly cibaToken: Endpoint;
}

/**
 * Acquires access tokens, one for each lookup (design §4). It keeps none: a token works once.
 *
 * No method rejects; what goes wrong is a failure in the result.
 */
export class TokenManager {
  readonly #settings: AuthorizationSettings;
  readonly #endpoints: AuthorizationEndpoints;
  readonly #authenticate: ClientAuthentication;
  readonly #clock: Clock;

  constructor(
    settings: AuthorizationSettings,
    endpoints: AuthorizationEndpoints,
    authenticate: ClientAuthentication,
    clock: Clock,
  ) {
    this.#settings = settings;
    this.#endpoints = endpoints;
    this.#authenticate = authenticate;
    this.#clock = clock;
  }

  /** 2-legged: the client_credentials grant, bound to a number by `username` (service, "Endpoints" 3). */
  async acquire(subject: TokenSubject, context: ExchangeContext): Promise<Acquired> {
    const sentAtMs = this.#clock.monotonicMs();
    const exchange = await this.#post(this.#endpoints.clientCredentials, context, {
      grant_type: 'client_credentials',
      username: telUri(subject.number),
      scope: this.#settings.scopes[subject.operation],
    });
    const judged = judgeToken(exchange, this.#clock.nowMs());
    return 'issued' in judged ? this.#issue(subject, judged.issued, sentAtMs) : judged;
  }

  /** 3-legged: asks the owner of the number, which may ring their phone (OpenID CIBA Core §7.1). */
  async requestConsent(
    subject: TokenSubject,
    context: ExchangeContext,
  ): Promise<AcknowledgementJudgement> {
    const exchange = await this.#post(this.#endpoints.backchannelAuthentication, context, {
      login_hint: telUri(subject.number),
      scope: this.#settings.scopes[subject.operation],
    });
    return judgeAcknowledgement(exchange, this.#clock.nowMs());
  }

  /** 3-legged: asks once whether the owner has consented (OpenID CIBA Core §10.1). */
  async poll(authReqId: string, subject: TokenSubject, context: ExchangeContext): Promise<Polled> {
    const sentAtMs = this.#clock.monotonicMs();
    const exchange = await this.#post(this.#endpoints.cibaToken, context, {
      grant_type: this.#settings.cibaGrantType,
      auth_req_id: authReqId,
    });
    const judged = judgePoll(exchange, this.#clock.nowMs());
    return 'issued' in judged ? this.#issue(subject, judged.issued, sentAtMs) : judged;
  }

  async #post(
    endpoint: Endpoint,
    context: ExchangeContext,
    form: Readonly<Record<string, string>>,
  ): Promise<Exchange> {
    const proof = await this.#authenticate();
    return endpoint.post({
      headers: proof.headers,
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({ ...form, ...proof.form }).toString(),
      correlator: context.correlator.next(),
      signal: context.signal,
    });
  }

  /** Life is counted from sending, since the token is older than its arrival. */
  #issue(subject: TokenSubject, issued: IssuedToken, sentAtMs: number): Acquired {
    const { value, expiresInSeconds } = issued;
    const expiresAtMs =
      expiresInSeconds === undefined ? undefined : sentAtMs + expiresInSeconds * 1000;
    return { token: new AccessToken(subject, value, expiresAtMs) };
  }
}

/** `tel:` URI (RFC 3966); the service would take it without the `+` as well. */
function telUri(number: PhoneNumber): string {
  return `tel:${number}`;
}
