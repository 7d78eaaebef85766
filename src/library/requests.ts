import type { Config } from '../config/config.ts';

/** As `REQUEST_TIMEOUT_MS`. A timer takes little more, and fires at once for what it does not take. */
const MAX_TIMEOUT_MS = 300_000;

interface AskedTerms {
  readonly purpose?: string;
  readonly waitMs?: number;
  readonly timeoutMs?: number;
}

/**
 * What a request is for, how long it would wait for the owner of a number, and how long its answers may take: what it
 * says, or else what the settings say.
 *
 * @throws {RangeError} when its purpose is not allowed, or a time is none: a timer would take it for none
 */
export function termsOf(
  { purpose, waitMs, timeoutMs: asked }: AskedTerms,
  { callers: { purposes }, requestTimeoutMs }: Pick<Config, 'callers' | 'requestTimeoutMs'>,
) {
  const found = purposes.find((one) => one === (purpose ?? purposes[0]));
  if (found === undefined) throw new RangeError('The purpose is not one of PURPOSES.');
  if (waitMs !== undefined && !(waitMs >= 0)) {
    throw new RangeError('waitMs is a number of milliseconds, from 0.');
  }
  const timeoutMs = asked ?? requestTimeoutMs;
  if (timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS) return { purpose: found, waitMs, timeoutMs };
  throw new RangeError(`timeoutMs is a number from 1 to ${MAX_TIMEOUT_MS}.`);
}
