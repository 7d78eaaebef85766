import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Reply } from '../support/service.ts';
import { answerNever, WiredOperator } from '../support/wiredOperator.ts';
import { ServerProcess } from './serverProcess.ts';

/** Enough to start and to take a request in, and fewer than the numbers of a list have connections. */
const DESCRIPTORS = 64;
const NUMBERS = Array.from({ length: 100 }, (_, n) => `+447700900${String(n).padStart(3, '0')}`);

test('without free descriptors numbers are UNAVAILABLE, no circuit opens, and the service recovers', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await using operator = await WiredOperator.start({
    lookUp: (received, response) => void released.then(() => answerNever(received, response)),
  });
  await using server = await ServerProcess.start(
    operator.url,
    { OPERATOR_CORRELATOR_ECHO: 'never' },
    ['prlimit', `--nofile=${DESCRIPTORS}`],
  );
  const { port } = new URL(server.url);
  const ask = (e164s: readonly string[]): Promise<Reply> =>
    server.ask('query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }', {
      e164s,
    });

  const asking = ask(NUMBERS);
  await expect.poll(() => server.out).toMatch(/as many files and connections open as it may/);
  // Clients cannot connect either, which does not end the process.
  const clients = Array.from({ length: DESCRIPTORS }, () =>
    connect(Number(port), '127.0.0.1').on('error', () => undefined),
  );
  release();
  const { errors } = await asking;
  expect(errors.length).toBeGreaterThan(20);
  expect(new Set(errors.map(({ extensions }) => JSON.stringify(extensions)))).toEqual(
    new Set(['{"code":"UNAVAILABLE","retryAfterSeconds":1}']),
  );
  for (const client of clients) client.destroy();

  await expect
    .poll(async () => (await ask(NUMBERS.slice(0, 1)).catch(() => undefined))?.body)
    .toEqual({ data: { phoneNumbers: [{ simSwappedWithin: false }] } });
  expect(server.out).not.toContain('The circuit is open');
});
