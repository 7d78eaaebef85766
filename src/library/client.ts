// oxlint-disable-next-line import/no-unassigned-import -- before all others
import '../system/supportedNode.ts';
import { ANONYMOUS_IDENTITY } from '../domain/identity.ts';
import { FIELDS, type QuestionField } from '../domain/fields.ts';
import { parsePhoneNumber } from '../domain/phoneNumber.ts';
import { identityFrom, openEmbedded, termsOf } from './openEmbedded.ts';
import type { App } from '../app/app.ts';
import { ERRORS, QUOTA_MESSAGES } from '../domain/errors.ts';
import { createCorrelator } from '../system/correlator.ts';
import { RequestLife } from '../system/urgency.ts';
import type { FieldAnswer } from '../lookups/executor.ts';
import { DEADLINE_EXCEEDED, type LookupRequest } from '../lookups/lookupRoute.ts';

export interface SimSwapClientOptions {
  /**
   * The settings of docs/settings.md by their names. Pass `process.env` to use the environment, which is not read
   * otherwise. Settings of this package's own server, such as `PORT` and `JWT_…`, are ignored.
   */
  readonly settings: Readonly<Record<string, string | number | boolean | undefined>>;
  /**
   * Instead of `OPERATORS_FILE`: an object with the members of that file (docs/operators.md). Its secrets are `{ file
   * }` or a `{ variable }` of `settings`; a `profile` may be the profile itself (`sim-swap-subgraph/profile`).
   */
  readonly operators?: Readonly<Record<string, unknown>>;
  /** Gets what the service would log: outages, refusals, contradictions. Without it nothing is logged. */
  readonly log?: SimSwapLog;
}

/** A log such as pino, winston or `console`. No message and no detail has a phone number, a token or a secret. */
export interface SimSwapLog {
  info(message: string, details?: SimSwapLogDetails): void;
  warn(message: string, details?: SimSwapLogDetails): void;
  error(message: string, details?: SimSwapLogDetails): void;
}

export type SimSwapLogDetails = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SimSwapRequestOptions {
  /** Consents, quotas and kept answers are not shared with other callers. Requests without a caller are one caller. */
  readonly caller?: SimSwapCallerName;
  /** One of `PURPOSES`; the first of them where absent. */
  readonly purpose?: string;
  /** Ends the wait. Calls to an operator that have begun continue, and are not repeated. */
  readonly signal?: AbortSignal;
  /** The longest that the answers may take, from 1 to 300000; `REQUEST_TIMEOUT_MS` where absent. */
  readonly timeoutMs?: number;
  /** How long to wait for the owner of a number; `CONSENT_WAIT_MS` where absent. */
  readonly waitMs?: number;
  /** Names the request in the operator's log; at most 24 letters, digits and hyphens of it are sent. */
  readonly correlator?: string;
}

/** The name of a caller, as in an access token (RFC 9068). */
export interface SimSwapCallerName {
  readonly issuer: string;
  readonly subject: string;
  readonly client?: string;
}

/**
 * Why a question has no answer. It is data, so that it cannot be caught and read as `false`: **unknown is never
 * `false`**, and an unknown answer is not a reason to trust an SMS code.
 */
export interface SimSwapUnknown {
  readonly kind: 'unknown';
  /** One of the codes of docs/errors.md, such as `CONSENT_PENDING` or `OPERATOR_TIMEOUT`. */
  readonly code: string;
  /** For people; has no number. */
  readonly message: string;
  /** After how many seconds a retry can help. */
  readonly retryAfterSeconds?: number;
  /** For `CONSENT_PENDING`: until when the owner of the number may answer. */
  readonly expiresAt?: Date;
  /** For `PERIOD_NOT_SUPPORTED`: the longest period that can be answered, where it is known. */
  readonly maxAgeHours?: number;
  /** For `RATE_LIMITED`: the quota of an hour that was exceeded. */
  readonly quota?: 'numbers' | 'lookups' | 'prompts';
}

export type LastSimSwap =
  | {
      readonly kind: 'answered';
      /** RFC 3339, as the operator wrote it; `null` where the operator may not disclose the date. */
      readonly latestSimChange: string | null;
      /** When the operator was queried. */
      readonly asOf: Date;
    }
  | SimSwapUnknown;

export type SimSwappedWithin =
  | {
      readonly kind: 'answered';
      readonly swapped: boolean;
      /** When the operator was queried: the period ends there. */
      readonly asOf: Date;
    }
  | SimSwapUnknown;

