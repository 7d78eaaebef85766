import type { Attack } from './attack.ts';
import { explorerExposed } from './browsers/explorerExposed.ts';
import { otherPages, rebinding } from './browsers/rebinding.ts';
import { consentScan } from './callers/consentScan.ts';
import { consentSpin } from './callers/consentSpin.ts';
import { hostileIssuer } from './callers/hostileIssuer.ts';
import { joinedAudited } from './callers/joinedAudited.ts';
import { keysWithoutKid, withdrawnKey } from './callers/keys.ts';
import { promptBombing } from './callers/promptBombing.ts';
import { outageQuota, overcount } from './callers/quotas.ts';
import { slowSenders } from './callers/slowSenders.ts';
import { subjectForms } from './callers/subjectForms.ts';
import { tokenFlood } from './callers/tokenFlood.ts';
import { tokenTricks } from './callers/tokenTricks.ts';
import { auditDisk, fullDisk } from './disks/auditDisk.ts';
import { auditSearch } from './disks/auditSearch.ts';
import { standardOutput } from './disks/standardOutput.ts';
import { badDocuments } from './documents/badDocuments.ts';
import { heapOfDocuments } from './documents/heapOfDocuments.ts';
import { hugeReplies } from './documents/hugeReplies.ts';
import { literalCode } from './documents/literalCode.ts';
import { batchScope, limits } from './documents/manyNumbers.ts';
import { slowReaders } from './documents/slowReaders.ts';
import { cibaWords } from './operators/cibaWords.ts';
import { contradictions } from './operators/contradictions.ts';
import { hostileReplies } from './operators/hostileReplies.ts';
import { deniedAtLookup, promptTwice } from './operators/prompts.ts';
import { frozenRedis } from './redis/frozenRedis.ts';
import { badAddress, hostileRedis } from './redis/hostileRedis.ts';
import { redisWriter } from './redis/redisWriter.ts';

/** The worst first: what time does not allow for is left out from the end. */
export const ATTACKS: readonly Attack[] = [
  literalCode,
  consentSpin,
  auditDisk,
  heapOfDocuments,
  hugeReplies,
  contradictions,
  promptTwice,
  limits,
  batchScope,
  standardOutput,
  promptBombing,
  badDocuments,
  tokenTricks,
  subjectForms,
  consentScan,
  joinedAudited,
  redisWriter,
  frozenRedis,
  rebinding,
  otherPages,
  explorerExposed,
  deniedAtLookup,
  cibaWords,
  outageQuota,
  overcount,
  keysWithoutKid,
  auditSearch,
  fullDisk,
  badAddress,
  hostileReplies,
  hostileIssuer,
  hostileRedis,
  slowReaders,
  slowSenders,
  tokenFlood,
  withdrawnKey,
];
