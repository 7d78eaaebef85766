import { expect, it } from 'vitest';
import { DpopExchanges } from '../../src/resilience/dpopExchanges.ts';
import type { Exchange } from '../../src/wire/exchange.ts';
import { TestClock } from '../support/testClock.ts';

const PLACE = { isLookup: true, address: 'https://operator.example/check' };
const REQUEST = { headers: [], contentType: undefined, body: undefined, correlator: 'c' };

/** Names the nonce that it has always had. */
const ANSWERED: Exchange = {
  kind: 'reply',
  sentAtMs: 0,
  leftAtMs: 0,
  reply: { status: 200, headers: { 'dpop-nonce': 'theirs' }, body: '{}' },
};

/** Sends exchanges after one that was answered, and notes which have left. */
async function sending(clock: TestClock) {
  const exchanges = new DpopExchanges({ bind: (request) => Promise.resolve(request) }, clock);
  const sent: string[] = [];
  const send = (name: string, reply: Promise<Exchange>): Promise<unknown> =>
    exchanges.carry(PLACE, undefined, async (bind) => {
      await bind(REQUEST, PLACE.address);
      sent.push(name);
      return reply;
    });
  await send('one before', Promise.resolve(ANSWERED));
  return { sent, send };
}

it('an exchange that is never answered delays the others by a second', async () => {
  const clock = new TestClock();
  const { sent, send } = await sending(clock);
  const silent = Promise.withResolvers<Exchange>();
  const all = [send('silent', silent.promise)];
  for (const name of ['a', 'b']) all.push(send(name, Promise.resolve(ANSWERED)));
  await clock.advance(999);
  expect(sent).toEqual(['one before', 'silent']);
  await clock.advance(1);
  expect(sent).toEqual(['one before', 'silent', 'a', 'b']);

  silent.resolve(ANSWERED);
  await Promise.all(all);
});

it('once one has timed out, the others do not wait for another one', async () => {
  const clock = new TestClock();
  const { sent, send } = await sending(clock);
  const replies = ['silent', 'a', 'b'].map((name) => {
    const reply = Promise.withResolvers<Exchange>();
    void send(name, reply.promise);
    return reply;
  });
  const fault = { cause: 'timeout', sent: true, detail: 'no reply' } as const;
  replies[0]?.resolve({ kind: 'fault', fault });
  await clock.advance(0);
  expect(sent).toEqual(['one before', 'silent', 'a', 'b']);
});
