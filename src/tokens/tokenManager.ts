import type { Clock } from '../clock.ts';
import { tokenChannel, traced, type TokenMessage, type TokenResult } from '../diagnostics.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Operation } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import type { Correlator } from '../http/correlator.ts';
import type { Exchange, Post } from '../http/exchange.ts';
import type { Urgency } from '../http/resilience/bulkhead.ts';
import type { GuardedEndpoint, Judged, Outcome } from '../http/resilience/guardedEndpoint.ts';
import { AccessToken, type TokenSubject } from './accessToken.ts';
import type {
  AuthorizationEndpointName,
  AuthorizationSettings,
  CibaGrant,
} from './authorizationSettings.ts';
import type { ClientAuthentication, ClientProof } from './clientAuthentication.ts';
import { scopeOf } from './scope.ts';
import { createRequestForm, type RequestForm } from './signedRequest.ts';
import {
  judgeAcknowledgement,
  judgePoll,
  judgeToken,
  type AcknowledgementJudgement,
  type IssuedToken,
} from './tokenResponses.ts';

/** Whose exchange it is: how it is named on the wire, and until when it is of use. */
export interface ExchangeContext extends Urgency {
  readonly correlator: Correlator;
  /** Whether it belongs to a second attempt: then there is no third one. */
  readonly isRetry?: boolean;
}

/** A token, or why there is none. */
export type Acquired =
  | { readonly kind: 'acquired'; readonly token: AccessToken }
  | { readonly kind: 'failed'; readonly failure: LookupFailure };

/** What a poll came to: a token, an end, or (with nothing decided yet) when to go on. */
export type Polled =
  | Acquired
  | {
      readonly kind: 'go-on';
      readonly goOn: 'authorization_pending' | 'slow_down' | 'no_reply';
      readonly retryAfterSeconds?: number;
      readonly isUnproven?: true;
    };

/** How a request for consent was acknowledged, and how many of its exchanges may have prompted. */
export type RequestedConsent = Pick<Outcome<AcknowledgementJudgement>, 'judged' | 'attempts'>;

/** Where the authorization server takes requests (service, "Endpoints" 1 to 3). */
export type AuthorizationEndpoints = Readonly<Record<AuthorizationEndpointName, GuardedEndpoint>>;

/**
 * Acquires access tokens, one for each lookup (design §4). It keeps none: a token works once.
 *
 * No method rejects; what goes wrong is a failure in the result.
 */
