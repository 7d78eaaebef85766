import { getHeapStatistics } from 'node:v8';

/** As measured a number at work takes 13 KiB, one that waits for its owner 22, and a request 41; and there is garbage. */
const HEAP_PER_NUMBER_BYTES = 64 * 1024;
const HEAP_PER_REQUEST_BYTES = 96 * 1024;

/** The young generation, which V8 adds to `--max-old-space-size`: what is held is not in it for long. */
const YOUNG_GENERATION_BYTES = 192 * 1024 * 1024;

/** More than that may take longer than a request has, however much memory there is. */
const MAX_AT_WORK = 5000;

/** The same for an operation as for others: while another caller waits, a caller has half of the places. */
const CALLERS = 2;

/** @param atWork as the settings have it; by the heap's limit where absent */
export function loadLimits(
  atWork: number | undefined,
  maxNumbersPerOperation: number,
  heapLimitBytes = getHeapStatistics().heap_size_limit,
) {
  const heapBytes = Math.max(heapLimitBytes - YOUNG_GENERATION_BYTES, heapLimitBytes / 4);
  const byHeap = Math.floor(heapBytes / HEAP_PER_NUMBER_BYTES);
  const given = atWork ?? Math.min(byHeap, MAX_AT_WORK);
  // Otherwise an operation of the size that is allowed would not get its answers.
  const enough = Math.max(given, CALLERS * maxNumbersPerOperation);
  return {
    numbers: { atWork: enough, held: Math.max(byHeap, CALLERS * enough) },
    /** Requests under way; one that waits for an owner is one as well. */
    requests: Math.floor(heapBytes / HEAP_PER_REQUEST_BYTES),
  };
}
