import { getHeapStatistics } from 'node:v8';
import type { RequestLoad } from '../graphql/fairShares.ts';

/** Measured, without garbage: 13 KiB a number at work, 22 for one that waits for its owner, 41 a request. */
const HEAP_PER_NUMBER_BYTES = 64 * 1024;
const HEAP_PER_REQUEST_BYTES = 96 * 1024;

/** The young generation, which V8 adds to `--max-old-space-size`; objects soon leave it. */
const YOUNG_GENERATION_BYTES = 192 * 1024 * 1024;

/** With more, numbers may take longer than a request has, whatever the memory. */
const MAX_AT_WORK = 5000;

/** Of bodies that arrive, an eighth of the heap beside it. */
const BODIES_SHARE = 8;

/** While another caller waits, a caller has half of the places. */
const CALLERS = 2;

/** Of a body: its document, and all but its document and its numbers. */
const MAX_DOCUMENT_BYTES = 256 * 1024;
const MEMBERS_BYTES = 4 * 1024;

/** A representation with room to spare; an operation with more numbers than it may have is refused by their count. */
const NUMBER_BYTES = 100;
const MAX_NUMBERS_TIMES = 10;

/**
 * @param atWork by the settings; by the heap's limit where absent
 * @param hasDocuments whether bodies have documents; otherwise they name trusted ones
 */
export function loadLimits(
  atWork: number | undefined,
  maxNumbersPerOperation: number,
  hasDocuments: boolean,
  heapLimitBytes = getHeapStatistics().heap_size_limit,
) {
  const heapBytes = Math.max(heapLimitBytes - YOUNG_GENERATION_BYTES, heapLimitBytes / 4);
  const byHeap = Math.floor(heapBytes / HEAP_PER_NUMBER_BYTES);
  const given = atWork ?? Math.min(byHeap, MAX_AT_WORK);
  // Otherwise an operation of the allowed size would not get its answers.
  const enough = Math.max(given, CALLERS * maxNumbersPerOperation);
  const maxBodyBytes =
    MEMBERS_BYTES +
    MAX_NUMBERS_TIMES * maxNumbersPerOperation * NUMBER_BYTES +
    (hasDocuments ? MAX_DOCUMENT_BYTES : 0);
  const requests: RequestLoad = {
    placeBytes: HEAP_PER_REQUEST_BYTES,
    heldBytes: heapBytes,
    bodyBytes: Math.max(Math.floor(heapBytes / BODIES_SHARE), CALLERS * maxBodyBytes),
    maxBodyBytes,
  };
  return { numbers: { atWork: enough, held: Math.max(byHeap, CALLERS * enough) }, requests };
}
