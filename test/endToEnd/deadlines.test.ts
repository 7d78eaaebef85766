import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { answerJson, RecordingServer } from '../wire/recordingServer.ts';
import { TestEndpoint } from '../wire/testEndpoint.ts';
import { startService, startWired } from '../support/service.ts';
import { TestClock } from '../support/testClock.ts';
import { ALICE, BOB } from '../support/values.ts';
import { grant } from '../support/wiredOperator.ts';
import { AskedSimSwaps, line } from './askedSimSwaps.ts';

const PERMITS = 256;
const POST = {
  headers: [],
  contentType: 'application/json',
  body: '{}',
  correlator: 'test-1',
} as const;

test('what still waits for a permit at the deadline never starts, and what is under way has no next step', async () => {
  const clock = new TestClock();
  const held: (() => void)[] = [];
  await using asked = await AskedSimSwaps.start(clock, (received, response) => {
    held.push(() => grant(received, response));
  });
  const answers = Array.from({ length: PERMITS + 44 }, (_, index) =>
    asked.ask({ number: line(index), timeLeftMs: 30_000 }),
  );
  await expect.poll(() => held.length).toBe(PERMITS);

  await clock.advance(30_000);
  for (const release of held) release();

  // Only those that it had are blamed on the operator.
  const codes = await Promise.all(answers);
  expect(codes.slice(0, PERMITS)).toEqual(Array(PERMITS).fill('OPERATOR_TIMEOUT'));
  expect(codes.slice(PERMITS)).toEqual(Array(44).fill('UNAVAILABLE'));
  expect(asked.count()).toBe(PERMITS);
});

test('a token that arrives after the deadline is not spent', async () => {
  const clock = new TestClock();
  await using asked = await AskedSimSwaps.start(clock, (received, response) => {
    void clock.advance(30_000).then(() => grant(received, response));
  });
  const answer = await asked.ask({ number: line(1), timeLeftMs: 30_000 });
  expect(answer).toBe('OPERATOR_TIMEOUT');
  expect(asked.count()).toBe(1);
});

test('each exchange, and its retry, gets what is left of the request at its start', async () => {
  const clock = new TestClock();
  await using server = await RecordingServer.start((received, response) => {
    void clock.advance(400).then(() => answerJson(received, response, {}, 503));
  });
  await using endpoint = new TestEndpoint(server.url, { clock });
  using timers = vi.spyOn(globalThis, 'setTimeout');
  await endpoint.guarded('client-credentials').post({
    about: ALICE,
    urgency: { deadlineMs: clock.monotonicMs() + 10_000 },
    make: () => POST,
    judge: () => ({}),
  });
  const limits = timers.mock.calls.map(([, ms = 0]) => ms);
  expect(limits.filter((ms) => ms > 9000 && ms <= 10_000)).toEqual([10_000, 9600]);
});

test('the time of signing counts: nothing is sent after the deadline', async () => {
  const clock = new TestClock();
  await using server = await RecordingServer.start((received, response) =>
    answerJson(received, response, {}),
  );
  await using endpoint = new TestEndpoint(server.url, { clock });
  await endpoint.guarded('client-credentials').post({
    about: ALICE,
    urgency: { deadlineMs: clock.monotonicMs() + 1000 },
    make: async () => {
      await clock.advance(1000);
      return POST;
    },
    judge: () => ({}),
  });
  expect(server.connections).toHaveLength(0);
});

const TIMEOUT_MS = 400;
/** What a loaded machine may add. */
const SLACK_MS = 3000;
const QUERY = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('a request ends in its time', () => {
  test('when its caller cannot be identified: the issuer never answers', async () => {
    await using issuer = await RecordingServer.start(() => undefined);
    await using server = await startService(issuer.url, {
      AUDIT_KEY: 'a key of thirty-two characters or more',
      JWT_JWKS_URL: `${issuer.url}/jwks`,
      JWT_ISSUER: issuer.url,
      JWT_AUDIENCE: 'sim-swap',
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    // Of this issuer and not expired, so that the keys are fetched.
    const claims = { sub: 's', iss: issuer.url, aud: 'sim-swap', exp: Date.now() / 1000 + 60 };
    const token = `${part({ alg: 'ES256', typ: 'at+jwt', kid: 'k' })}.${part(claims)}.AAAA`;

    const askedAtMs = performance.now();
    const reply = await server.ask(QUERY, {}, { authorization: `Bearer ${token}` });
    expect(reply).toMatchObject({ status: 503, codes: ['UNAVAILABLE'] });
    expect(performance.now() - askedAtMs).toBeLessThan(TIMEOUT_MS + SLACK_MS);
  });

  test('with the answers that it has', async () => {
    await using service = await startWired(
      {
        lookUp: (received, response) => {
          if (received.body.includes(BOB)) return;
          answerJson(received, response, { swapped: false });
        },
      },
      // A busy machine has the first answer by then.
      { ROLE: 'bff', REQUEST_TIMEOUT_MS: '2000' },
    );
    const query = `{ phoneNumbers(e164s: ["${ALICE}", "${BOB}"]) { simSwappedWithin } }`;
    expect(await service.ask(query)).toMatchObject({
      data: { phoneNumbers: [{ simSwappedWithin: false }, { simSwappedWithin: null }] },
      codes: ['OPERATOR_TIMEOUT'],
    });
  });

  test('with the refusals that it has', async () => {
    await using service = await startWired(
      { lookUp: () => undefined },
      {
        MAX_NUMBERS_AT_WORK: '100',
        MAX_NUMBERS_PER_OPERATION: '50',
        REQUEST_TIMEOUT_MS: '2000',
      },
    );
    const list = (from: number) => {
      const e164s = Array.from({ length: 40 }, (_, n) => line(from + n));
      return service.ask(`{ phoneNumbers(e164s: ${JSON.stringify(e164s)}) { simSwappedWithin } }`);
    };
    const replies = await Promise.all([list(0), list(40), list(80)]);
    const codes = replies.flatMap((reply) => reply.codes);
    expect(codes).toHaveLength(120);
    expect(codes.filter((code) => code === 'UNAVAILABLE')).toHaveLength(20);
  });

  test('when its body does not arrive', async () => {
    await using server = await startService('http://127.0.0.1:1', {
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"query":',
    );
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    await once(socket, 'close');
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(received).toContain('"code":"BAD_REQUEST"');
  });
});
