import { randomUUID } from 'node:crypto';
import type { Clock } from '../system/clock.ts';
import { tokenChannel, traced, type TokenMessage, type TokenResult } from '../log/diagnostics.ts';
import type { LookupFailureCode } from '../domain/errors.ts';
import type { Ciba } from '../domain/profile.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { ErrorMap } from '../judging/errorMap.ts';
import type { Exchange } from '../wire/exchange.ts';
import { errorWord, failed, type Failed } from '../judging/refusal.ts';
import type { GuardedEndpoint, Judged, Outcome } from '../resilience/guardedEndpoint.ts';
import type { RetryBudget } from '../resilience/retries.ts';
import { WorkByKey, type Sharing } from '../system/urgency.ts';
import { AccessToken, type SeenTokens, type TokenSubject } from './accessToken.ts';
import {
  tokenCoverage,
  type AuthorizationEndpointName,
  type AuthorizationSettings,
  type TokenCoverage,
} from './authorizationSettings.ts';
import { encodeForm, type ClientAuthentication } from './clientAuthentication.ts';
import { KeptTokens, ReusableToken, TokenRefreshes } from './reusedTokens.ts';
import { provenRequests, type AuthorizationRequest, type WriteProven } from './tokenRequest.ts';
import {
  judgeAcknowledgement,
  judgePoll,
  judgeToken,
  SEEN_TOKEN,
  type AcknowledgementJudgement,
  type GoOn,
  type IssuedToken,
  type TokenJudgement,
} from './tokenResponses.ts';

/** The request that an exchange is made for: its correlator, deadline and abort signal. */
export interface ExchangeContext extends Sharing {
  /** Called when the first byte of an exchange leaves. */
  readonly onFirstByte?: () => void;
}

export type Acquired =
  | {
      readonly kind: 'acquired';
      readonly token: AccessToken;
      /** Present where the operator's tokens may be reused. */
      readonly reusable?: ReusableToken;
    }
  | Failed;

/** This many owners in a row are unlikely to have opted out: the assertion is at fault. */
const MAX_OPTED_OUT_IN_A_ROW = 5;

/** The request for a token, and its lookup. */
const REFRESH_EXCHANGES = 2;

/** More repeated tokens than this: the operator issues one token several times, or replies stay out of step. */
const MAX_TOKEN_REQUESTS = 3;

/** A token from a consent is issued first, and then spent by {@link TokenManager.rightTo}. */
export type Polled = TokenJudgement | GoOn;

export type TokenSettings = AuthorizationSettings & {
  readonly name: string;
  readonly errors: ErrorMap;
};

export interface TokenParts {
  /** Present where the reply to a token request may be another request's. */
  readonly seenTokens?: SeenTokens | undefined;
  /** The budget of the operator's retries, where tokens are reused; unlimited where absent. */
  readonly budget?: Pick<RetryBudget, 'take'>;
}

/** How a request for consent was acknowledged, and how many of its exchanges may have prompted. */
export type RequestedConsent = Pick<Outcome<AcknowledgementJudgement>, 'judged' | 'attempts'>;

export type AuthorizationEndpoints = Readonly<
  Record<AuthorizationEndpointName, Pick<GuardedEndpoint, 'post' | 'distrust'>>
>;

/** Acquires the right to each lookup (docs/design.md, "Where tokens come from"). No method rejects. */
export class TokenManager {
  readonly #settings: TokenSettings;
  readonly #endpoints: AuthorizationEndpoints;
  #write: WriteProven;
  readonly #clock: Clock;
  readonly #parts: TokenParts;
  /** The id of this process, where tokens are bound to its key. */
  readonly #holder: string | undefined;
  /** Whether the operator has issued a token for an assertion that the current key signed. */
  #isKeyTaken = false;
  /** Numbers whose token was refused since a token was last issued. */
  readonly #optedOut = new Set<PhoneNumber>();
  /** Reusable tokens of the 2-legged flow; absent where a token works once. */
  readonly #kept: KeptTokens | undefined;
  readonly #refreshes: TokenRefreshes;
  /** Requests for reusable tokens: each is made once, for all lookups that wait for it. */
  readonly #underWay = new WorkByKey<TokenCoverage, Acquired>();

