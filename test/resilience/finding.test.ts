import { COMMON_ERRORS } from '../../src/judging/errorMap.ts';
import { describe, expect, it } from 'vitest';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { Exchange, TransportFault } from '../../src/wire/exchange.ts';
import { findingOf } from '../../src/resilience/finding.ts';
import type { ExchangeKind } from '../../src/resilience/retries.ts';
import { judgeDirectoryReply } from '../../src/operator/numberDirectory.ts';
import { judgeCheck } from '../operator/camara.ts';
import { judgeAcknowledgement, judgePoll, judgeToken } from '../../src/tokens/tokenResponses.ts';
import { START_MS } from '../support/testClock.ts';
import { hours } from '../support/values.ts';
import { jsonReply } from '../wire/replies.ts';

const LOOKUP = {
  sentAtMs: START_MS,
  nowMs: START_MS,
  flow: '3-legged',
  errors: COMMON_ERRORS,
} as const;

const INVALID_REPLY = { cause: 'invalid-reply', sent: true, detail: '' } as const;
const DENIED = { error: 'access_denied' };
const INVALID_CLIENT = { error: 'invalid_client' };
const UNSUPPORTED = { error: 'unsupported_grant_type' };
const WORD = 'word: unsupported_grant_type';
const GRANT_TYPE = 'grantType of the profile';
const PROMPT = 'backchannel-authentication';
const TOKEN = 'client-credentials';

const COMMON = {
  endpoint: 'here',
  errors: COMMON_ERRORS,
  nameSetting: (member: string) => `${member} of "theirs"`,
} as const;

interface Judged {
  readonly failure?: LookupFailure;
  readonly isUnproven?: boolean;
}

/** Judges an exchange as its endpoint does, and finds what the log says of it, in short. */
function told(kind: ExchangeKind, exchange: Exchange): string {
  const judged: Judged = judge(kind, exchange);
  const finding = findingOf({ ...judged, ...COMMON, kind, exchange });
  if (finding === undefined) return 'nothing';
  const { endpoint: _, ...details } = finding.details;
  const said = Object.entries(details).filter(([, value]) => value !== undefined);
  return [finding.level, ...said.map(([name, value]) => `${name}: ${value}`)].join(', ');
}

function judge(kind: ExchangeKind, exchange: Exchange): object {
  switch (kind) {
    case 'lookup':
      return exchange.kind === 'reply' ? judgeCheck(exchange.reply, LOOKUP, hours(24)) : {};
    case 'client-credentials':
      return judgeToken(exchange, START_MS);
    case 'backchannel-authentication':
      return judgeAcknowledgement(exchange, START_MS);
    case 'token-poll':
      return judgePoll(exchange, START_MS);
    case 'directory':
      return judgeDirectoryReply(exchange);
  }
}

function replied(status: number, body: unknown): Exchange {
  return { kind: 'reply', reply: jsonReply(status, body), sentAtMs: START_MS, leftAtMs: 0 };
}

describe('the log names the check that a reply failed', () => {
  it.each<[unknown, string]>([
    ['<html></html>', 'no JSON'],
    [{ swapped: 'false' }, 'wrong type of swapped'],
    [{ swapped: false, error: 'server_error' }, 'an error with the answer'],
  ])('%j: %s', (body, check) => {
    expect(told('lookup', replied(200, body))).toBe(`warn, status: 200, check: ${check}`);
  });

  it.each<[TransportFault, string]>([
    [{ ...INVALID_REPLY, flaw: 'too large' }, 'warn, check: too large'],
    [
      { ...INVALID_REPLY, flaw: 'another correlator, and ours was never echoed' },
      'warn, check: another correlator, and ours was never echoed, setting: echo of "theirs": never',
    ],
    [
      { ...INVALID_REPLY, flaw: 'no correlator, and ours was never echoed' },
      'warn, check: no correlator, and ours was never echoed, setting: echo of "theirs": auto',
    ],
    [{ cause: 'connection', sent: true, detail: 'ECONNRESET' }, 'warn, detail: ECONNRESET'],
    // Plain text has no stages.
    [{ cause: 'connection', sent: false, detail: 'ECONNREFUSED' }, 'warn, detail: ECONNREFUSED'],
    [{ cause: 'cancelled', sent: true, detail: 'the request ended' }, 'nothing'],
  ])('%j', (fault, expected) => {
    expect(told('lookup', { kind: 'fault', fault })).toBe(expected);
  });
});

