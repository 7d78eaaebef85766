import { describe, expect, it } from 'vitest';
import { readTraceparent, writeTraceparent } from '../../src/http/headers.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

describe('traceparent (W3C Trace Context)', () => {
  it.each([
    [`00-${TRACE_ID}-${SPAN_ID}-01`, true],
    [`00-${TRACE_ID}-${SPAN_ID}-00`, false],
    [`00-${TRACE_ID}-${SPAN_ID}-03`, true],
    [`00-${TRACE_ID}-${SPAN_ID}-fe`, false],
    [`cc-${TRACE_ID}-${SPAN_ID}-01`, true],
    [`cc-${TRACE_ID}-${SPAN_ID}-01-what-will-be`, true],
  ])('%s is read', (text, isSampled) => {
    expect(readTraceparent(text)).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID, isSampled });
  });

  it.each([
    undefined,
    '',
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    `00-${TRACE_ID}-${SPAN_ID}-01-more`,
    `cc-${TRACE_ID}-${SPAN_ID}-01.more`,
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01\n`,
  ])('%j begins a trace here', (text) => {
    expect(readTraceparent(text)).toBeUndefined();
  });

  it.each([
    `00-${'447700900123'.padStart(32, '0')}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'447700900123'.padStart(16, '0')}-01`,
    `00-${TRACE_ID}-${'447700900123'.padEnd(16, '9')}-01`,
  ])('%s may be about a number, and is not repeated', (text) => {
    expect(readTraceparent(text)).toBeUndefined();
  });

  it('is written as it is read', () => {
    for (const isSampled of [true, false]) {
      const parent = { traceId: TRACE_ID, spanId: SPAN_ID, isSampled };
      expect(readTraceparent(writeTraceparent(parent))).toEqual(parent);
    }
  });
});
