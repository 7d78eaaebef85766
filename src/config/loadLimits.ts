import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { RequestLoad } from '../graphql/fairShares.ts';

const MIB = 1024 * 1024;

/**
 * Measured, without garbage: 13 KiB for a number at work, 22 for one that waits for its owner, 41 for a request; outside
 * the heap, 7 KiB for a silent connection and 21 with 15 KB of headers.
 */
const HEAP_PER_NUMBER_BYTES = 64 * 1024;
const HEAP_PER_REQUEST_BYTES = 96 * 1024;

/**
 * What is resident and not in the heap, without bodies. Measured with Node 24 (`rss` less `heapTotal`): 87 MiB at rest, 64
 * of which are Node's own file; up to 121 with 400 lists of 100 at once.
 */
const OUTSIDE_HEAP_BYTES = 128 * MIB;
/** What the service itself takes of the heap: 40 to 46 MiB at rest. */
const OWN_HEAP_BYTES = 48 * MIB;
/** The least for requests in any container. */
const MIN_HEAP_BYTES = 16 * MIB;

/**
 * The limit whatever the memory. What would be late is refused by a bulkhead, by the rate of the last seconds: of a crowd
 * it takes up some 3,450 in ten seconds, where 256 at a time take 300 ms each for a token and for a lookup. But until then
 * each number is planned, and its consent read, from Redis too: those far beyond are refused before that.
 */
const MAX_AT_WORK = 5000;

/** The share for bodies that arrive: another eighth of the heap. */
const BODIES_SHARE = 8;

/** The share for replies that their clients have not read: beyond it the slowest are cut off. */
const UNREAD_SHARE = 8;
const MAX_UNREAD_BYTES = 128 * MIB;

/** The share for each of the documents, the facts and the consents that a process keeps. */
const STORES_SHARE = 8;

/** However small the heap: they are not in it, and a client that keeps its connections may have hundreds. */
const MIN_IDLE_CONNECTIONS = 1024;

/** While another caller waits, a caller has at most half of the places. */
const CALLERS = 2;

/** The parts of a body: its document, and everything but its document and its numbers. */
const MAX_DOCUMENT_BYTES = 256 * 1024;
const MEMBERS_BYTES = 4 * 1024;

/** A representation with room to spare; an operation with more numbers than allowed is refused by their count. */
const NUMBER_BYTES = 100;
const MAX_NUMBERS_TIMES = 10;
/** In JSON: the representation, `__typename` and `e164`. */
const VALUES_PER_NUMBER = 3;
/** The values of a body in addition to its numbers. */
const MEMBER_VALUES = 512;

/**
 * @param atWork by the settings; by the heap where absent
 * @param hasDocuments whether bodies have documents; otherwise they name trusted ones
 * @param heapBytes for what requests hold
 */
export function loadLimits(
  atWork: number | undefined,
  maxNumbersPerOperation: number,
  hasDocuments: boolean,
  heapBytes = heapForRequestsBytes(getHeapStatistics().heap_size_limit, ownMemoryBytes()),
) {
  const byHeap = Math.floor(heapBytes / HEAP_PER_NUMBER_BYTES);
  const given = atWork ?? Math.min(byHeap, MAX_AT_WORK);
  // With less, an operation of the allowed size would not get its answers.
  const enough = Math.max(given, CALLERS * maxNumbersPerOperation);
  const maxBodyBytes =
    MEMBERS_BYTES +
    MAX_NUMBERS_TIMES * maxNumbersPerOperation * NUMBER_BYTES +
    (hasDocuments ? MAX_DOCUMENT_BYTES : 0);
  const requests: RequestLoad = {
    placeBytes: HEAP_PER_REQUEST_BYTES,
    heldBytes: heapBytes,
    bodyBytes: Math.max(Math.floor(heapBytes / BODIES_SHARE), CALLERS * maxBodyBytes),
    idleConnections: Math.max(byHeap, MIN_IDLE_CONNECTIONS),
    unreadBytes: Math.min(Math.floor(heapBytes / UNREAD_SHARE), MAX_UNREAD_BYTES),
    maxBodyBytes,
    maxBodyValues: MEMBER_VALUES + MAX_NUMBERS_TIMES * maxNumbersPerOperation * VALUES_PER_NUMBER,
  };
  return {
    numbers: { atWork: enough, held: Math.max(byHeap, CALLERS * enough) },
    requests,
    /** The most of each store in this process. */
    storeBytes: Math.floor(heapBytes / STORES_SHARE),
  };
}

/** The memory of the container, otherwise of the machine. */
function ownMemoryBytes(): number {
  return Math.min(process.constrainedMemory() || Infinity, totalmem());
}

/**
 * What requests may take of V8's old generation in that memory: objects soon leave the young one, which is in the limit
 * as well.
 *
 * @param heapLimitBytes of both generations
 */
export function heapForRequestsBytes(heapLimitBytes: number, memoryBytes: number): number {
  const youngBytes = youngGenerationBytes(memoryBytes);
  const leftBytes = memoryBytes - youngBytes - OUTSIDE_HEAP_BYTES - OWN_HEAP_BYTES;
  const fitsBytes = Math.floor((leftBytes * BODIES_SHARE) / (BODIES_SHARE + 1));
  const inHeapBytes = heapLimitBytes - youngBytes - OWN_HEAP_BYTES;
  return Math.max(MIN_HEAP_BYTES, Math.min(inHeapBytes, fitsBytes));
}

/** Node 26 has a V8 whose young generation is half as large as in Node 24. */
const YOUNG_SHARE = Number.parseInt(process.versions.v8, 10) < 14 ? 1 : 2;

/** As V8 chooses it by the memory, whatever `--max-old-space-size` is. V8 does not report it. */
export function youngGenerationBytes(memoryBytes: number): number {
  if (YOUNG_SHARE === 1 && memoryBytes <= 512 * MIB) return 3 * MIB;
  // Three semi-spaces, each a power of two.
  return (3 * Math.min(64 * MIB, 2 ** Math.ceil(Math.log2(memoryBytes / 64)))) / YOUNG_SHARE;
}
