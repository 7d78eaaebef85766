import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startSimulated } from '../support/service.ts';

/** Its lookups take two seconds. */
const WINDOW = '{ phoneNumber(e164: "+447700900015") { simSwappedWithin } }';
const ANSWER = { data: { phoneNumber: { simSwappedWithin: false } } };

test('an answer that did not reach its caller is returned to the next request, without a prompt', async () => {
  await using service = await startSimulated({
    OPERATOR_FLOW: '3-legged',
    KEEP_FACTS_SECONDS: '0',
  });
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(posted(WINDOW));
  await expect.poll(() => service.stats()).toMatchObject({ lookups: 1, prompts: 1 });
  socket.destroy();

  expect((await service.ask(WINDOW)).body).toEqual(ANSWER);
  expect(service.stats()).toMatchObject({ lookups: 1, prompts: 1 });
  // Its caller has it now.
  expect((await service.ask(WINDOW)).body).toEqual(ANSWER);
  expect(service.stats()).toMatchObject({ lookups: 2, prompts: 2 });
});

function posted(query: string): string {
  const body = JSON.stringify({ query });
  return [
    'POST /graphql HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}