describe("the log names the operator's word, from a list, and the setting that helps", () => {
  it.each<[number, string, string, string?]>([
    [503, 'UNAVAILABLE', 'warn'],
    [401, 'UNAUTHENTICATED', 'error'],
    [401, 'AUTHENTICATION_REQUIRED', 'warn'],
    [403, 'PERMISSION_DENIED', 'error', 'scopes of "theirs"'],
    [422, 'UNIDENTIFIABLE_PHONE_NUMBER', 'error', 'sendPhoneNumber of the profile: always'],
    [422, 'MISSING_IDENTIFIER', 'error', 'sendPhoneNumber of the profile: always'],
    [422, 'UNNECESSARY_IDENTIFIER', 'error', 'sendPhoneNumber of the profile: never'],
    [400, 'OUT_OF_RANGE', 'info', 'maxAgeHours of "theirs"'],
    [501, 'NOT_IMPLEMENTED', 'warn', 'operations of "theirs"'],
  ])('lookup: %d with %s at level %s, setting: %s', (status, code, level, setting) => {
    const helps = setting === undefined ? '' : `, setting: ${setting}`;
    const expected = `${level}, status: ${status}, word: ${code}${helps}`;
    expect(told('lookup', replied(status, { code }))).toBe(expected);
  });

  it.each<[ExchangeKind, number, unknown, string]>([
    ['lookup', 500, {}, 'warn, status: 500'],
    ['lookup', 404, { error: 'Not Found' }, 'error, status: 404, setting: simSwapUrl of "theirs"'],
    ['lookup', 307, '', 'error, status: 307, setting: simSwapUrl of "theirs"'],
    ['lookup', 404, { code: 'IDENTIFIER_NOT_FOUND' }, 'nothing'],
    ['lookup', 403, DENIED, 'warn, status: 403, word: access_denied'],
    ['lookup', 400, { code: 'the number +447700900001 is malformed' }, 'error, status: 400'],
    ['lookup', 200, { swapped: false }, 'nothing'],
    [
      TOKEN,
      401,
      INVALID_CLIENT,
      'error, status: 401, word: invalid_client, setting: client of "theirs"',
    ],
    [TOKEN, 400, UNSUPPORTED, `error, status: 400, ${WORD}, setting: flow of "theirs"`],
    [TOKEN, 404, { error: 'Not Found' }, 'error, status: 404, setting: authUrl of "theirs"'],
    [PROMPT, 403, DENIED, 'warn, status: 403, word: access_denied'],
    [PROMPT, 429, {}, 'warn, status: 429'],
    ['token-poll', 400, { error: 'authorization_pending' }, 'nothing'],
    ['token-poll', 400, DENIED, 'nothing'],
    ['token-poll', 400, { error: 'expired_token' }, 'nothing'],
    ['token-poll', 503, {}, 'warn, status: 503'],
    ['token-poll', 429, {}, 'warn, status: 429'],
    ['token-poll', 400, UNSUPPORTED, `error, status: 400, ${WORD}, setting: ${GRANT_TYPE}`],
  ])('%s: %d with %j', (kind, status, body, expected) => {
    expect(told(kind, replied(status, body))).toBe(expected);
  });

  it('warns of an ignored reply that may be that of another request', () => {
    const exchange = { ...replied(400, { error: 'access_denied' }), isUnproven: true };
    expect(told('token-poll', exchange)).toBe('warn, status: 400, check: no correlator');
  });
});

describe('a connection that was not made', () => {
  it.each([
    ['files', 'FILES_CANNOT_BE_USED', 'error'],
    ['proxy-connection', 'ECONNREFUSED', 'warn'],
    ['proxy-tunnel', 'PROXY_STATUS_407', 'error'],
    ['certificate', 'CERT_HAS_EXPIRED', 'error'],
    ['client-certificate', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'error'],
  ] as const)('at %s, by %s, is logged at level %s', (stage, detail, level) => {
    const exchange = {
      kind: 'fault',
      fault: { cause: 'connection', sent: false, detail, stage },
    } as const;
    expect(told('client-credentials', exchange)).toBe(
      `${level}, stage: ${stage}, detail: ${detail}`,
    );
    const finding = findingOf({ ...COMMON, kind: 'lookup', exchange });
    expect(finding?.message.includes('proxy')).toBe(stage.startsWith('proxy') || stage === 'files');
  });
});

describe('the number directory', () => {
  it.each<[string, Exchange, string]>([
    ['an answer', replied(200, { operator: 'first' }), 'nothing'],
    ['no operator', replied(200, { operator: null }), 'nothing'],
    ['HTML', replied(200, '<html></html>'), 'warn, status: 200, check: no JSON'],
    [
      'a wrong type',
      replied(200, { operator: 7 }),
      'warn, status: 200, check: wrong type of operator',
    ],
    ['a refusal', replied(401, {}), 'error, status: 401, setting: directory.url of OPERATORS_FILE'],
    ['trouble', replied(503, {}), 'warn, status: 503'],
  ])('%s', (_, exchange, finding) => {
    expect(told('directory', exchange)).toBe(finding);
  });
});