  constructor(
    settings: TokenSettings,
    endpoints: AuthorizationEndpoints,
    authenticate: ClientAuthentication,
    clock: Clock,
    parts: TokenParts = {},
  ) {
    this.#settings = settings;
    this.#parts = parts;
    this.#holder = settings.authentication.dpop ? randomUUID() : undefined;
    this.#endpoints = endpoints;
    this.#write = provenRequests(settings, authenticate, clock);
    this.#clock = clock;
    const { use, marginSeconds } = settings.tokens;
    this.#kept = use === 'once' ? undefined : new KeptTokens(clock, marginSeconds * 1000);
    const { budget } = parts;
    this.#refreshes = new TokenRefreshes(clock, () => budget?.take(REFRESH_EXCHANGES) ?? true);
  }

  /** Later exchanges use these credentials; other settings do not change. */
  renew(settings: TokenSettings, authenticate: ClientAuthentication): void {
    this.#write = provenRequests(settings, authenticate, this.#clock);
    this.#isKeyTaken = false;
    this.#optedOut.clear();
  }

  /**
   * 2-legged: by client_credentials (docs/operator-api.md, "A token without consent"), or with a JWT as the grant (RFC
   * 7523 §2.1). Nothing is sent where there is no token step, or where a reusable token is held.
   *
   * @param earlier the token of the lookup's first attempt: no third token follows
   */
  acquire(
    subject: TokenSubject,
    context: ExchangeContext,
    earlier?: AccessToken,
  ): Promise<Acquired> | Acquired {
    const { type } = this.#settings.grant;
    if (type === 'ciba') {
      throw new Error('A token was requested without the consent that this flow requires.');
    }
    if (type === 'none') {
      return { kind: 'acquired', token: new AccessToken(subject, '', undefined) };
    }
    const isRetry = earlier !== undefined;
    const kept = this.#kept;
    if (kept === undefined) return this.#request(subject, context, isRetry);
    if (earlier?.isRefused === true) return this.#replace(earlier, kept, subject, context);
    const { trial } = this.#refreshes;
    if (trial === undefined) return this.#acquireShared(kept, subject, context, isRetry);
    return (context.signal?.unlessAborted(trial) ?? trial).then((isTaken) =>
      isTaken === true ? this.#acquireShared(kept, subject, context, isRetry) : TOKEN_REFUSED,
    );
  }

