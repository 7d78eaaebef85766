import { getHeapStatistics } from 'node:v8';

/** Measured, without garbage: 13 KiB a number at work, 22 for one that waits for its owner, 41 a request. */
const HEAP_PER_NUMBER_BYTES = 64 * 1024;
const HEAP_PER_REQUEST_BYTES = 96 * 1024;

/** The young generation, which V8 adds to `--max-old-space-size`; objects soon leave it. */
const YOUNG_GENERATION_BYTES = 192 * 1024 * 1024;

/** With more, numbers may take longer than a request has, whatever the memory. */
const MAX_AT_WORK = 5000;

/** While another caller waits, a caller has half of the places. */
const CALLERS = 2;

/** @param atWork by the settings; by the heap's limit where absent */
export function loadLimits(
  atWork: number | undefined,
  maxNumbersPerOperation: number,
  heapLimitBytes = getHeapStatistics().heap_size_limit,
) {
  const heapBytes = Math.max(heapLimitBytes - YOUNG_GENERATION_BYTES, heapLimitBytes / 4);
  const byHeap = Math.floor(heapBytes / HEAP_PER_NUMBER_BYTES);
  const given = atWork ?? Math.min(byHeap, MAX_AT_WORK);
  // Otherwise an operation of the allowed size would not get its answers.
  const enough = Math.max(given, CALLERS * maxNumbersPerOperation);
  return {
    numbers: { atWork: enough, held: Math.max(byHeap, CALLERS * enough) },
    /** Requests under way, with those that wait for an owner. */
    requests: Math.floor(heapBytes / HEAP_PER_REQUEST_BYTES),
  };
}
