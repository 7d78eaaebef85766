import { expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Lookup } from '../../src/domain/question.ts';
import type { LookupProfile } from '../../src/domain/profile.ts';
import { camara } from '../../profiles/camara.ts';
import { createCorrelator } from '../../src/system/correlator.ts';
import { COMMON_ERRORS } from '../../src/judging/errorMap.ts';
import { Operator, type LookupOrder } from '../../src/operator/operator.ts';
import { AccessToken, TokenMisused } from '../../src/tokens/accessToken.ts';
import { NO_PROOF } from '../../src/tokens/clientAuthentication.ts';
import { RecordingServer, type Answer } from '../wire/recordingServer.ts';
import { AMPLE_MS, TestEndpoint } from '../wire/testEndpoint.ts';
import { START_MS, TestClock } from '../support/testClock.ts';
import { ALICE, BOB, hours } from '../support/values.ts';
import { replying } from '../support/wiredOperator.ts';
import { CAMARA_LOOKUPS, CLIENT_CREDENTIALS } from './camara.ts';

const DATE: Lookup = { operation: 'retrieve-date' };
const CHECK: Lookup = { operation: 'check', maxAgeHours: hours(240) };

/** An operator that answers so, and how lookups about Alice are made. */
async function startOperator(
  answer: Answer = replying({ swapped: false, latestSimChange: null }),
  lookups = CAMARA_LOOKUPS.lookups,
) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await RecordingServer.start(answer));
  const clock = new TestClock();
  const endpoint = stack.use(new TestEndpoint(server.url, { clock })).guarded('lookup');
  const operator = new Operator(
    {
      name: 'operator',
      flow: '2-legged',
      grant: CLIENT_CREDENTIALS,
      ...CAMARA_LOOKUPS,
      lookups,
      lookupAddresses: { retrieveDate: server.url, check: server.url },
      errors: COMMON_ERRORS,
      headers: [],
    },
    { retrieveDate: endpoint, check: endpoint },
    clock,
    () => NO_PROOF,
  );
  const lookUp = async (lookup: Lookup, order: Partial<LookupOrder> = {}) => {
    const deadlineMs = clock.monotonicMs() + AMPLE_MS;
    const context = { correlator: createCorrelator('request'), deadlineMs };
    return operator.lookUp({ lookup, number: ALICE, token: tokenFor(lookup), ...order }, context);
  };
  return { server, lookUp, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function tokenFor({ operation }: Lookup): AccessToken {
  return new AccessToken({ number: ALICE, operation, purpose: '' }, 'token-of-alice', undefined);
}

it.each<[Lookup, object]>([
  [DATE, { operation: 'retrieve-date', latestSimChange: null, sentAtMs: START_MS }],
  [CHECK, { operation: 'check', maxAgeHours: 240, swapped: false, sentAtMs: START_MS }],
])('a $operation is one POST, and its fact has the time when it left', async (lookup, fact) => {
  await using operator = await startOperator();
  expect(await operator.lookUp(lookup)).toEqual({
    judged: { kind: 'answered', facts: [fact] },
    attempts: 1,
    mayHaveBeenCarriedOut: true,
    mayRetryWithNewToken: false,
  });
  expect(operator.server.received).toHaveLength(1);
});

const SPENT = tokenFor(CHECK);
SPENT.spend({ number: ALICE, operation: 'check' });

it.each<[string, Partial<LookupOrder>]>([
  ['a spent token', { token: SPENT }],
  ['the token of another number', { number: BOB }],
  ['the token of another operation', { token: tokenFor(DATE) }],
])('a lookup with %s never reaches the wire', async (_, order) => {
  await using operator = await startOperator();
  await expect(operator.lookUp(CHECK, order)).rejects.toThrow(TokenMisused);
  expect(operator.server.received).toHaveLength(0);
});

it('a lookup refused with 401 may be retried once with another token', async () => {
  await using operator = await startOperator(replying({ code: 'UNAUTHENTICATED' }, 401));
  expect(await operator.lookUp(CHECK)).toMatchObject({ mayRetryWithNewToken: true });
  const retried = await operator.lookUp(CHECK, { isRetry: true });
  expect(retried).toMatchObject({ mayRetryWithNewToken: false });
});

it('replies nested 30,000 deep cannot be believed, whatever the profile picks from them, and open the circuit', async () => {
  const deep = `{"swapped":false,"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
  const answer: Answer = (received, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-correlator': received.correlator,
    });
    response.end(deep);
  };
  const { check } = camara.lookups;
  const picking: LookupProfile = { ...check, read: { ...check.read, pick: (body) => body } };
  await using operator = await startOperator(answer, { ...camara.lookups, check: picking });
  const codeFor = async (index: number): Promise<unknown> => {
    const number = `+4477009000${String(index).padStart(2, '0')}` as PhoneNumber;
    const subject = { number, operation: 'check', purpose: '' } as const;
    const token = new AccessToken(subject, 'token', undefined);
    const { judged } = await operator.lookUp(CHECK, { number, token });
    return judged.kind === 'failed' ? judged.failure.code : judged.kind;
  };
  for (let index = 0; index < 20; index += 1) {
    expect(await codeFor(index)).toBe('OPERATOR_INVALID_REPLY');
  }
  expect(await codeFor(20)).toBe('OPERATOR_UNAVAILABLE');
  expect(operator.server.received).toHaveLength(20);
});
