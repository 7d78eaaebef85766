import type { Clock } from '../clock.ts';
import { tokenChannel, traced, type TokenMessage, type TokenResult } from '../diagnostics.ts';
import { fillTemplate } from '../domain/numberTemplate.ts';
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
import { createJwtBearerForm, grantProvesClient, type JwtBearerForm } from './jwtBearer.ts';
import { KeptTokens } from './keptTokens.ts';
import { ReusableToken } from './reusableToken.ts';
import { scopeOf } from './scope.ts';
import { SharedTokens } from './sharedTokens.ts';
import type { SeenTokens } from './seenTokens.ts';
import { createRequestForm, type RequestForm } from './signedRequest.ts';
import {
  judgeAcknowledgement,
  judgePoll,
  judgeToken,
  SEEN_TOKEN,
  type AcknowledgementJudgement,
  type IssuedToken,
  type TokenJudgement,
} from './tokenResponses.ts';
import { tokenReach } from './tokenReach.ts';

/** Whose exchange it is: how it is named on the wire, and until when it is of use. */
export interface ExchangeContext extends Urgency {
  readonly correlator: Correlator;
  /** Whether it belongs to a second attempt: then there is no third one. */
  readonly isRetry?: boolean;
}

/** A token, or why there is none. */
export type Acquired =
  | {
      readonly kind: 'acquired';
      readonly token: AccessToken;
      /** Of a consent, where the operator lets its tokens be used again. */
      readonly reusable?: ReusableToken;
    }
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
export type AuthorizationEndpoints = Readonly<
  Record<AuthorizationEndpointName, Pick<GuardedEndpoint, 'post' | 'distrust'>>
>;

