import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type AuditEntry, type AuditStart, auditHash } from '../../src/caller/audit/entry.ts';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { replying, WiredOperator } from '../support/wiredOperator.ts';
import { ISSUER, TestIssuer } from './testIssuer.ts';
import { startSimulated, type Reply } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

const KEY = 'a-key-of-at-least-thirty-two-characters';
const NUMBER = '+447700900500' as PhoneNumber;
const LINES = [0, 1, 2, 3].map((n) => `+44770090050${n}`);
const PURPOSES = 'fraud-prevention,account-recovery';

const issuer = await TestIssuer.start();
afterAll(() => issuer.close());

/** A service with an audit log of its own. */
async function startAudited(settings: Environment = {}, clock: Clock = systemClock) {
  const file = join(temporaryFolder(), 'audit.jsonl');
  const audited = { AUDIT_LOG: file, AUDIT_KEY: KEY, PURPOSES };
  const all = { ...issuer.settings, ...audited, ...settings };
  const service = await startSimulated(all, {}, { clock });
  // The line of the start.
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/\n$/);
  return {
    ...service,
    file,
    /** Without the line of the start. */
    entries: () =>
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as AuditEntry | AuditStart)
        .filter((entry) => entry.audit !== 'start'),
    /** As a caller that may query any number. */
    askAbout: async (number: string, fields?: string, signal?: AbortSignal) =>
      service.ask(query(number, fields), {}, await reader(), signal),
  };
}

async function reader(claims: object = {}): Promise<Record<string, string>> {
  const token = await issuer.token({ sub: 'risk', scope: 'sim-swap:read', ...claims });
  return { authorization: `Bearer ${token}` };
}

function query(number: string, fields = 'simSwappedWithin(maxAgeHours: 24)'): string {
  return `{ phoneNumber(e164: "${number}") { ${fields} } }`;
}

