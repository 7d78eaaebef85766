import type { TraceParent } from '../log/diagnostics.ts';

/** W3C Trace Context §3.2.2: of later versions, that much is read. */
const TRACEPARENT =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;

/** All zeros name nothing. */
const NOTHING = /^0+$/;

/**
 * An id of digits alone may be a phone number that was filled up, and would be in each of our spans. Of random ones, one
 * span in 1800 looks so: its trace begins anew here.
 */
const MAY_BE_NUMBER = /^[0-9]+$/;

const SAMPLED = 0x01;

/** Reads the header `traceparent` (W3C Trace Context §3.2); `undefined` where a trace is to begin here. Pure. */
export function readTraceparent(text: string | undefined): TraceParent | undefined {
  const { version, traceId, spanId, flags, rest } = TRACEPARENT.exec(text ?? '')?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  if (MAY_BE_NUMBER.test(traceId) || MAY_BE_NUMBER.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** The header `traceparent` of what is asked next. Pure. */
export function writeTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
