import type { ErrorMap } from '../src/judging/errorMap.ts';
import { knownTo } from '../src/judging/errorMap.ts';
import type { Exchange, HttpReply } from '../src/wire/exchange.ts';
import { readJsonObject } from '../src/wire/json.ts';
import { errorWord, judgeRefusal, leavesInDoubt } from '../src/judging/refusal.ts';
import type { OperatorSettings } from '../src/operator/operatorSettings.ts';
import { judgeToken } from '../src/tokens/tokenResponses.ts';

/** How an authorization server regards our client, by its reply to a token request or to a poll. */
export type ClientStanding =
  /** A token was issued. */
  | 'token issued'
  /** The client is known, but not the number, or not the request that was polled for. */
  | 'number refused'
  | 'grant refused'
  | 'scope refused'
  /** The client's authentication failed. */
  | 'client unknown'
  /** The client is known, and may not do this. */
  | 'client not allowed'
  | 'grant type refused'
  | 'request refused'
  | 'wrong address'
  | 'busy'
  | 'down'
  | 'token not taken'
  | 'not understood'
  | 'no reply';

/** A reply of an authorization server, read for what it says about our client. */
export interface ClientReply {
  readonly standing: ClientStanding;
  /** The status and the error word, or what broke: in words from our own lists. */
  readonly statement: string;
  /** `scope` of a token (RFC 6749 §5.1); absent where it is as requested. */
  readonly grantedScope?: string;
  /** How many seconds the server's clock is ahead of ours, where the reply has the time. */
  readonly aheadSeconds?: number;
}

/** How its replies are worded. */
type ReplySettings = Pick<OperatorSettings, 'errors' | 'tokens'>;

/** Reads what the reply to a token request, or to a poll, says about our client. Pure. */
export function readClientReply(
  exchange: Exchange | undefined,
  settings: ReplySettings,
  nowMs: number,
): ClientReply {
  switch (exchange?.kind) {
    case undefined:
      return { standing: 'no reply', statement: 'no address is known' };
    case 'fault': {
      const { cause, detail } = exchange.fault;
      return {
        standing: 'no reply',
        statement: cause === 'timeout' ? 'no answer in time' : detail,
      };
    }
    case 'reply': {
      const { reply } = exchange;
      const ahead = aheadSeconds(reply, nowMs);
      const clock = ahead === undefined ? {} : { aheadSeconds: ahead };
      return { ...readReply(exchange, settings, nowMs), ...clock };
    }
  }
}

function readReply(
  exchange: Extract<Exchange, { kind: 'reply' }>,
  { errors, tokens }: ReplySettings,
  nowMs: number,
): ClientReply {
  const { reply } = exchange;
  const judged = judgeToken(exchange, nowMs, errors, tokens.types);
  if (judged.kind === 'issued') {
    const scope = textIn(reply, 'scope');
    const statement = 'a token was issued';
    return scope === undefined
      ? { standing: 'token issued', statement: statement }
      : { standing: 'token issued', statement: statement, grantedScope: scope };
  }
  if (judged.flaw === 'wrong token_type' && textIn(reply, 'access_token') !== undefined) {
    return { standing: 'token not taken', statement: `${reply.status}, ${judged.flaw}` };
  }
  if (reply.status < 300) {
    return {
      standing: 'not understood',
      statement: `${reply.status}, ${judged.flaw ?? 'no token'}`,
    };
  }
  const word = knownTo(errors, errorWord(reply, { wordIn: 'error', errors }));
  const statement = word === undefined ? String(reply.status) : `${reply.status} ${word}`;
  return { standing: consentViewOf(reply, word, errors, nowMs), statement: statement };
}

function consentViewOf(
  reply: HttpReply,
  word: string | undefined,
  errors: ErrorMap,
  nowMs: number,
): ClientStanding {
  const byWord = BY_WORD[word ?? ''];
  if (byWord !== undefined) return byWord;
  const { status } = reply;
  if (status === 429) return 'busy';
  if (leavesInDoubt(status)) return 'down';
  const refusal = judgeRefusal(reply, nowMs, { wordIn: 'error', promptsOwner: false, errors });
  if (refusal.code === 'NUMBER_NOT_SERVED') return 'number refused';
  if (status === 401) return 'client unknown';
  if (status === 403) return 'client not allowed';
  if (status < 400 || status === 404 || status === 405 || status === 410) return 'wrong address';
  return 'request refused';
}

/** RFC 6749 §5.2, OpenID CIBA Core §11 and §13. */
const BY_WORD: Readonly<Partial<Record<string, ClientStanding>>> = {
  invalid_client: 'client unknown',
  unauthorized_client: 'client not allowed',
  access_denied: 'client not allowed',
  unsupported_grant_type: 'grant type refused',
  invalid_scope: 'scope refused',
  insufficient_scope: 'scope refused',
  unknown_user_id: 'number refused',
  invalid_grant: 'grant refused',
  expired_token: 'grant refused',
  authorization_pending: 'grant refused',
  slow_down: 'grant refused',
};

function textIn(reply: HttpReply, name: 'access_token' | 'scope'): string | undefined {
  const read = readJsonObject(reply);
  switch (read.kind) {
    case 'read': {
      const { [name]: value } = read.body;
      return typeof value === 'string' ? value : undefined;
    }
    case 'flawed':
      return undefined;
  }
}

function aheadSeconds({ headers }: HttpReply, nowMs: number): number | undefined {
  const { date } = headers;
  const saidMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(saidMs) ? undefined : Math.round((saidMs - nowMs) / 1000);
}