describe('the audit log', () => {
  it('has a line before each lookup and one after', async () => {
    await using service = await startAudited();
    const headers = { 'x-correlator': 'trace', 'x-purpose': 'account-recovery' };
    const asked = query(NUMBER, 'lastSimSwap simSwappedWithin');
    const reply = await service.ask(asked, {}, { ...(await reader()), ...headers });
    expect(reply.codes).toEqual([]);
    const { lookups } = service.stats();
    const entries = service.entries();
    expect(entries.map(({ audit }) => audit)).toEqual(
      Array.from({ length: lookups }, () => ['before', 'after']).flat(),
    );
    expect(entries.at(-1)).toMatchObject({
      event: 'lookup',
      caller: { issuer: ISSUER, subject: auditHash(KEY, 'risk'), client: 'app' },
      purpose: 'account-recovery',
      number: auditHash(KEY, NUMBER),
      outcome: 'answered',
    });
    expect(entries[0]?.correlator).toMatch(/^trace-/);
  });

  it('has a line pair for the consent and one for the lookup that it buys', async () => {
    await using service = await startAudited({ OPERATOR_FLOW: '3-legged' });
    expect((await service.askAbout(NUMBER)).codes).toEqual([]);
    const entries = service.entries();
    expect(entries.map(({ audit, event, outcome }) => [audit, event, outcome])).toEqual([
      ['before', 'consent-request', undefined],
      ['after', 'consent-request', 'asked'],
      ['before', 'lookup', undefined],
      ['after', 'lookup', 'answered'],
    ]);
    expect(new Set(entries.map(({ consentId }) => consentId)).size).toBe(1);
    expect(entries[0]?.consentId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['two where it was sent twice', { OPERATOR_RETRY_LOOKUPS: 'true' }, '013', 2],
    ['one where it was sent once', {}, '013', 1],
    ['none where it got no token', {}, '040', 0],
  ])('counts the attempts of a lookup: %s', async (_what, settings, digits, attempts) => {
    await using service = await startAudited(settings);
    await service.askAbout(`+447700900${digits}`);
    expect(service.entries().map((entry) => entry.attempts)).toEqual([undefined, attempts]);
    expect(service.stats().tokens).toBe(attempts);
  });

  it('has the outcome and not the answer, and no line where the operator was not called', async () => {
    await using service = await startAudited();
    for (const number of ['+447700900299', '+447700900501']) await service.askAbout(number);
    const outcomes = service.entries().flatMap(({ outcome = [] }) => outcome);
    expect(outcomes).toEqual(['NUMBER_NOT_SERVED', 'answered']);
    expect(readFileSync(service.file, 'utf8')).not.toMatch(/swapped|latestSimChange|true|false/);
    const user = { authorization: `Bearer ${await issuer.token()}` };
    expect((await service.ask(query(NUMBER), {}, user)).codes).toEqual(['FORBIDDEN']);
    expect((await service.ask(query('12'), {}, await reader())).codes).toEqual(['BAD_USER_INPUT']);
    expect((await service.ask(query(NUMBER))).status).toBe(401);
    expect(service.entries()).toHaveLength(4);
  });

  it.each(['2-legged', '3-legged'])(
    'cannot be written: nothing reaches the operator, %s',
    async (flow) => {
      let aheadMs = 0;
      const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
      await using service = await startAudited({ OPERATOR_FLOW: flow }, clock);
      // A folder in the place of the file, which is opened again after a second.
      rmSync(service.file);
      mkdirSync(service.file);
      aheadMs = 5000;
      const { codes } = await service.askAbout(NUMBER, 'lastSimSwap simSwappedWithin');
      expect(codes).toEqual(['AUDIT_UNAVAILABLE', 'AUDIT_UNAVAILABLE']);
      expect(service.stats()).toMatchObject({ tokens: 0, lookups: 0, prompts: 0 });
      rmSync(service.file, { recursive: true });
      expect((await service.askAbout(NUMBER)).codes).toEqual([]);
    },
  );
});

describe('a quota', () => {
  it('of numbers ends a scan, and the reply says for how long', async () => {
    await using service = await startAudited({ QUOTA_NUMBERS_PER_HOUR: '3' });
    const e164s = Array.from({ length: 20 }, (_, n) => `+4477009005${n + 10}`);
    const scan = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }';
    const reply = await service.ask(scan, { e164s }, await reader());
    expect(reply.codes).toEqual(Array.from({ length: 17 }, () => 'RATE_LIMITED'));
    expect(reply.text).toContain('"retryAfterSeconds":3600');
    expect(service.stats()).toMatchObject({ tokens: 3, lookups: 3 });
    expect(service.entries()).toHaveLength(6);
    const another = await service.ask(query(NUMBER), {}, await reader({ sub: 'another' }));
    expect(another.codes).toEqual([]);
  });

  it('is spent by what the token endpoint says about a number', async () => {
    await using operator = await WiredOperator.start({
      token: replying({ error: 'unknown_user_id' }, 400),
    });
    const settings = { OPERATOR_AUTH_URL: operator.url, QUOTA_NUMBERS_PER_HOUR: '3' };
    await using service = await startAudited(settings);
    const told = [];
    for (const number of LINES) told.push(...(await service.askAbout(number)).codes);
    expect(told.slice(2)).toEqual(['NUMBER_NOT_SERVED', 'RATE_LIMITED']);
    expect(operator.received).toHaveLength(3);
  });

  it('is spent by a caller that hangs up while a token is fetched', async () => {
    await using operator = await WiredOperator.start({ token: () => undefined });
    const settings = { OPERATOR_AUTH_URL: operator.url, QUOTA_NUMBERS_PER_HOUR: '3' };
    await using service = await startAudited(settings);
    for (let n = 0; n < 3; n += 1) {
      const hangUp = new AbortController();
      const asking = service.askAbout(LINES[n] ?? NUMBER, undefined, hangUp.signal);
      const told = asking.catch(() => undefined);
      await expect.poll(() => operator.received.length).toBe(n + 1);
      hangUp.abort();
      await told;
    }
    await expect
      .poll(() => service.entries().filter(({ audit }) => audit === 'after'))
      .toHaveLength(3);
    expect((await service.askAbout('+447700900503')).codes).toEqual(['RATE_LIMITED']);
    expect(operator.received).toHaveLength(3);
  });

  it('of prompts ends the prompts to one number, and the reply says for how long', async () => {
    const settings = { OPERATOR_FLOW: '3-legged', QUOTA_PROMPTS_PER_HOUR: '2' };
    await using service = await startAudited(settings);
    const replies: Reply[] = [];
    // Each window is larger than the one before, so that no earlier answer covers it.
    for (const hours of [24, 48, 72, 96]) {
      replies.push(await service.askAbout(NUMBER, `simSwappedWithin(maxAgeHours: ${hours})`));
    }
    const limited = ['RATE_LIMITED'];
    expect(replies.map(({ codes }) => codes)).toEqual([[], [], limited, limited]);
    expect(replies.at(-1)?.text).toMatch(/"retryAfterSeconds":3(?:600|59\d)/);
    expect(service.stats().prompts).toBe(2);
    expect(service.entries()).toHaveLength(8);
    expect((await service.askAbout('+447700900501')).codes).toEqual([]);
  });
});
