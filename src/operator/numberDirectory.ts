import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Correlator } from '../system/correlator.ts';
import type { Exchange } from '../wire/exchange.ts';
import { readAnswer } from '../judging/answer.ts';
import { failed, judgeFault, leavesInDoubt, type Failed } from '../judging/refusal.ts';
import type { GuardedEndpoint } from '../resilience/guardedEndpoint.ts';
import type { Urgency } from '../system/urgency.ts';

export type DirectoryJudgement =
  | { readonly kind: 'named'; readonly operator: string }
  | { readonly kind: 'none' }
  | (Failed & {
      /** Whether nothing was sent about the number, since the directory does not have it. */
      readonly isUnsent?: boolean;
    });

/**
 * Which operator serves a number, by the company's number directory: `POST {phoneNumber}`, until the deadline. Nothing of
 * it is billed. Never rejects.
 */
export async function operatorOf(
  endpoint: GuardedEndpoint,
  number: PhoneNumber,
  urgency: Urgency,
  correlator: Correlator,
): Promise<DirectoryJudgement> {
  const { judged, attempts } = await endpoint.post({
    about: number,
    urgency,
    make: () => ({
      headers: [],
      contentType: 'application/json',
      body: JSON.stringify({ phoneNumber: number }),
      correlator: correlator.next(),
      signal: urgency.signal,
    }),
    judge: judgeDirectoryReply,
  });
  return judged.kind === 'failed' && attempts === 0 ? { ...judged, isUnsent: true } : judged;
}

/** `{operator: name | null}` with status 200, and nothing else. Pure. */
export function judgeDirectoryReply(exchange: Exchange): DirectoryJudgement {
  if (exchange.kind === 'fault') return failed(judgeFault(exchange.fault));
  const { reply } = exchange;
  if (leavesInDoubt(reply.status) || reply.status === 429) {
    return failed({ code: 'OPERATOR_UNAVAILABLE', reach: 'number' });
  }
  if (reply.status >= 300) return failed({ code: 'OPERATOR_REFUSED', reach: 'number' });
  const read = readAnswer(reply);
  if (read.kind === 'read') {
    const { operator } = read.body;
    if (operator === null) return { kind: 'none' };
    if (typeof operator === 'string') return { kind: 'named', operator };
  }
  const flaw = read.kind === 'flawed' ? read.flaw : 'wrong type of operator';
  return failed({ code: 'OPERATOR_INVALID_REPLY', reach: 'number' }, flaw);
}
