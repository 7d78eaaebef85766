import { COMMON_ERRORS } from '../../../src/http/errorMap.ts';
import { describe, expect, it } from 'vitest';
import type { LookupFailure } from '../../../src/domain/errors.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import { findingOf } from '../../../src/http/resilience/finding.ts';
import type { ExchangeKind } from '../../../src/http/resilience/retryDecision.ts';
import { judgeDirectoryReply } from '../../../src/operator/directoryReply.ts';
import { judgeCheck } from '../../operator/camara.ts';
import { judgeAcknowledgement, judgePoll, judgeToken } from '../../../src/tokens/tokenResponses.ts';
import { START_MS } from '../../testClock.ts';
import { hours } from '../../values.ts';
import { jsonReply } from '../replies.ts';

const LOOKUP = {
  sentAtMs: START_MS,
  nowMs: START_MS,
  flow: '3-legged',
  errors: COMMON_ERRORS,
} as const;

interface Judged {
  readonly failure?: LookupFailure;
  readonly isUnproven?: boolean;
}

/** Judges an exchange as its endpoint does, and finds what the log says of it, in short. */
function told(kind: ExchangeKind, exchange: Exchange): string {
  const judged: Judged = judge(kind, exchange);
  const finding = findingOf({ ...judged, endpoint: 'here', kind, exchange, errors: COMMON_ERRORS });
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
    ['{"swapped":true,"swapped":false}', 'a member twice'],
    [{ swapped: 'false' }, 'wrong type of swapped'],
    [{ swapped: false, error: 'server_error' }, 'an error beside the answer'],
  ])('%j: %s', (body, check) => {
    expect(told('lookup', replied(200, body))).toBe(`warn, status: 200, check: ${check}`);
  });

  it.each<[Exchange, string]>([
    [
      {
        kind: 'fault',
        fault: { cause: 'invalid-reply', sent: true, detail: '', flaw: 'too large' },
      },
      'warn, check: too large',
    ],
    [
      {
        kind: 'fault',
        fault: { cause: 'invalid-reply', sent: true, detail: '', flaw: 'another correlator' },
      },
      'warn, check: another correlator',
    ],
    [
      {
        kind: 'fault',
        fault: {
          cause: 'invalid-reply',
          sent: true,
          detail: '',
          flaw: 'another correlator, never ours',
        },
      },
      'warn, check: another correlator, never ours, setting: echo: never',
    ],
    [
      {
        kind: 'fault',
        fault: {
          cause: 'invalid-reply',
          sent: true,
          detail: '',
          flaw: 'no correlator, never ours',
        },
      },
      'warn, check: no correlator, never ours, setting: echo: auto',
    ],
    [
      { kind: 'fault', fault: { cause: 'connection', sent: true, detail: 'ECONNRESET' } },
      'warn, detail: ECONNRESET',
    ],
    [
      { kind: 'fault', fault: { cause: 'cancelled', sent: true, detail: 'the request ended' } },
      'nothing',
    ],
  ])('%j', (exchange, expected) => {
    expect(told('lookup', exchange)).toBe(expected);
  });
});

