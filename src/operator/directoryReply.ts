import type { LookupFailure } from '../domain/errors.ts';
import type { Exchange, HttpReply, ReplyFlaw } from '../http/exchange.ts';
import { readAnswer, type JsonObject } from '../http/json.ts';
import { judgeFault, leavesInDoubt } from '../http/refusal.ts';

export type DirectoryJudgement =
  | { readonly kind: 'named'; readonly operator: string }
  /** No operator serves it. */
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly failure: LookupFailure; readonly flaw?: ReplyFlaw };

/** Judges a reply of the number directory: `{operator: name | null}` with status 200, and nothing else. Pure. */
export function judgeDirectoryReply(exchange: Exchange): DirectoryJudgement {
  switch (exchange.kind) {
    case 'fault':
      return { kind: 'failed', failure: judgeFault(exchange.fault) };
    case 'reply':
      return judgeReply(exchange.reply);
  }
}

function judgeReply(reply: HttpReply): DirectoryJudgement {
  if (leavesInDoubt(reply.status) || reply.status === 429) {
    return { kind: 'failed', failure: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' } };
  }
  if (reply.status >= 300) {
    return { kind: 'failed', failure: { code: 'OPERATOR_REFUSED', reach: 'number' } };
  }
  const read = readAnswer(reply);
  switch (read.kind) {
    case 'read':
      return judgeBody(read.body);
    case 'flawed':
      return invalid(read.flaw);
  }
}

function judgeBody({ operator }: JsonObject): DirectoryJudgement {
  if (operator === null) return { kind: 'none' };
  if (typeof operator !== 'string') return invalid('wrong type of operator');
  return { kind: 'named', operator };
}

function invalid(flaw: ReplyFlaw): DirectoryJudgement {
  return { kind: 'failed', failure: { code: 'OPERATOR_INVALID_REPLY', reach: 'number' }, flaw };
}
