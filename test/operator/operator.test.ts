import { COMMON_ERRORS } from '../../src/http/errorMap.ts';
import { describe, expect, it } from 'vitest';
import type { Lookup } from '../../src/domain/question.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { Operator, type LookupManner, type LookupOrder } from '../../src/operator/operator.ts';
import { CAMARA_LOOKUPS, CIBA, CLIENT_CREDENTIALS } from './camara.ts';
import { judgeCheck, judgeRetrieveDate } from './camara.ts';
import { AccessToken, TokenMisused } from '../../src/tokens/accessToken.ts';
import type { Flow } from '../../src/tokens/authorizationSettings.ts';
import type { ExchangeContext } from '../../src/tokens/tokenManager.ts';
import { answerJson, deadUrl, RecordingServer, type Answer } from '../http/recordingServer.ts';
import { AMPLE_MS, TestEndpoint } from '../http/testEndpoint.ts';
import { START_MS, TestClock } from '../testClock.ts';
import { ALICE, BOB, hours } from '../values.ts';

const DATE: Lookup = { operation: 'retrieve-date' };
const CHECK: Lookup = { operation: 'check', maxAgeHours: hours(240) };

const answerBoth: Answer = (received, response) =>
  answerJson(
    received,
    response,
    received.path.endsWith('/check') ? { swapped: false } : { latestSimChange: null },
  );

class TestOperator implements AsyncDisposable {
  readonly clock = new TestClock();
  readonly operator: Operator;
  readonly #endpoints: readonly TestEndpoint[];

  constructor(
    url: string,
    flow: Flow = '2-legged',
    send: LookupManner['sendPhoneNumber'] = 'auto',
  ) {
    const retrieveDate = new TestEndpoint(`${url}/retrieve-date`);
    const check = new TestEndpoint(`${url}/check`);
    this.#endpoints = [retrieveDate, check];
    this.operator = new Operator(
      {
        name: 'operator',
        flow,
        grant: flow === '2-legged' ? CLIENT_CREDENTIALS : CIBA,
        ...CAMARA_LOOKUPS,
        sendPhoneNumber: send,
        lookupAddresses: { retrieveDate: `${url}/retrieve-date`, check: `${url}/check` },
        errors: COMMON_ERRORS,
      },
      {
        retrieveDate: retrieveDate.guarded('lookup', this.clock),
        check: check.guarded('lookup', this.clock),
      },
      { retrieveDate: judgeRetrieveDate, check: judgeCheck },
      this.clock,
      { authenticate: () => () => ({ headers: [], form: {} }) },
    );
  }

  async lookUp(lookup: Lookup, order: Partial<LookupOrder> = {}) {
    const token = tokenFor(lookup);
    return this.operator.lookUp({ lookup, number: ALICE, token, ...order }, this.context());
  }

