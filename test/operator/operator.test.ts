import { COMMON_ERRORS } from '../../src/http/errorMap.ts';
import { expect, it } from 'vitest';
import type { Lookup } from '../../src/domain/question.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { Operator, type LookupOrder } from '../../src/operator/operator.ts';
import { judgeLookup } from '../../src/operator/responses.ts';
import { CAMARA_LOOKUPS, CLIENT_CREDENTIALS } from './camara.ts';
import { NO_PROOF } from '../../src/tokens/clientAuthentication.ts';
import { AccessToken, TokenMisused } from '../../src/tokens/accessToken.ts';
import type { ExchangeContext } from '../../src/tokens/tokenManager.ts';
import { answerJson, RecordingServer, type Answer } from '../http/recordingServer.ts';
import { AMPLE_MS, TestEndpoint } from '../http/testEndpoint.ts';
import { START_MS, TestClock } from '../testClock.ts';
import { ALICE, BOB, hours } from '../values.ts';

const DATE: Lookup = { operation: 'retrieve-date' };
const CHECK: Lookup = { operation: 'check', maxAgeHours: hours(240) };

const answerBoth: Answer = (received, response) =>
  answerJson(received, response, { swapped: false, latestSimChange: null });

class TestOperator implements AsyncDisposable {
  readonly clock = new TestClock();
  readonly operator: Operator;
  readonly #endpoints: readonly TestEndpoint[];

  constructor(url: string) {
    const retrieveDate = new TestEndpoint(`${url}/retrieve-date`);
    const check = new TestEndpoint(`${url}/check`);
    this.#endpoints = [retrieveDate, check];
    this.operator = new Operator(
      {
        name: 'operator',
        flow: '2-legged',
        grant: CLIENT_CREDENTIALS,
        ...CAMARA_LOOKUPS,
        lookupAddresses: { retrieveDate: `${url}/retrieve-date`, check: `${url}/check` },
        errors: COMMON_ERRORS,
      },
      {
        retrieveDate: retrieveDate.guarded('lookup', this.clock),
        check: check.guarded('lookup', this.clock),
      },
      judgeLookup,
      this.clock,
      { authenticate: () => NO_PROOF },
    );
  }

  async lookUp(lookup: Lookup, order: Partial<LookupOrder> = {}) {
    const token = tokenFor(lookup);
    return this.operator.lookUp({ lookup, number: ALICE, token, ...order }, this.context());
  }

  context(): ExchangeContext {
    const deadlineMs = this.clock.monotonicMs() + AMPLE_MS;
    return { correlator: createCorrelator('request'), deadlineMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#endpoints.map((one) => one[Symbol.asyncDispose]()));
  }
}

function tokenFor({ operation }: Lookup, value = 'token-of-alice'): AccessToken {
  return new AccessToken({ number: ALICE, operation }, value, undefined);
}

it.each<[Lookup, object]>([
  [DATE, { operation: 'retrieve-date', latestSimChange: null, sentAtMs: START_MS }],
  [CHECK, { operation: 'check', maxAgeHours: 240, swapped: false, sentAtMs: START_MS }],
])('a $operation is one POST, and a fact of when it left', async (lookup, fact) => {
  await using server = await RecordingServer.start(answerBoth);
  await using test = new TestOperator(server.url);
  expect(await test.lookUp(lookup)).toEqual({
    judged: { kind: 'answered', facts: [fact] },
    attempts: 1,
    mayRetryWithNewToken: false,
  });
  expect(server.received).toHaveLength(1);
});

it('a second lookup with the same token never reaches the wire', async () => {
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
])('a lookup with the token of %s never reaches the wire', async (_, order) => {
  await using server = await RecordingServer.start(answerBoth);
  await using test = new TestOperator(server.url);
  await expect(test.lookUp(CHECK, order)).rejects.toThrow(TokenMisused);
  expect(server.received).toHaveLength(0);
});

it('refused with 401, another token may be tried, but not by the retry itself', async () => {
  await using server = await RecordingServer.start((received, response) =>
    answerJson(received, response, { code: 'UNAUTHENTICATED' }, 401),
  );
  await using test = new TestOperator(server.url);
  expect(await test.lookUp(CHECK)).toMatchObject({ mayRetryWithNewToken: true });
  const retried = await test.lookUp(CHECK, { isRetry: true });
  expect(retried).toMatchObject({ mayRetryWithNewToken: false });
});
