import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { startSimulated } from '../support/service.ts';

const WINDOW = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';
const ANSWER = { data: { phoneNumber: { simSwappedWithin: false } } };

test('an answer that did not reach its caller is returned to the next request, without a prompt', async () => {
  await using service = await startSimulated({
    OPERATOR_FLOW: '3-legged',
    KEEP_FACTS_SECONDS: '0',
  });
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  // The reply to the second waits behind the one to the first, whose owner takes eight seconds.
  socket.write(`${posted(WINDOW.replace('500', '051'))}${posted(WINDOW)}`);
  await vi.waitFor(() => expect(service.stats()).toMatchObject({ lookups: 1, prompts: 2 }), 5000);
  await service.ask('{ __typename }');
  socket.destroy();

  expect((await service.ask(WINDOW)).body).toEqual(ANSWER);
  expect(service.stats()).toMatchObject({ lookups: 1, prompts: 2 });
  // Its caller has it now.
  expect((await service.ask(WINDOW)).body).toEqual(ANSWER);
  expect(service.stats()).toMatchObject({ lookups: 2, prompts: 3 });
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
