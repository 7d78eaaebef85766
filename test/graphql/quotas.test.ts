import { afterAll, describe, expect, it } from 'vitest';
import { TestIssuer } from '../caller/testIssuer.ts';
import { startSimulated } from '../support/service.ts';

const issuer = await TestIssuer.start();
const service = await startSimulated({
  ...issuer.settings,
  ROLE: 'bff',
  QUOTA_NUMBERS_PER_HOUR: '3',
  QUOTA_LOOKUPS_PER_HOUR: '5',
  QUOTA_CLIENTS: '{"desk":{"lookupsPerHour":40}}',
});
afterAll(() => Promise.all([service.stop(), issuer.close()]));

async function ask(query: string, subject: string, client = 'app') {
  const token = await issuer.token({ sub: subject, client_id: client, scope: 'sim-swap:read' });
  return service.ask(query, {}, { authorization: `Bearer ${token}` });
}

const about = (...numbers: string[]) =>
  `{ phoneNumbers(e164s: ${JSON.stringify(numbers)}) { simSwappedWithin } }`;
const line = (n: number) => `+4477009005${String(n).padStart(2, '0')}`;

describe('a caller sees what is left of its quotas', () => {
  it('beside each answer, in extensions and in headers', async () => {
    const reply = await ask(about(line(0), line(1)), 'alice');
    const { extensions } = JSON.parse(reply.text) as { extensions: unknown };
    expect(extensions).toEqual({
      quotas: [
        { quota: 'numbers', limit: 3, left: 1, resetSeconds: expect.any(Number) },
        { quota: 'lookups', limit: 5, left: 3, resetSeconds: expect.any(Number), counted: 2 },
      ],
    });
    expect(reply.headers.get('ratelimit-policy')).toBe(
      '"numbers";q=3;w=3600, "lookups";q=5;w=3600',
    );
    expect(reply.headers.get('ratelimit')).toMatch(
      /^"numbers";r=1;t=3[56]\d\d, "lookups";r=3;t=3[56]\d\d;counted=2$/,
    );
  });

  it('and what its own operation was counted, beside others of the same caller', async () => {
    const numbers = [line(0), line(1), line(2)];
    const replies = await Promise.all(numbers.map((number) => ask(about(number), 'erin')));
    expect(replies.map(({ headers }) => headers.get('ratelimit')?.split(';').at(-1))).toEqual(
      Array(3).fill('counted=1'),
    );
  });

  it('of only its own', async () => {
    await ask(about(line(0)), 'bob');
    const reply = await ask(about(line(0)), 'bill');
    expect(reply.headers.get('ratelimit')).toContain('"numbers";r=2;');
  });

  it('of those that its client has', async () => {
    const reply = await ask(about(line(0)), 'carol', 'desk');
    expect(reply.headers.get('ratelimit-policy')).toBe(
      '"numbers";q=3;w=3600, "lookups";q=40;w=3600',
    );
    expect(reply.headers.get('ratelimit')).toMatch(
      /^"numbers";r=2;t=\d+, "lookups";r=39;t=\d+;counted=1$/,
    );
  });

  it.each(['{ __typename }', '{ phoneNumber(e164: "+447700900500") { e164 } }'])(
    'for what counts, which %s does not',
    async (query) => {
      const reply = await ask(query, 'dave');
      expect(reply.headers.get('ratelimit')).toBeNull();
      expect(reply.text).not.toContain('extensions');
    },
  );
});

it.each([
  ['known before execution', ''],
  ['chosen by a variable', '@include(if: $isAsked)'],
])('the last lookups of a quota go to the fields that come first: %s', async (how, include) => {
  const list = JSON.stringify([line(0), line(1), line(2)]);
  const variables = include === '' ? '' : '($isAsked: Boolean = true)';
  const query = `query ${variables} {
    first: phoneNumbers(e164s: ${list}) { simSwappedWithin ${include} }
    second: phoneNumber(e164: "${line(3)}") { simSwappedWithin }
  }`;
  const reply = await ask(query, how);
  expect(reply.errors).toMatchObject([{ path: ['second', 'simSwappedWithin'] }]);
});

describe('a message says which quota is used up', () => {
  it.each([
    ['numbers', [line(0), line(1), line(2), line(3)], /as many numbers as you may/],
    ['lookups', [line(0)], /as many lookups as you may/],
  ] as const)('%s', async (quota, numbers, message) => {
    if (quota === 'lookups')
      for (let time = 0; time < 5; time += 1) await ask(about(line(0)), quota);
    const reply = await ask(about(...numbers), quota);
    expect(reply.errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(message),
        extensions: { code: 'RATE_LIMITED', quota, retryAfterSeconds: expect.any(Number) },
      }),
    ]);
    expect(reply.headers.get('ratelimit')).toContain(`"${quota}";r=0;`);
  });
});