export type SimSwapConsent =
  | {
      readonly kind: 'answered';
      /** `null` while it is not known. */
      readonly state:
        'NOT_NEEDED' | 'NOT_ASKED' | 'PENDING' | 'ANSWERED' | 'DENIED' | 'EXPIRED' | null;
      /** After how many seconds a retry can help. */
      readonly retryAfterSeconds?: number;
      /** Until when the owner of the number may answer. */
      readonly expiresAt?: Date;
    }
  | SimSwapUnknown;

/**
 * Questions about phone numbers. A number is written with its `+` and country code; spaces and hyphens may be between,
 * and `tel:` before it. No method rejects because of a number, an operator or an owner: the answer is a {@link
 * SimSwapUnknown} then. In the examples `simSwaps` is what {@link createSimSwapClient} returns.
 */
export interface SimSwapQuestions {
  /**
   * When the SIM of a number was last changed.
   *
   * @example
   *
   * ```ts
   * const answer = await simSwaps.lastSimSwap('+44 7700 900002');
   * const date = answer.kind === 'answered' ? answer.latestSimChange : undefined;
   *
   * console.log(date === null ? 'withheld' : typeof date); // string
   * ```
   */
  lastSimSwap(number: string, options?: SimSwapRequestOptions): Promise<LastSimSwap>;

  /**
   * Whether the SIM of a number was changed in the last hours.
   *
   * @example
   *
   * ```ts
   * async function mayTrustSms(number: string): Promise<boolean> {
   *   const answer = await simSwaps.simSwappedWithin(number, 72, { timeoutMs: 3000 });
   *   // Unknown is never `false`.
   *   return answer.kind === 'answered' && !answer.swapped;
   * }
   *
   * console.log(await mayTrustSms('+447700900004')); // true
   * console.log(await mayTrustSms('+447700900010')); // false
   * ```
   *
   * @param maxAgeHours a whole number of hours from 1 to 2400
   */
  simSwappedWithin(
    number: string,
    maxAgeHours: number,
    options?: SimSwapRequestOptions,
  ): Promise<SimSwappedWithin>;

  /**
   * Returns the state of the owner's consent, without a prompt or a lookup.
   *
   * @example
   *
   * ```ts
   * const consent = await simSwaps.simSwapConsent('+447700900001');
   * // The 2-legged flow needs no consent.
   * console.log(consent.kind === 'answered' ? consent.state : consent.code); // NOT_NEEDED
   * ```
   */
  simSwapConsent(number: string, options?: SimSwapRequestOptions): Promise<SimSwapConsent>;
}

/** Questions with one time limit, which began when they were gathered. */
export type SimSwapRequest = {
  readonly [Question in keyof SimSwapQuestions]: SimSwapQuestions[Question] extends (
    ...asked: [...infer Given, (SimSwapRequestOptions | undefined)?]
  ) => infer Answer
    ? (...asked: Given) => Answer
    : never;
};

/** Checks SIM swaps with operators, by the rules of the service and without GraphQL. */
export interface SimSwapClient extends SimSwapQuestions, AsyncDisposable {
  /**
   * Gathers questions: those about one number in one tick are planned together and cost the fewest lookups, and facts of
   * one answer those after it.
   *
   * @example
   *
   * ```ts
   * const request = simSwaps.request({
   *   caller: { issuer: 'https://id.example.com', subject: 'risk-engine' },
   * });
   *
   * // Three questions, and one lookup: the date answers the periods that it lies outside of.
   * const [date, day, month] = await Promise.all([
   *   request.lastSimSwap('+447700900004'),
   *   request.simSwappedWithin('+447700900004', 24),
   *   request.simSwappedWithin('+447700900004', 720),
   * ]);
   *
   * console.log(date.kind, day.kind, month.kind); // answered answered answered
   * ```
   */
  request(options?: SimSwapRequestOptions): SimSwapRequest;

  /**
   * Waits for work that is under way and must not be cut off, then closes all connections, as `await using` does. Do
   * not use the client after it.
   */
  close(): Promise<void>;
}

/**
 * Opens a client of the operators that the settings name, for the life of the process: it keeps connections, circuits,
 * consents and kept answers. It reads no environment by itself, takes no signal, starts no process and writes nothing,
 * unless the settings name an audit log. A Redis or an operator that is away does not hold it up.
 *
 * @example
 *
 * ```ts
 * import { createSimSwapClient } from 'sim-swap-subgraph/client';
 *
 * await using simSwaps = await createSimSwapClient({
 *   settings: { ...process.env, OPERATOR_TIMEOUT_MS: 2000 },
 *   log: console,
 * });
 * const answer = await simSwaps.simSwappedWithin('+447700900001', 240);
 *
 * console.log(answer.kind === 'answered' ? answer.swapped : answer.code); // true
 * ```
 *
 * @throws {Error} named `ConfigError`, whose message lists every problem of the settings
 */