export class TokenManager {
  readonly #settings: AuthorizationSettings;
  readonly #endpoints: AuthorizationEndpoints;
  readonly #authenticate: ClientAuthentication;
  readonly #requestForm: RequestForm;
  /** All but the number, encoded once. */
  readonly #clientCredentialsForms: Readonly<Record<Operation, string>>;
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
    this.#requestForm = createRequestForm(settings, clock);
    this.#clock = clock;
    this.#clientCredentialsForms = {
      'retrieve-date': clientCredentialsForm(scopeOf(settings.scopes, 'retrieve-date')),
      check: clientCredentialsForm(scopeOf(settings.scopes, 'check')),
    };
  }

  /** 2-legged: the client_credentials grant, bound to a number by `username` (service, "Endpoints" 3). */
  acquire(subject: TokenSubject, context: ExchangeContext): Promise<Acquired> {
    if (!tokenChannel.hasSubscribers) return this.#acquire(subject, context);
    const message = messageOf('client_credentials', subject, context);
    return traced(tokenChannel, message, () => this.#acquire(subject, context), resultOf);
  }

  #acquire(subject: TokenSubject, context: ExchangeContext): Promise<Acquired> {
    const username = encodeURIComponent(telUri(subject.number));
    const form = `${this.#clientCredentialsForms[subject.operation]}&username=${username}`;
    return this.#post('token', subject, context, form, (exchange) => {
      const judged = judgeToken(exchange, this.#clock.nowMs());
      switch (judged.kind) {
        case 'issued':
          return issue(subject, judged.issued);
        case 'failed':
          return judged;
      }
    }).then(({ judged }) => judged);
  }

  /** 3-legged: asks the owner of the number, which may ring their phone (OpenID CIBA Core §7.1). */
  requestConsent(subject: TokenSubject, context: ExchangeContext): Promise<RequestedConsent> {
    const request = {
      login_hint: telUri(subject.number),
      scope: scopeOf(this.#settings.scopes, subject.operation),
    };
    const form = async (): Promise<string> => encodeForm(await this.#requestForm(request));
    return this.#post('backchannelAuthentication', subject, context, form, (exchange) =>
      judgeAcknowledgement(exchange, this.#clock.nowMs()),
    );
  }

  /** 3-legged: asks once whether the owner has consented (OpenID CIBA Core §10.1). */
  poll(authReqId: string, subject: TokenSubject, context: ExchangeContext): Promise<Polled> {
    if (!tokenChannel.hasSubscribers) return this.#poll(authReqId, subject, context);
    const message = messageOf('ciba', subject, context);
    return traced(tokenChannel, message, () => this.#poll(authReqId, subject, context), resultOf);
  }

  #poll(authReqId: string, subject: TokenSubject, context: ExchangeContext): Promise<Polled> {
    const form = encodeForm({
      grant_type: cibaOf(this.#settings).grantType,
      auth_req_id: authReqId,
    });
    return this.#post('cibaToken', subject, context, form, (exchange) => {
      const judged = judgePoll(exchange, this.#clock.nowMs());
      switch (judged.kind) {
        case 'issued':
          return issue(subject, judged.issued);
        case 'failed':
        case 'go-on':
          return judged;
      }
    }).then(({ judged }) => judged);
  }

  /** @param form encoded; made anew for each attempt, where it is made */
  #post<J extends Judged>(
    endpoint: AuthorizationEndpointName,
    { number }: TokenSubject,
    context: ExchangeContext,
    form: string | (() => Promise<string>),
    judge: (exchange: Exchange) => J,
  ): Promise<Outcome<J>> {
    const fill = (members: string, proof: ClientProof): Post => ({
      headers: proof.headers,
      contentType: 'application/x-www-form-urlencoded',
      body: isEmpty(proof.form) ? members : `${members}&${encodeForm(proof.form)}`,
      correlator: context.correlator.next(),
      signal: context.signal,
    });
    const make = (): Post | Promise<Post> => {
      const members = typeof form === 'function' ? form() : form;
      const proof = this.#authenticate(endpoint);
      return members instanceof Promise || proof instanceof Promise
        ? Promise.all([members, proof]).then((signed) => fill(...signed))
        : fill(members, proof);
    };
    return this.#endpoints[endpoint].post({
      about: number,
      urgency: context,
      isRetry: context.isRetry ?? false,
      make,
      judge,
    });
  }
}

function messageOf(
  grant: TokenMessage['grant'],
  { operation }: TokenSubject,
  { correlator }: ExchangeContext,
): TokenMessage {
  return { correlator: correlator.name, grant, operation };
}

/** What is published of a token: never the token. */
function resultOf(polled: Polled): TokenResult {
  switch (polled.kind) {
    case 'acquired':
      return { outcome: 'issued' };
    case 'failed':
      return { outcome: polled.failure.code };
    case 'go-on':
      return { outcome: polled.goOn };
  }
}

function clientCredentialsForm(scope: string): string {
  return encodeForm({ grant_type: 'client_credentials', scope });
}

/** @throws {Error} in a flow without consents: a defect of ours */
function cibaOf({ grant }: AuthorizationSettings): CibaGrant {
  if (grant.type !== 'ciba') throw new Error('A consent was polled for in the 2-legged flow.');
  return grant;
}

type Form = Readonly<Record<string, string>>;

/** RFC 6749 appendix B. */
function encodeForm(members: Form): string {
  return new URLSearchParams(members).toString();
}

function isEmpty(members: Form): boolean {
  return Object.keys(members).length === 0;
}

function issue(subject: TokenSubject, { value, expiresAtMs }: IssuedToken): Acquired {
  return { kind: 'acquired', token: new AccessToken(subject, value, expiresAtMs) };
}

/** `tel:` URI (RFC 3966); the service would take it without the `+` as well. */
function telUri(number: PhoneNumber): string {
  return `tel:${number}`;
}
