import type { HttpReply } from './exchange.ts';
import { singleValue } from './singleValue.ts';

const MAX_SECONDS = 24 * 3600;

/** The forms of an HTTP date (RFC 9110 §5.6.7): the present one, RFC 850's and asctime's, all in UTC. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/,
];

/**
 * `Retry-After` (RFC 9110 §10.2.3), seconds or an HTTP date, as whole seconds from now, at most a day;
 * `undefined` when absent or unreadable.
 */
export function retryAfterSeconds(reply: HttpReply, nowMs: number): number | undefined {
  const value = singleValue(reply.headers['retry-after'])?.trim();
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value), MAX_SECONDS);
  // Date.parse alone takes much that is no HTTP date.
  if (!HTTP_DATES.some((form) => form.test(value))) return undefined;
  // asctime names no zone, and Date.parse would take it for the local one.
  const dateMs = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  if (Number.isNaN(dateMs)) return undefined;
  return Math.min(Math.max(0, Math.ceil((dateMs - nowMs) / 1000)), MAX_SECONDS);
}