  /** The replacement of a shared token that was refused. */
  async #replace(
    { origin: { sharedSinceMs = Infinity } }: AccessToken,
    kept: KeptTokens,
    subject: TokenSubject,
    context: ExchangeContext,
  ): Promise<Acquired> {
    const refreshes = this.#refreshes;
    const turn = await refreshes.begin(sharedSinceMs, context.signal);
    switch (turn) {
      case 'refused':
        return TOKEN_REFUSED;
      case 'again':
        return this.#acquireShared(kept, subject, context, true);
      case 'first': {
        const onSettled = (isRefused: boolean): void => refreshes.ended(isRefused);
        const acquired = await this.#acquireShared(kept, subject, context, true, onSettled);
        if (acquired.kind === 'failed') refreshes.ended(false);
        return acquired;
      }
    }
  }

  /** A token serves all lookups that wait for it. A failure ends them all, and is not kept. */
  #acquireShared(
    kept: KeptTokens,
    subject: TokenSubject,
    context: ExchangeContext,
    isRetry: boolean,
    onSettled?: (isRefused: boolean) => void,
  ): Promise<Acquired> | Acquired {
    const coverage = tokenCoverage(this.#settings, subject);
    const lend = (token: ReusableToken): Acquired => {
      const onRefused = (): void => {
        if (!this.#refreshes.isBarred && onSettled === undefined) kept.drop(coverage, token);
      };
      return { kind: 'acquired', token: token.lend(subject, onRefused, onSettled) };
    };
    const known = kept.find(coverage);
    if (known !== undefined) return lend(known);
    const request = async (shared: ExchangeContext): Promise<Acquired> => {
      const issued = await this.#request(subject, shared, isRetry);
      if ('reusable' in issued) kept.keep(coverage, issued.reusable);
      return issued;
    };
    return this.#underWay
      .join(coverage, context, TOKEN_DEADLINE_EXCEEDED, request)
      .then((issued) => ('reusable' in issued ? lend(issued.reusable) : issued));
  }

  #request(subject: TokenSubject, context: ExchangeContext, isRetry: boolean): Promise<Acquired> {
    const message = (): TokenMessage => messageOf(this.#settings, subject, context);
    const judge = (exchange: Exchange) => this.#judgeToken(exchange, subject);
    const work = async (): Promise<Acquired> => {
      for (let requests = 1; ; requests += 1) {
        const { judged } = await this.#post('token', subject, context, judge, isRetry);
        if (judged.kind === 'issued') return this.rightTo(subject, judged.issued);
        // Connections may be out of step, so the next one is fresh. Its reply belongs to this request, but its token may
        // have reached another request that was still on an older connection.
        if (judged !== SEEN_TOKEN || requests >= MAX_TOKEN_REQUESTS) return judged;
      }
    };
    return traced(tokenChannel, message, work, resultOf);
  }

  #judgeToken(exchange: Exchange, { number }: TokenSubject): TokenJudgement {
    const { grant, errors, tokens } = this.#settings;
    const judged = judgeToken(exchange, this.#clock.nowMs(), errors, tokens.types);
    if (judged.kind === 'failed') {
      return grant.type === 'jwt-bearer' && grant.invalidGrant !== undefined
        ? this.#asOfOwner(judged, exchange, number, grant.invalidGrant)
        : judged;
    }
    this.#isKeyTaken = true;
    this.#optedOut.clear();
    // A token that was received before, perhaps by another request, is dropped.
    if (this.#parts.seenTokens?.see(judged.issued.value) === true) return SEEN_TOKEN;
    if (exchange.kind === 'fault' || exchange.isUnproven !== true) return judged;
    return { kind: 'issued', issued: { ...judged.issued, isUnproven: true } };
  }

  /**
   * `invalid_grant` may mean that the owner has opted out, but also that the assertion is invalid (RFC 7523 §3.1). It
   * counts as the owner's once a token was issued for our key, and until several numbers in a row are refused.
   */
  #asOfOwner(
    judged: TokenJudgement,
    exchange: Exchange,
    number: PhoneNumber,
    code: LookupFailureCode,
  ): TokenJudgement {
    const { errors } = this.#settings;
    if (exchange.kind === 'fault' || exchange.reply.status >= 500) return judged;
    if (errorWord(exchange.reply, { wordIn: 'error', errors }) !== 'invalid_grant') return judged;
    if (this.#optedOut.size < MAX_OPTED_OUT_IN_A_ROW) this.#optedOut.add(number);
    const isOfOwner = this.#isKeyTaken && this.#optedOut.size < MAX_OPTED_OUT_IN_A_ROW;
    return isOfOwner ? failed({ code, reach: 'number' }) : judged;
  }

  /** Whether this process can use the token. */
  holds({ holder }: Pick<IssuedToken, 'holder'>): boolean {
    return holder === this.#holder;
  }

  /**
   * The right to a lookup, in both flows: the holder of a consent's token restricts it to callers with that consent.
   */
  rightTo(
    subject: TokenSubject,
    issued: IssuedToken,
  ): Extract<Acquired, { readonly kind: 'acquired' }> {
    const { value, expiresAtMs, isUnproven = false } = issued;
    // If a token that may be another request's is refused, its connection is out of step.
    const origin = isUnproven
      ? { isUnproven, onRefused: () => this.#endpoints.token.distrust() }
      : undefined;
    const token = new AccessToken(subject, value, expiresAtMs, origin);
    if (this.#settings.tokens.use === 'once') return { kind: 'acquired', token };
    const endsAtMs = expiresAtMs ?? this.#assumedEndMs(issued);
    const coverageOf = (other: TokenSubject) => tokenCoverage(this.#settings, other);
    const { leftAtMs } = issued;
    const reusable = new ReusableToken(value, endsAtMs, subject, coverageOf, leftAtMs);
    return { kind: 'acquired', token, reusable };
  }

  #assumedEndMs({ leftAtMs }: IssuedToken): number {
    return leftAtMs + this.#settings.tokens.defaultLifetimeSeconds * 1000;
  }

  /** 3-legged: requests the owner's consent, which may ring their phone (OpenID CIBA Core §7.1). */
  requestConsent(subject: TokenSubject, context: ExchangeContext): Promise<RequestedConsent> {
    const { errors } = this.#settings;
    const { minIntervalSeconds } = cibaOf(this.#settings);
    return this.#post('backchannelAuthentication', subject, context, (exchange) =>
      judgeAcknowledgement(exchange, this.#clock.nowMs(), { errors, minIntervalSeconds }),
    );
  }

  /** 3-legged: polls once (OpenID CIBA Core §10.1). */
  poll(authReqId: string, subject: TokenSubject, context: ExchangeContext): Promise<Polled> {
    const { errors, tokens } = this.#settings;
    const { grantType } = cibaOf(this.#settings);
    const form = encodeForm({ grant_type: grantType, auth_req_id: authReqId });
    const message = (): TokenMessage => messageOf(this.#settings, subject, context);
    const judge = (exchange: Exchange) =>
      judgePoll(exchange, this.#clock.nowMs(), errors, tokens.types);
    const work = async (): Promise<Polled> => {
      const { judged } = await this.#post('cibaToken', subject, context, judge, false, { form });
      if (judged.kind !== 'issued') return judged;
      const { issued } = judged;
      const expiresAtMs = issued.expiresAtMs ?? this.#assumedEndMs(issued);
      const holder = this.#holder;
      return {
        kind: 'issued',
        issued: { ...issued, expiresAtMs, ...(holder === undefined ? {} : { holder }) },
      };
    };
    return traced(tokenChannel, message, work, resultOf);
  }

  /** @param poll sent instead of the grant's own request */
  #post<J extends Judged>(
    endpoint: AuthorizationEndpointName,
    subject: TokenSubject,
    context: ExchangeContext,
    judge: (exchange: Exchange) => J,
    isRetry = false,
    poll?: AuthorizationRequest,
  ): Promise<Outcome<J>> {
    return this.#endpoints[endpoint].post({
      about: subject.number,
      urgency: context,
      isRetry,
      // For each attempt: credentials may be renewed between two.
      make: (address) => this.#write(subject, address, context, poll),
      judge,
    });
  }
}

function messageOf(
  { name: operator, grant: { type: grant } }: TokenSettings,
  { operation }: TokenSubject,
  { correlator }: ExchangeContext,
): TokenMessage {
  if (grant === 'none') throw new Error('A token was requested where there is no token step.');
  return { operator, correlator: correlator.name, grant, operation };
}

/** The published result: never the token itself. */
function resultOf(polled: Polled | Acquired): TokenResult {
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

/** Refused tokens are not replaced now. */
const TOKEN_REFUSED = failed({ code: 'OPERATOR_REFUSED', reach: 'number' });

/** The request ended before the token was issued. */
const TOKEN_DEADLINE_EXCEEDED = failed({ code: 'OPERATOR_TIMEOUT', reach: 'number' });

/** @throws {Error} in a flow without consents, which is a defect */
function cibaOf({ grant }: AuthorizationSettings): Ciba {
  if (grant.type !== 'ciba') throw new Error('A consent was polled for in the 2-legged flow.');
  return grant;
}
