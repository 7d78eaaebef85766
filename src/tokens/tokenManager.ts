import type { Clock } from '../clock.ts';
import { tokenChannel, traced, type TokenMessage, type TokenResult } from '../diagnostics.ts';
import { fillTemplate } from '../domain/numberTemplate.ts';
import type { Operation } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import type { Correlator } from '../http/correlator.ts';
import type { ErrorMap } from '../http/errorMap.ts';
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
  clientCredentialsRequest,
  encodeForm,
  joinForms,
  type AuthorizationRequest,
} from './tokenRequest.ts';
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

/** What the authorization server wants to hear, and how it words its errors. */
export type TokenSettings = AuthorizationSettings & { readonly errors: ErrorMap };

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
  readonly #settings: TokenSettings;
  readonly #endpoints: AuthorizationEndpoints;
  readonly #authenticate: ClientAuthentication;
  readonly #requestForm: RequestForm;
  readonly #clientCredentials: Readonly<Record<Operation, ClientCredentialsRequest>>;
  readonly #clock: Clock;

  constructor(
    settings: TokenSettings,
    endpoints: AuthorizationEndpoints,
    authenticate: ClientAuthentication,
    clock: Clock,
  ) {
    this.#settings = settings;
    this.#endpoints = endpoints;
    this.#authenticate = authenticate;
    this.#requestForm = createRequestForm(settings, clock);
    this.#clock = clock;
    this.#clientCredentials = {
      'retrieve-date': clientCredentialsFor(settings, 'retrieve-date'),
      check: clientCredentialsFor(settings, 'check'),
    };
  }

  /**
   * 2-legged: the client_credentials grant, bound to a number by `username` where the operator takes it
   * (service, "Endpoints" 3).
   */
  acquire(subject: TokenSubject, context: ExchangeContext): Promise<Acquired> {
    if (!tokenChannel.hasSubscribers) return this.#acquire(subject, context);
    const message = messageOf('client_credentials', subject, context);
    return traced(tokenChannel, message, () => this.#acquire(subject, context), resultOf);
  }

  #acquire(subject: TokenSubject, context: ExchangeContext): Promise<Acquired> {
    const request = this.#clientCredentials[subject.operation](subject.number);
    return this.#post('token', subject, context, request, (exchange) => {
      const judged = judgeToken(exchange, this.#clock.nowMs(), this.#settings.errors);
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
    const { scopes, errors } = this.#settings;
    const { loginHint, minIntervalSeconds } = cibaOf(this.#settings);
    const login_hint = fillTemplate(loginHint, subject.number);
    const scope = scopeOf(scopes, subject.operation);
    const request = scope === '' ? { login_hint } : { login_hint, scope };
    const form = async (): Promise<AuthorizationRequest> => ({
      form: encodeForm(await this.#requestForm(request)),
    });
    return this.#post('backchannelAuthentication', subject, context, form, (exchange) =>
      judgeAcknowledgement(exchange, this.#clock.nowMs(), { errors, minIntervalSeconds }),
    );
  }

  /** 3-legged: asks once whether the owner has consented (OpenID CIBA Core §10.1). */
  poll(authReqId: string, subject: TokenSubject, context: ExchangeContext): Promise<Polled> {
    if (!tokenChannel.hasSubscribers) return this.#poll(authReqId, subject, context);
    const message = messageOf('ciba', subject, context);
    return traced(tokenChannel, message, () => this.#poll(authReqId, subject, context), resultOf);
  }

  #poll(authReqId: string, subject: TokenSubject, context: ExchangeContext): Promise<Polled> {
    const { grantType } = cibaOf(this.#settings);
    const form = encodeForm({ grant_type: grantType, auth_req_id: authReqId });
    return this.#post('cibaToken', subject, context, { form }, (exchange) => {
      const judged = judgePoll(exchange, this.#clock.nowMs(), this.#settings.errors);
      switch (judged.kind) {
        case 'issued':
          return issue(subject, judged.issued);
        case 'failed':
        case 'go-on':
          return judged;
      }
    }).then(({ judged }) => judged);
  }

  /** @param request made anew for each attempt, where it is made */
  #post<J extends Judged>(
    endpoint: AuthorizationEndpointName,
    { number }: TokenSubject,
    context: ExchangeContext,
    request: AuthorizationRequest | (() => Promise<AuthorizationRequest>),
    judge: (exchange: Exchange) => J,
  ): Promise<Outcome<J>> {
    const fill = ({ form, query = '' }: AuthorizationRequest, proof: ClientProof): Post => ({
      headers: proof.headers,
      query,
      contentType: 'application/x-www-form-urlencoded',
      body: joinForms(form, encodeForm(proof.form)),
      correlator: context.correlator.next(),
      signal: context.signal,
    });
    const make = (): Post | Promise<Post> => {
      const written = typeof request === 'function' ? request() : request;
      const proof = this.#authenticate(endpoint);
      return written instanceof Promise || proof instanceof Promise
        ? Promise.all([written, proof]).then((signed) => fill(...signed))
        : fill(written, proof);
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

type ClientCredentialsRequest = ReturnType<typeof clientCredentialsRequest>;

function clientCredentialsFor(
  { grant, scopes }: AuthorizationSettings,
  operation: Operation,
): ClientCredentialsRequest {
  switch (grant.type) {
    case 'client_credentials':
      return clientCredentialsRequest(grant, scopeOf(scopes, operation));
    case 'jwt-bearer':
    case 'ciba':
      return () => {
        throw new Error('Client credentials were to be used where the operator has another grant.');
      };
  }
}

/** @throws {Error} in a flow without consents: a defect of ours */
function cibaOf({ grant }: AuthorizationSettings): CibaGrant {
  if (grant.type !== 'ciba') throw new Error('A consent was polled for in the 2-legged flow.');
  return grant;
}

function issue(subject: TokenSubject, { value, expiresAtMs }: IssuedToken): Acquired {
  return { kind: 'acquired', token: new AccessToken(subject, value, expiresAtMs) };
}
