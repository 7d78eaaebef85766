import { expect, it } from 'vitest';
import { Random } from '../support/random.ts';
import { DpopExchanges, type Bind, type ProofSigner } from '../../src/resilience/dpopExchanges.ts';
import type { Exchange, HttpReply } from '../../src/wire/exchange.ts';
import { TestClock } from '../support/testClock.ts';

const PLACE = { isLookup: true, address: 'https://operator.example/check' };
const REQUEST = { headers: [], contentType: undefined, body: undefined, correlator: 'c' };

/** Names the nonce that it has always had. */
const ANSWERED = replied({ status: 200, headers: { 'dpop-nonce': 'theirs' }, body: '{}' });

function replied(reply: HttpReply): Exchange {
  return { kind: 'reply', sentAtMs: 0, leftAtMs: 0, reply };
}

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

/** A thousand exchanges, fifty at a time, at a server whose nonces change each 100 ms; each counts for two periods. */
async function listed(slowestMs: number) {
  const clock = new TestClock();
  const random = new Random(slowestMs);
  const period = (): number => Math.floor(clock.monotonicMs() / 100);
  const isTaken = (nonce = ''): boolean => nonce !== '' && period() - Number(nonce) <= 1;
  const signer: ProofSigner = {
    bind: (request, _, nonce = '') => Promise.resolve({ ...request, headers: [nonce] }),
  };
  const exchanges = new DpopExchanges(signer, clock);
  let answered = 0;
  /** How many left with a nonce that was not the server's, by its period: all others are challenged on their way. */
  const leftInVain = new Map<number, number>();
  const send = async (bind: Bind): Promise<Exchange> => {
    const { headers, onHeaders } = await bind(REQUEST, PLACE.address);
    const [nonce] = headers;
    if (!isTaken(nonce)) leftInVain.set(period(), (leftInVain.get(period()) ?? 0) + 1);
    await clock.sleep(random.below(slowestMs));
    const isChallenged = !isTaken(nonce);
    const named = { 'dpop-nonce': String(period()), 'content-type': 'application/json' };
    await clock.sleep(random.below(slowestMs));
    if (isChallenged) {
      const body = JSON.stringify({ error: 'use_dpop_nonce' });
      return replied({ status: 401, headers: named, body });
    }
    onHeaders?.(200, named);
    answered += 1;
    return replied({ status: 200, headers: named, body: '{}' });
  };
  const beganAtMs = clock.monotonicMs();
  let left = 1000;
  const work = async (): Promise<void> => {
    for (left -= 1; left >= 0; left -= 1) await exchanges.carry(PLACE, undefined, send);
  };
  const all = Promise.all(Array.from({ length: 50 }, work)).then(() => 'all');
  while ((await Promise.race([all, clock.advance(10)])) !== 'all');
  const tookMs = clock.monotonicMs() - beganAtMs;
  return { answered, leftInVain: [...leftInVain.values()], tookMs };
}

it.each([
  [20, 500],
  [60, 2000],
  // Twice as long where those that were challenged wait behind all others.
  [80, 6000],
])(
  'nonces that change each 100 ms, at a server up to 2 × %d ms away: all are answered within %d ms, two leave in vain a change at most',
  async (slowestMs, withinMs) => {
    const { answered, leftInVain, tookMs } = await listed(slowestMs);
    expect(answered).toBe(1000);
    expect(tookMs).toBeLessThan(withinMs);
    expect(Math.max(...leftInVain)).toBeLessThanOrEqual(2);
  },
);
