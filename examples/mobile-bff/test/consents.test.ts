import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../app/client.ts';
import { simSwapCheck } from '../app/simSwapCheck.ts';
import type { Verdict } from '../app/verdict.ts';
import { startBff, type Bff } from '../bff.ts';
import { startIdentityProvider, type IdentityProvider } from '../identityProvider.ts';

let identityProvider: IdentityProvider;
let bff: Bff;
beforeAll(async () => {
  identityProvider = await startIdentityProvider();
  bff = await startBff(identityProvider);
});
afterAll(async () => {
  await bff[Symbol.asyncDispose]();
  await identityProvider[Symbol.asyncDispose]();
});

/** What a user hears whose number this is. */
async function verdictsFor(phoneNumber: string, url = bff.url): Promise<readonly Verdict[]> {
  const accessToken = await identityProvider.signIn({ subject: 'alice', phoneNumber });
  const client = createClient({ url, accessToken });
  return Array.fromAsync(simSwapCheck(client, (ms) => setTimeout(ms)));
}

async function stats(): Promise<Readonly<Record<string, number>>> {
  return (await (await fetch(bff.statsUrl)).json()) as Readonly<Record<string, number>>;
}

describe('the app, from the first verdict to the last', () => {
  it('waits for a consent, then trusts the SMS, with one prompt and one lookup', async () => {
    const before = await stats();
    const verdicts = await verdictsFor('+447700900050');

    const [first] = verdicts;
    if (first?.kind !== 'pending') throw new Error('No owner was asked for consent.');
    expect(Date.parse(first.expiresAt ?? '')).toBeGreaterThan(Date.now());
    expect(verdicts.slice(1, -1).every(({ kind }) => kind === 'pending')).toBe(true);
    expect(verdicts.at(-1)).toEqual({ kind: 'trusted', e164: '+447700900050' });
    const after = await stats();
    expect(difference(after, before)).toMatchObject({ prompts: 1, tokens: 1, lookups: 1 });
    expect(after).toMatchObject({ doublePrompts: 0, earlyPolls: 0, overlappingPolls: 0 });
  });

  it('waits, then hears that the owner declined', async () => {
    const before = await stats();
    const verdicts = await verdictsFor('+447700900052');

    expect(verdicts.at(0)?.kind).toBe('pending');
    expect(verdicts.at(-1)).toEqual({ kind: 'declined' });
    expect(difference(await stats(), before)).toMatchObject({ prompts: 1, tokens: 0, lookups: 0 });
  });

  it.each([
    ['a SIM card that changed lately', '+447700900001', { kind: 'swapped' }],
    [
      'a number that is not served',
      '+447700900010',
      { kind: 'unknown', code: 'NUMBER_NOT_SERVED' },
    ],
    ['a number without its country code', '07700 900001', { kind: 'unknown', code: 'FORBIDDEN' }],
  ])('needs one ask for %s', async (_, phoneNumber, verdict) => {
    expect(await verdictsFor(phoneNumber)).toEqual([verdict]);
  });
});

it('can ask nothing but what was built into it', async () => {
  const user = { subject: 'alice', phoneNumber: '+447700900004' };
  const reply = await fetch(bff.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${await identityProvider.signIn(user)}`,
    },
    body: JSON.stringify({ query: '{ myPhoneNumber { lastSimSwap } }' }),
  });
  expect(await reply.json()).toMatchObject({
    errors: [{ extensions: { code: 'PERSISTED_QUERY_ID_REQUIRED' } }],
  });
});

it('without a BFF trusts nothing', async () => {
  expect(await verdictsFor('+447700900004', 'http://127.0.0.1:1/graphql')).toEqual([
    { kind: 'unknown', code: 'NO_ANSWER' },
  ]);
});

function difference(
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
}
