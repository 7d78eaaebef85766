import { randomBytes } from 'node:crypto';
import type { AccessTokens, NumberGrant } from './accessTokens.ts';
import type { Dialect } from './dialect.ts';
import { oauthError, type Reply } from './reply.ts';
import type { Counts } from './stats.ts';
import type { ConsentManner } from './testNumbers.ts';

interface Request {
  readonly grant: NumberGrant;
  readonly manner: ConsentManner;
  readonly promptedAtMs: number;
  readonly expiresAtMs: number;
  intervalMs: number;
  lastPollAtMs: number | undefined;
  hasSlowedDown: boolean;
}

/** The interval where the reply has none (OpenID CIBA Core §7.3). */
const UNTOLD_INTERVAL_SECONDS = 5;
const SLOW_DOWN_MS = 5000;

/** Polls that were sent an interval apart may arrive slightly closer together. */
const POLL_LEEWAY_MS = 100;

/** How long a request is remembered: longer than any is valid, to distinguish its end from an unknown id. */
const REMEMBERED_MS = 600_000;

/** The requests for consent, and their owners' answers (OpenID CIBA Core §7 and §11). */
export class Consents {
  readonly #standard: Dialect['consent'];
  readonly #tokens: AccessTokens;
  readonly #counts: Counts;
  readonly #nowMs: () => number;
  readonly #requests = new Map<string, Request>();
  /** How many polls of an id are waiting for their answer. */
  readonly #pollsUnderWay = new Map<string, number>();

  constructor(
    standard: Dialect['consent'],
    tokens: AccessTokens,
    counts: Counts,
    nowMs: () => number,
  ) {
    this.#standard = standard;
    this.#tokens = tokens;
    this.#counts = counts;
    this.#nowMs = nowMs;
  }

  /** Prompts the owner of the number, and acknowledges. */
  request(grant: NumberGrant, manner: ConsentManner): Reply {
    const nowMs = this.#nowMs();
    this.#forgetOld(nowMs);
    this.#counts.prompts += 1;
    if (this.#isPrompted(grant.number, nowMs)) this.#counts.doublePrompts += 1;

    const { expiresInSeconds, intervalSeconds } = { ...this.#standard, ...manner };
    const authReqId = randomBytes(24).toString('base64url');
    this.#requests.set(authReqId, {
      grant,
      manner,
      promptedAtMs: nowMs,
      expiresAtMs: nowMs + expiresInSeconds * 1000,
      intervalMs: (intervalSeconds ?? UNTOLD_INTERVAL_SECONDS) * 1000,
      lastPollAtMs: undefined,
      hasSlowedDown: false,
    });
    return {
      status: 200,
      body: {
        auth_req_id: authReqId,
        expires_in: expiresInSeconds,
        ...(intervalSeconds === null ? {} : { interval: intervalSeconds }),
      },
    };
  }

  /**
   * Answers one poll. An id that was redeemed, refused or expired is invalid. The poll is under way until {@link
   * pollAnswered}.
   */
  poll(authReqId: string): Reply {
    this.#counts.polls += 1;
    const underWay = this.#pollsUnderWay.get(authReqId) ?? 0;
    if (underWay > 0) this.#counts.overlappingPolls += 1;
    this.#pollsUnderWay.set(authReqId, underWay + 1);
    const nowMs = this.#nowMs();
    const request = this.#requests.get(authReqId);
    if (request === undefined) return oauthError(400, 'invalid_grant');
    if (nowMs >= request.expiresAtMs) return this.#end(authReqId, 'expired_token');

    const isEarly =
      request.lastPollAtMs !== undefined &&
      nowMs - request.lastPollAtMs < request.intervalMs - POLL_LEEWAY_MS;
    request.lastPollAtMs = nowMs;
    if (isEarly) this.#counts.earlyPolls += 1;
    if (isEarly || (request.manner.slowsDownOnce === true && !request.hasSlowedDown)) {
      request.hasSlowedDown = true;
      request.intervalMs += SLOW_DOWN_MS;
      return oauthError(400, 'slow_down');
    }
    return this.#decide(authReqId, request, nowMs);
  }

  /** The answer to a poll has left, or its client has gone. */
  pollAnswered(authReqId: string): void {
    const underWay = this.#pollsUnderWay.get(authReqId) ?? 0;
    if (underWay > 1) this.#pollsUnderWay.set(authReqId, underWay - 1);
    else this.#pollsUnderWay.delete(authReqId);
  }

  #decide(authReqId: string, { grant, manner, promptedAtMs }: Request, nowMs: number): Reply {
    const isDue = (afterMs: number | undefined): boolean =>
      afterMs !== undefined && nowMs - promptedAtMs >= afterMs;
    if (manner.pollError !== undefined) return this.#end(authReqId, manner.pollError);
    if (isDue(manner.deniedAfterMs)) return this.#end(authReqId, 'access_denied');
    if (!isDue(manner.grantedAfterMs)) return oauthError(400, 'authorization_pending');
    this.#requests.delete(authReqId);
    return this.#tokens.issue(grant);
  }

  #end(authReqId: string, error: string): Reply {
    this.#requests.delete(authReqId);
    return oauthError(400, error);
  }

  #forgetOld(nowMs: number): void {
    for (const [authReqId, { promptedAtMs }] of this.#requests) {
      if (promptedAtMs + REMEMBERED_MS > nowMs) return;
      this.#requests.delete(authReqId);
    }
  }

  #isPrompted(number: string, nowMs: number): boolean {
    return [...this.#requests.values()].some(
      (request) => request.grant.number === number && request.expiresAtMs > nowMs,
    );
  }
}
