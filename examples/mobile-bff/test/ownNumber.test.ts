import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startBff, type Bff } from '../bff.ts';
import { startIdentityProvider, type IdentityProvider } from '../identityProvider.ts';
import { askBff } from '../server/codes.ts';
import type { Verdict } from '../server/verdict.ts';

/** Two users whose lines never swapped, and who consent at once. */
const ALICE = { subject: 'alice', phoneNumber: '+447700900500' };
const BOB = { subject: 'bob', phoneNumber: '+447700900501' };

/** A document that names a number, as an app might have that was built before this one. */
const OLDER_ID = 'older';
const OLDER = 'query ($e164: ID!) { phoneNumber(e164: $e164) { e164 simSwappedWithin } }';

let identityProvider: IdentityProvider;
let bff: Bff;

beforeAll(async () => {
  identityProvider = await startIdentityProvider();
  const directory = await mkdtemp(join(tmpdir(), 'documents-'));
  const now = await readFile(
    new URL('../generated/persisted-documents.json', import.meta.url),
    'utf8',
  );
  const documents = join(directory, 'documents.json');
  await writeFile(documents, JSON.stringify({ ...JSON.parse(now), [OLDER_ID]: OLDER }));
  bff = await startBff(identityProvider, documents);
});

afterAll(async () => {
  await bff[Symbol.asyncDispose]();
  await identityProvider[Symbol.asyncDispose]();
});

afterEach(() => {
  vi.restoreAllMocks();
});

function verdictWith(accessToken?: string): Promise<Verdict> {
  return askBff(bff.url)(accessToken);
}

async function askOlder(e164: string, headers: Record<string, string>) {
  const reply = await fetch(bff.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ documentId: OLDER_ID, variables: { e164 } }),
  });
  return { status: reply.status, body: (await reply.json()) as unknown };
}

async function bearer(user: typeof ALICE): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await identityProvider.signIn(user)}` };
}

async function stats(): Promise<unknown> {
  return (await fetch(bff.statsUrl)).json();
}

it.each([ALICE, BOB])('the number of $subject is taken from the token', async (user) => {
  const sent = vi.spyOn(globalThis, 'fetch');
  const verdict = await verdictWith(await identityProvider.signIn(user));

  expect(verdict).toEqual({ kind: 'trusted', e164: user.phoneNumber });
  const [[url, request]] = sent.mock.calls as [[string, { body: string }]];
  expect(url).toBe(bff.url);
  const { variables } = JSON.parse(request.body) as { variables: unknown };
  expect(variables).toEqual({ maxAgeHours: 240 });
  expect(request.body).not.toContain(user.phoneNumber.slice(1));
});

it('a request without a token is refused, and no owner is asked', async () => {
  const before = await stats();
  expect(await verdictWith()).toEqual({ kind: 'signedOut' });
  expect(await askOlder(ALICE.phoneNumber, {})).toMatchObject({
    status: 401,
    body: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
  });
  expect(await stats()).toEqual(before);
});

it('a token of another identity provider is none', async () => {
  await using stranger = await startIdentityProvider();
  expect(await verdictWith(await stranger.signIn(ALICE))).toEqual({ kind: 'signedOut' });
});

it('a token of one user cannot read another’s number', async () => {
  const before = await stats();
  expect(await askOlder(ALICE.phoneNumber, await bearer(BOB))).toMatchObject({
    body: {
      data: { phoneNumber: { simSwappedWithin: null } },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    },
  });
  expect(await stats()).toEqual(before);
  expect(await askOlder(ALICE.phoneNumber, await bearer(ALICE))).toMatchObject({
    status: 200,
    body: { data: { phoneNumber: { e164: ALICE.phoneNumber, simSwappedWithin: false } } },
  });
});
