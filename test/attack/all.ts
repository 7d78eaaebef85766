import type { Attack } from './attack.ts';
import { explorerExposed } from './browsers/explorerExposed.ts';
import { otherPages, rebinding } from './browsers/rebinding.ts';
import { consentScan } from './callers/consentScan.ts';
import { consentSpin } from './callers/consentSpin.ts';
import { hostileIssuer } from './callers/hostileIssuer.ts';
import { joinedAudited } from './callers/joinedAudited.ts';
import { keysWithoutKid } from './callers/keysWithoutKid.ts';
import { outageQuota } from './callers/outageQuota.ts';
import { promptBombing } from './callers/promptBombing.ts';
import { slowSenders } from './callers/slowSenders.ts';
import { subjectForms } from './callers/subjectForms.ts';
import { tokenFlood } from './callers/tokenFlood.ts';
import { tokenTricks } from './callers/tokenTricks.ts';
import { withdrawnKey } from './callers/withdrawnKey.ts';
import { auditDisk } from './disks/auditDisk.ts';
import { auditSearch } from './disks/auditSearch.ts';
import { fullDisk } from './disks/fullDisk.ts';
import { standardOutput } from './disks/standardOutput.ts';
import { badDocuments } from './documents/badDocuments.ts';
import { heapOfDocuments } from './documents/heapOfDocuments.ts';
import { hugeReplies } from './documents/hugeReplies.ts';
import { batchScope } from './documents/batchScope.ts';
import { limits } from './documents/limits.ts';
import { literalCode } from './documents/literalCode.ts';
import { slowReaders } from './documents/slowReaders.ts';
import { cibaWords } from './operators/cibaWords.ts';
import { contradictions } from './operators/contradictions.ts';
import { deniedAtLookup } from './operators/deniedAtLookup.ts';
import { hostileReplies } from './operators/hostileReplies.ts';
import { promptTwice } from './operators/promptTwice.ts';
import { badAddress } from './redis/badAddress.ts';
import { frozenRedis } from './redis/frozenRedis.ts';
import { hostileRedis } from './redis/hostileRedis.ts';
import { overcount } from './redis/overcount.ts';
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
