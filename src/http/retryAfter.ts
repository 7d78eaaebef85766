import { singleHeader, type HttpReply } from './exchange.ts';

const LONGEST_SECONDS = 24 * 3600;

/**
 * `Retry-After` (RFC 9110 §10.2.3), seconds or an HTTP date, as whole seconds from now, at most a day;
 * `undefined` when absent or unreadable.
 */
export function retryAfterSeconds(reply: HttpReply, nowMs: number): number | undefined {
  const value = singleHeader(reply, 'retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Math.min(Number(value), LONGEST_SECONDS);
  // Date.parse takes much that is no HTTP date; all forms of one end in a year or in GMT.
  if (!/^[A-Z][a-z]{2,8},? .*(?:GMT|\d{4})$/.test(value)) return undefined;
  const dateMs = Date.parse(value);
  if (Number.isNaN(dateMs)) return undefined;
  return Math.min(Math.max(0, Math.ceil((dateMs - nowMs) / 1000)), LONGEST_SECONDS);
}
