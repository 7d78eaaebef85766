import { maskPhoneNumbers } from '../domain/phoneNumber.ts';
import type { HttpReply } from './exchange.ts';
import type { TraceParent } from '../log/diagnostics.ts';

/** The value of a header that may occur once; `undefined` when it is absent or repeated. Pure. */
export function singleValue(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

const MAX_SECONDS = 24 * 3600;

/** The forms of an HTTP date (RFC 9110 §5.6.7): the present one, RFC 850's and asctime's, all in UTC. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/,
];

/** `Retry-After` (RFC 9110 §10.2.3) in whole seconds from now, at most a day; `undefined` when absent or unreadable. */
export function retryAfterSeconds(reply: HttpReply, nowMs: number): number | undefined {
  const value = singleValue(reply.headers['retry-after'])?.trim();
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value), MAX_SECONDS);
  // Date.parse accepts much that is not an HTTP date.
  if (!HTTP_DATES.some((form) => form.test(value))) return undefined;
  // asctime has no zone, and Date.parse would assume the local one.
  const dateMs = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  if (Number.isNaN(dateMs)) return undefined;
  return Math.min(Math.max(0, Math.ceil((dateMs - nowMs) / 1000)), MAX_SECONDS);
}

/** `wait` of RFC 7240 §4.3: delta-seconds, as a token or quoted. */
const WAIT = /^wait[\t ]*=[\t ]*(?:(\d{1,9})|"(\d{1,9})")[\t ]*(?:;|$)/i;

/** The preference `wait` of a `Prefer` header (RFC 7240); the first one counts. Pure. */
export function preferredWaitMs(prefer: string | undefined): number | undefined {
  const preferences = prefer?.split(',').map((preference) => preference.trim()) ?? [];
  const first = preferences.find((preference) => /^wait\b/i.test(preference));
  const [, token, quoted] = WAIT.exec(first ?? '') ?? [];
  const seconds = token ?? quoted;
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** W3C Trace Context §3.2.2: the part that later versions share. */
const TRACEPARENT =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;

const NOTHING = /^0+$/;

/** Could be a padded phone number. One random span in 1800 matches as well: its trace starts again here. */
const MAY_BE_NUMBER = /^[0-9]+$/;

/** Reads the headers `traceparent` and `tracestate` (W3C Trace Context §3); `undefined` where a new trace starts. Pure. */
export function readTraceparent(text: string | undefined, state?: string): TraceParent | undefined {
  const { version, traceId, spanId, flags, rest } = TRACEPARENT.exec(text ?? '')?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  if (MAY_BE_NUMBER.test(traceId) || MAY_BE_NUMBER.test(spanId)) return undefined;
  const parent = { traceId, spanId, isSampled: Number.parseInt(flags, 16) % 2 === 1 };
  const isShort = state !== undefined && state.length <= MAX_STATE_CHARACTERS;
  // Members that are not valid are dropped where spans are made.
  return isShort && maskPhoneNumbers(state) === state ? { ...parent, state } : parent;
}

/** The length that every implementation passes on (W3C Trace Context §3.3.1.5). */
const MAX_STATE_CHARACTERS = 512;

/** The host of a request, by its header (RFC 9110 §7.2). */
export interface NamedHost {
  readonly name: string;
  readonly port: number;
}

const HOST = /^([\w.-]{1,253})(?::(\d{1,5}))?$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** A name or an IPv4 address, and its port; `undefined` for all else, and for what may be a phone number. Pure. */
export function readHost(text: string | undefined): NamedHost | undefined {
  const [, name, port = '80'] = HOST.exec(text ?? '') ?? [];
  if (name === undefined || (!IPV4.test(name) && maskPhoneNumbers(name) !== name)) return undefined;
  return { name, port: Number(port) };
}

export function writeTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Headers that belong to one connection of HTTP/1.1 (RFC 9113 §8.2.2). */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

export const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'authorization',
  'content-length',
  'content-type',
  'x-correlator',
]);

/** RFC 9110 §5.1. */
export const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Printable ASCII and tabs. */
export const HEADER_TEXT = /^[\t\x20-\x7e]*$/;