describe("the log names the operator's word, from a list, and the setting that helps", () => {
  it.each<[ExchangeKind, number, unknown, string]>([
    ['lookup', 503, { code: 'UNAVAILABLE' }, 'warn, status: 503, word: UNAVAILABLE'],
    ['lookup', 500, {}, 'warn, status: 500'],
    ['lookup', 429, { code: 'QUOTA_EXCEEDED' }, 'warn, status: 429, word: QUOTA_EXCEEDED'],
    ['lookup', 409, { code: 'CONFLICT' }, 'warn, status: 409, word: CONFLICT'],
    ['lookup', 401, { code: 'UNAUTHENTICATED' }, 'error, status: 401, word: UNAUTHENTICATED'],
    [
      'lookup',
      403,
      { code: 'PERMISSION_DENIED' },
      'error, status: 403, word: PERMISSION_DENIED, setting: scopes',
    ],
    [
      'lookup',
      422,
      { code: 'UNIDENTIFIABLE_PHONE_NUMBER' },
      'error, status: 422, word: UNIDENTIFIABLE_PHONE_NUMBER, setting: sendPhoneNumber of the profile: always',
    ],
    [
      'lookup',
      422,
      { code: 'MISSING_IDENTIFIER' },
      'error, status: 422, word: MISSING_IDENTIFIER, setting: sendPhoneNumber of the profile: always',
    ],
    [
      'lookup',
      422,
      { code: 'UNNECESSARY_IDENTIFIER' },
      'error, status: 422, word: UNNECESSARY_IDENTIFIER, setting: sendPhoneNumber of the profile: never',
    ],
    [
      'lookup',
      400,
      { code: 'OUT_OF_RANGE' },
      'info, status: 400, word: OUT_OF_RANGE, setting: maxAgeHours',
    ],
    [
      'lookup',
      501,
      { code: 'NOT_IMPLEMENTED' },
      'warn, status: 501, word: NOT_IMPLEMENTED, setting: operations',
    ],
    ['lookup', 404, { error: 'Not Found' }, 'error, status: 404, setting: OPERATOR_SIM_SWAP_URL'],
    ['lookup', 307, '', 'error, status: 307, setting: OPERATOR_SIM_SWAP_URL'],
    ['lookup', 404, { code: 'IDENTIFIER_NOT_FOUND' }, 'nothing'],
    ['lookup', 403, { error: 'access_denied' }, 'warn, status: 403, word: access_denied'],
    [
      'lookup',
      401,
      { code: 'AUTHENTICATION_REQUIRED' },
      'warn, status: 401, word: AUTHENTICATION_REQUIRED',
    ],
    ['lookup', 400, { code: 'the number +447700900001 is malformed' }, 'error, status: 400'],
    ['lookup', 200, { swapped: false }, 'nothing'],
    [
      'client-credentials',
      401,
      { error: 'invalid_client' },
      'error, status: 401, word: invalid_client, setting: client',
    ],
    [
      'client-credentials',
      400,
      { error: 'unsupported_grant_type' },
      'error, status: 400, word: unsupported_grant_type, setting: OPERATOR_FLOW',
    ],
    [
      'client-credentials',
      404,
      { status: 404, error: 'Not Found' },
      'error, status: 404, setting: OPERATOR_AUTH_URL',
    ],
    [
      'backchannel-authentication',
      403,
      { error: 'access_denied' },
      'warn, status: 403, word: access_denied',
    ],
    ['backchannel-authentication', 429, {}, 'warn, status: 429'],
    ['backchannel-authentication', 503, {}, 'warn, status: 503'],
    ['token-poll', 400, { error: 'authorization_pending' }, 'nothing'],
    ['token-poll', 400, { error: 'access_denied' }, 'nothing'],
    ['token-poll', 400, { error: 'expired_token' }, 'nothing'],
    ['token-poll', 503, {}, 'warn, status: 503'],
    ['token-poll', 429, {}, 'warn, status: 429'],
    [
      'token-poll',
      400,
      { error: 'unsupported_grant_type' },
      'error, status: 400, word: unsupported_grant_type, setting: grantType of the profile',
    ],
  ])('%s: %d with %j', (kind, status, body, expected) => {
    expect(told(kind, replied(status, body))).toBe(expected);
  });

  it('says that a reply was left out which may be that of another request', () => {
    const exchange = { ...replied(400, { error: 'access_denied' }), isUnproven: true };
    expect(told('token-poll', exchange)).toBe('warn, status: 400, check: no correlator');
  });
});

describe('a connection that could not be made', () => {
  it.each([
    ['files', 'FILES_CANNOT_BE_USED', 'error'],
    ['proxy-name', 'ENOTFOUND', 'warn'],
    ['proxy-connection', 'ECONNREFUSED', 'warn'],
    ['proxy-tls', 'CERT_HAS_EXPIRED', 'error'],
    ['proxy-tunnel', 'PROXY_STATUS_407', 'error'],
    ['name', 'ENOTFOUND', 'warn'],
    ['connection', 'ECONNREFUSED', 'warn'],
    ['tls', 'ERR_SSL_WRONG_VERSION_NUMBER', 'warn'],
    ['certificate', 'CERT_HAS_EXPIRED', 'error'],
    ['client-certificate', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'error'],
  ] as const)('at %s, by %s, is told at level %s', (stage, detail, level) => {
    const exchange = {
      kind: 'fault',
      fault: { cause: 'connection', sent: false, detail, stage },
    } as const;
    expect(told('client-credentials', exchange)).toBe(
      `${level}, stage: ${stage}, detail: ${detail}`,
    );
    const finding = findingOf({
      endpoint: 'here',
      kind: 'lookup',
      exchange,
      errors: COMMON_ERRORS,
    });
    expect(finding?.message.includes('proxy')).toBe(stage.startsWith('proxy') || stage === 'files');
  });

  it('in plain text is known by its code', () => {
    const exchange = {
      kind: 'fault',
      fault: { cause: 'connection', sent: false, detail: 'ECONNREFUSED' },
    } as const;
    expect(told('lookup', exchange)).toBe('warn, detail: ECONNREFUSED');
  });
});

describe('of the number directory', () => {
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