/**
 * Acquires the right to each lookup (design §4): an access token that works once, or one that is lent by a
 * token that the operator lets us use again (`tokens.use`).
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
  readonly #jwtBearerForm: JwtBearerForm | undefined;
  readonly #clock: Clock;
  /** Where the reply to a token request may be another request's. */
  readonly #seenTokens: SeenTokens | undefined;
  /** Absent where a token works once. */
  readonly #sharedTokens: SharedTokens | undefined;

  constructor(
    settings: AuthorizationSettings,
    endpoints: AuthorizationEndpoints,
    authenticate: ClientAuthentication,
    clock: Clock,
    seenTokens?: SeenTokens,
  ) {
    this.#settings = settings;
    this.#seenTokens = seenTokens;
    this.#endpoints = endpoints;
    this.#authenticate = grantProvesClient(settings) ? () => NO_PROOF : authenticate;
    this.#requestForm = createRequestForm(settings, clock);
    this.#clock = clock;
    this.#jwtBearerForm =
      settings.grant.type === 'jwt-bearer'
        ? createJwtBearerForm(settings, settings.grant, clock)
        : undefined;
    this.#sharedTokens = this.#createSharedTokens();
    this.#clientCredentialsForms = {
      'retrieve-date': clientCredentialsForm(scopeOf(settings.scopes, 'retrieve-date')),
      check: clientCredentialsForm(scopeOf(settings.scopes, 'check')),
    };
  }

  /** 2-legged: by client_credentials (service, "Endpoints" 3), or with a JWT as the grant (RFC 7523 §2.1). */
  async acquire(subject: TokenSubject, context: ExchangeContext): Promise<Acquired> {
    if (this.#sharedTokens !== undefined) return this.#sharedTokens.acquire(subject, context);
    const judged = await this.#publishedRequest(subject, context);
    switch (judged.kind) {
      case 'issued':
        return this.#issue(subject, judged.issued);
      case 'failed':
        return judged;
    }
  }

  /** A token that may be another request's, and is refused, shows that its connection is out of step. */
  #issue(subject: TokenSubject, issued: IssuedToken): Acquired {
    const { value, expiresAtMs, isUnproven } = issued;
    if (isUnproven !== true) return issue(subject, issued);
    const onRefused = (): void => this.#endpoints.token.distrust();
    return {
      kind: 'acquired',
      token: new AccessToken(subject, value, expiresAtMs, { isUnproven, onRefused }),
    };
  }

  #createSharedTokens(): SharedTokens | undefined {
    const { use, marginSeconds } = this.#settings.tokens;
    switch (use) {
      case 'once':
        return undefined;
      case 'per-number':
      case 'any-number':
        return new SharedTokens({
          kept: new KeptTokens(this.#clock, marginSeconds * 1000),
          reachOf: (subject) => tokenReach(this.#settings, subject),
          issue: async (subject, context) => {
            const judged = await this.#publishedRequest(subject, context);
            switch (judged.kind) {
              case 'issued':
                return { kind: 'issued', token: this.#reusable(subject, judged.issued) };
              case 'failed':
                return judged;
            }
          },
        });
    }
  }

  #publishedRequest(subject: TokenSubject, context: ExchangeContext): Promise<TokenJudgement> {
    if (!tokenChannel.hasSubscribers) return this.#request(subject, context);
    const message = messageOf(this.#settings.grant.type, subject, context);
    return traced(tokenChannel, message, () => this.#request(subject, context), resultOf);
  }

  async #request(subject: TokenSubject, context: ExchangeContext): Promise<TokenJudgement> {
    const first = await this.#requestOnce(subject, context);
    // The connections may be out of step: the next one is fresh, and so is what comes on it.
    return first === SEEN_TOKEN ? this.#requestOnce(subject, context, true) : first;
  }

  async #requestOnce(
    subject: TokenSubject,
    context: ExchangeContext,
    isSecond = false,
  ): Promise<TokenJudgement> {
    const form = this.#tokenForm(subject);
    const { judged } = await this.#post('token', subject, context, form, (exchange) =>
      this.#unlessSeen(judgeToken(exchange, this.#clock.nowMs()), exchange, isSecond),
    );
    return judged;
  }

  /** A token that came before, perhaps to another request of ours, is dropped the first time. */
  #unlessSeen(judged: TokenJudgement, exchange: Exchange, isSecond: boolean): TokenJudgement {
    if (judged.kind === 'failed' || exchange.kind === 'fault') return judged;
    const isSeen = this.#seenTokens?.see(judged.issued.value) === true;
    if (isSeen && !isSecond) return SEEN_TOKEN;
    if (exchange.isUnproven !== true) return judged;
    return { kind: 'issued', issued: { ...judged.issued, isUnproven: true } };
  }

  /** The grant of a token request, in whichever way the operator issues tokens without asking an owner. */
  #tokenForm(subject: TokenSubject): string | (() => Promise<string>) {
    const jwtBearerForm = this.#jwtBearerForm;
    if (jwtBearerForm !== undefined) return async () => encodeForm(await jwtBearerForm(subject));
    const username = usernameIn(this.#settings.grant, subject.number);
    const form = this.#clientCredentialsForms[subject.operation];
    return username === undefined ? form : `${form}&username=${encodeURIComponent(username)}`;
  }

  #reusable(subject: TokenSubject, { value, leftAtMs, expiresAtMs }: IssuedToken): ReusableToken {
    const { tokens } = this.#settings;
    return new ReusableToken({
      value,
      expiresAtMs: expiresAtMs ?? leftAtMs + tokens.defaultLifetimeSeconds * 1000,
      reach: tokenReach(this.#settings, subject),
      reachOf: (other) => tokenReach(this.#settings, other),
    });
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
          return this.#consented(subject, judged.issued);
        case 'failed':
        case 'go-on':
          return judged;
      }
    }).then(({ judged }) => judged);
  }

  /** The token of a consent: the holder of a reusable one keeps it to those whom the owner consented to. */
  #consented(subject: TokenSubject, issued: IssuedToken): Acquired {
    const acquired = issue(subject, issued);
    if (this.#settings.tokens.use === 'once' || acquired.kind === 'failed') return acquired;
    return { ...acquired, reusable: this.#reusable(subject, issued) };
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
function resultOf(polled: Polled | TokenJudgement): TokenResult {
  switch (polled.kind) {
    case 'acquired':
    case 'issued':
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

const NO_PROOF: ClientProof = { headers: [], form: {} };

/** What binds a token of client_credentials to a number, where the operator wants it. */
function usernameIn(
  grant: AuthorizationSettings['grant'],
  number: PhoneNumber,
): string | undefined {
  return grant.type === 'client_credentials' && grant.username !== undefined
    ? fillTemplate(grant.username, number)
    : undefined;
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