  context(): ExchangeContext {
    return {
      correlator: createCorrelator('request'),
      deadlineMs: this.clock.monotonicMs() + AMPLE_MS,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#endpoints.map((one) => one[Symbol.asyncDispose]()));
  }
}

function tokenFor({ operation }: Lookup, value = 'token-of-alice'): AccessToken {
  return new AccessToken({ number: ALICE, operation }, value, undefined);
}

describe('a lookup on the wire', () => {
  it.each<[Lookup, string, object, object]>([
    [
      DATE,
      '/sim-swap/retrieve-date',
      { phoneNumber: '+447700900001' },
      { operation: 'retrieve-date', latestSimChange: null, sentAtMs: START_MS },
    ],
    [
      CHECK,
      '/sim-swap/check',
      { phoneNumber: '+447700900001', maxAge: 240 },
      { operation: 'check', maxAgeHours: 240, swapped: false, sentAtMs: START_MS },
    ],
  ])('$operation is one POST with its token', async (lookup, path, body, fact) => {
    await using server = await RecordingServer.start(answerBoth);
    await using test = new TestOperator(`${server.url}/sim-swap`);
    expect(await test.lookUp(lookup)).toEqual({
      judged: { kind: 'answered', facts: [fact] },
      attempts: 1,
      mayRetryWithNewToken: false,
    });
    expect(server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({
      path,
      headers: {
        authorization: 'Bearer token-of-alice',
        'content-type': 'application/json',
        'x-correlator': expect.stringMatching(/^request-[A-Za-z0-9]{12}-1$/) as string,
      },
    });
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual(body);
  });

  it.each<[Flow, LookupManner['sendPhoneNumber'], boolean]>([
    ['2-legged', 'auto', true],
    ['2-legged', 'always', true],
    ['2-legged', 'never', false],
    ['3-legged', 'auto', false],
    ['3-legged', 'always', true],
    ['3-legged', 'never', false],
  ])('%s, sending the number %s: its body names it: %s', async (flow, send, named) => {
    await using server = await RecordingServer.start(answerBoth);
    await using test = new TestOperator(server.url, flow, send);
    await test.lookUp(DATE);
    await test.lookUp(CHECK);
    const phoneNumber = named ? { phoneNumber: ALICE } : {};
    expect(server.received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      phoneNumber,
      { ...phoneNumber, maxAge: 240 },
    ]);
  });
});

describe('the token of a lookup', () => {
  it('is spent once: a second lookup with it never reaches the wire', async () => {
    await using server = await RecordingServer.start(answerBoth);
    await using test = new TestOperator(server.url);
    const token = tokenFor(CHECK);
    await test.lookUp(CHECK, { token });
    await expect(test.lookUp(CHECK, { token })).rejects.toThrow(TokenMisused);
    expect(server.received).toHaveLength(1);
  });

  it.each<[string, Partial<LookupOrder>]>([
    ['another number', { number: BOB }],
    ['another operation', { token: tokenFor(DATE) }],
  ])('is not spent on %s, which never reaches the wire', async (_, order) => {
    await using server = await RecordingServer.start(answerBoth);
    await using test = new TestOperator(server.url);
    await expect(test.lookUp(CHECK, order)).rejects.toThrow(TokenMisused);
    expect(server.received).toHaveLength(0);
  });

  it('is spent even if nothing could be sent', async () => {
    await using test = new TestOperator(await deadUrl());
    const token = tokenFor(CHECK);
    expect(await test.lookUp(CHECK, { token })).toEqual({
      judged: { kind: 'failed', failure: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' } },
      attempts: 0,
      mayRetryWithNewToken: false,
    });
    await expect(test.lookUp(CHECK, { token })).rejects.toThrow(TokenMisused);
  });
});

describe('a lookup that fails', () => {
  it('refused with 401: another token may be tried, but not by the retry itself', async () => {
    await using server = await RecordingServer.start((received, response) =>
      answerJson(received, response, { code: 'UNAUTHENTICATED' }, 401),
    );
    await using test = new TestOperator(server.url);
    const judged = { kind: 'failed', failure: { code: 'OPERATOR_REFUSED', reach: 'number' } };
    expect(await test.lookUp(CHECK)).toEqual({
      judged,
      attempts: 1,
      mayRetryWithNewToken: true,
    });
    expect(await test.lookUp(CHECK, { isRetry: true })).toEqual({
      judged,
      attempts: 1,
      mayRetryWithNewToken: false,
    });
    expect(server.received).toHaveLength(2);
  });

  it.each<[string, Answer, string]>([
    [
      'broken off after it was sent',
      (_, response) => response.socket?.resetAndDestroy(),
      'OPERATOR_UNAVAILABLE',
    ],
    [
      '503',
      (received, response) => answerJson(received, response, {}, 503),
      'OPERATOR_UNAVAILABLE',
    ],
    [
      'a body that cannot be believed',
      (received, response) => answerJson(received, response, { swapped: 'false' }),
      'OPERATOR_INVALID_REPLY',
    ],
  ])('%s: it may have been billed, and is not made again', async (_, answer, code) => {
    await using server = await RecordingServer.start(answer);
    await using test = new TestOperator(server.url);
    expect(await test.lookUp(CHECK)).toMatchObject({
      judged: { failure: { code } },
      attempts: 1,
      mayRetryWithNewToken: false,
    });
    expect(server.received).toHaveLength(1);
  });
});