export async function createSimSwapClient(options: SimSwapClientOptions): Promise<SimSwapClient> {
  const app = await openEmbedded(options);
  const request = (terms?: SimSwapRequestOptions): SimSwapRequest => requestOf(app, terms);
  const close = (): Promise<void> => app.close();
  return {
    lastSimSwap: async (number, terms) => request(terms).lastSimSwap(number),
    simSwappedWithin: async (number, maxAgeHours, terms) =>
      request(terms).simSwappedWithin(number, maxAgeHours),
    simSwapConsent: async (number, terms) => request(terms).simSwapConsent(number),
    request,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function requestOf(
  { config, clock, simSwaps }: App,
  options: SimSwapRequestOptions = {},
): SimSwapRequest {
  const { purpose, waitMs, timeoutMs } = termsOf(options, config);
  const { caller } = options;
  const life = new RequestLife(timeoutMs, clock, options.signal);
  const { signal, deadlineMs, cameInAtMs } = life;
  const request: LookupRequest = {
    signal,
    deadlineMs,
    cameInAtMs,
    caller: caller === undefined ? ANONYMOUS_IDENTITY : identityFrom(caller),
    purpose,
    correlator: createCorrelator(options.correlator),
    ...(waitMs === undefined ? {} : { waitMs: Math.min(waitMs, life.timeoutMs) }),
  };
  const loader = simSwaps.forRequest(request);
  const answerOf = async (
    field: QuestionField,
    text: string,
    hours?: number,
  ): Promise<FieldReply> => {
    // Without types it may be anything, such as a row of a database.
    const number = parsePhoneNumber(typeof text === 'string' ? text : '');
    if (number.kind === 'refused') return number;
    const question = FIELDS[field]({ maxAgeHours: hours });
    if (question.kind === 'refused') return question;
    // It runs only during a question; after its end it returns nothing, not even what it has learned.
    life.begin();
    try {
      if (signal.aborted) return { kind: 'failure', failure: DEADLINE_EXCEEDED };
      const answer = await loader.answer(number.value, question.value);
      if (answer.kind === 'defect') throw answer.error;
      // The caller has the answer here: there is no reply to wait for.
      loader.delivered();
      return answer;
    } finally {
      life.pause();
    }
  };
  return {
    lastSimSwap: async (number) => dateOf(await answerOf('lastSimSwap', number)),
    simSwappedWithin: async (number, maxAgeHours) =>
      swappedOf(await answerOf('simSwappedWithin', number, maxAgeHours)),
    simSwapConsent: async (number) => consentOf(await answerOf('simSwapConsent', number)),
  };
}

/** The result of a question; `refused` before any lookup. */
type FieldReply = FieldAnswer | { readonly kind: 'refused'; readonly reason: string };

function dateOf(reply: FieldReply): LastSimSwap {
  if (reply.kind !== 'date') return unknownOf(reply);
  const latestSimChange = reply.latestSimChange?.text ?? null;
  return { kind: 'answered', latestSimChange, asOf: new Date(reply.asOfMs) };
}

function swappedOf(reply: FieldReply): SimSwappedWithin {
  if (reply.kind !== 'window') return unknownOf(reply);
  return { kind: 'answered', swapped: reply.swapped, asOf: new Date(reply.asOfMs) };
}

function consentOf(reply: FieldReply): SimSwapConsent {
  if (reply.kind !== 'consent') return unknownOf(reply);
  const { state = null, retryAfterSeconds, expiresAtMs } = reply.consent ?? {};
  return { kind: 'answered', state, ...timesOf({ retryAfterSeconds, expiresAtMs }) };
}

/** The failure, where the requested kind of answer is missing; an answer of another kind is a defect of ours. */
function unknownOf(reply: FieldReply): SimSwapUnknown {
  if (reply.kind === 'refused') {
    return { kind: 'unknown', code: 'BAD_USER_INPUT', message: reply.reason };
  }
  if (reply.kind !== 'failure') {
    throw new Error(`An answer of the kind ${reply.kind} was not requested.`);
  }
  const { code, quota, maxAgeHours } = reply.failure;
  return {
    kind: 'unknown',
    code,
    message: quota === undefined ? ERRORS[code] : QUOTA_MESSAGES[quota],
    ...timesOf(reply.failure),
    ...(maxAgeHours === undefined ? {} : { maxAgeHours }),
    ...(quota === undefined ? {} : { quota }),
  };
}

function timesOf({
  retryAfterSeconds,
  expiresAtMs,
}: Partial<Record<'retryAfterSeconds' | 'expiresAtMs', number | undefined>>) {
  return {
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs) }),
  };
}
