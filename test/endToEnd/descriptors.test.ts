import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Program } from '../program.ts';
import { withoutCorrelators, type GraphqlReply } from '../service.ts';
import { answerNever, WiredOperator } from '../wiredOperator.ts';

/** Enough to start and to take a request in, and fewer than the numbers of a list have connections. */
const DESCRIPTORS = 64;
const NUMBERS = Array.from({ length: 100 }, (_, n) => `+447700900${String(n).padStart(3, '0')}`);

test('descriptors that run out are ours: numbers are UNAVAILABLE, no circuit opens, and all is well after it', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await using operator = await WiredOperator.start({
    lookUp: (received, response) => void released.then(() => answerNever(received, response)),
  });
  const program = new Program(
    'sh',
    ['-c', `ulimit -n ${DESCRIPTORS} && exec "$@"`, 'sh', process.execPath, 'src/main.ts'],
    { PORT: '0', OPERATOR_CORRELATOR_ECHO: 'never', ...operator.settings },
  );
  onTestFinished(() => program[Symbol.asyncDispose]());
  const [line] = await program.written(/^.*"msg":"listening".*(?=\n)/m);
  const { port } = JSON.parse(line) as { port: number };
  const ask = async (e164s: readonly string[]): Promise<GraphqlReply> => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }',
        variables: { e164s },
      }),
    });
    return (await response.json()) as GraphqlReply;
  };

  const asking = ask(NUMBERS);
  await program.written(/as many files and connections open as it may/);
  // Its own clients find none either, and that ends nothing.
  const clients = Array.from({ length: DESCRIPTORS }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  release();
  const { errors = [] } = await asking;
  expect(errors.length).toBeGreaterThan(20);
  expect(
    new Set(errors.map(({ extensions }) => JSON.stringify(extensions, withoutCorrelators))),
  ).toEqual(new Set(['{"code":"UNAVAILABLE","retryAfterSeconds":1}']));
  for (const client of clients) client.destroy();

  await expect
    .poll(() => ask(NUMBERS.slice(0, 1)).catch(String))
    .toEqual({ data: { phoneNumbers: [{ simSwappedWithin: false }] } });
  expect(program.out).not.toContain('The circuit is open');
});
