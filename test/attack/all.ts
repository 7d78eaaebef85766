import type { Attack } from './attack.ts';
import { explorerExposed } from './browsers/explorerExposed.ts';
import { hostileIssuer } from './callers/hostileIssuer.ts';
import { slowSenders } from './callers/slowSenders.ts';
import { badDocuments } from './documents/badDocuments.ts';
import { heapOfDocuments } from './documents/heapOfDocuments.ts';
import { hugeReplies } from './documents/hugeReplies.ts';
import { slowReaders } from './documents/slowReaders.ts';
import { hostileReplies } from './operators/hostileReplies.ts';
import { hostileRedis } from './redis/hostileRedis.ts';

/**
 * What is judged by a process of its own: its memory, its event loop, its descriptors, its log and its end. The worst
 * first: what time does not allow for is left out from the end.
 */
export const ATTACKS: readonly Attack[] = [
  heapOfDocuments,
  hugeReplies,
  badDocuments,
  explorerExposed,
  hostileReplies,
  hostileIssuer,
  hostileRedis,
  slowReaders,
  slowSenders,
];
