import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { tokenIdentity, type Identity } from '../../../src/domain/identity.ts';
import { AuditLog } from '../../../src/caller/audit/auditLog.ts';
import {
  auditedCaller,
  entryBefore,
  lineAfter,
  lineOf,
  type AuditEntry,
  auditHash,
} from '../../../src/caller/audit/entry.ts';
import { findEntries, type Sought } from '../../../src/caller/audit/findEntries.ts';
import { createCorrelator } from '../../../src/system/correlator.ts';
import type { PhoneNumber } from '../../../src/domain/phoneNumber.ts';
import type { LookupToAuthorize } from '../../../src/lookups/lookupAuthorizer.ts';
import { TestClock } from '../../support/testClock.ts';
import { ALICE, BOB, hours, purposeNamed } from '../../support/values.ts';
import { LightAbortSignal } from '../../../src/system/urgency.ts';

const TIME = '2026-01-15T12:00:00.000Z';
const LATER = '2026-01-15T12:00:01.234Z';
const KEY = 'a-key-of-at-least-thirty-two-characters';

function asked(
  others: Partial<LookupToAuthorize> = {},
  caller = callerOf('alice'),
): LookupToAuthorize {
  return {
    event: 'lookup',
    lookup: { operation: 'check', maxAgeHours: hours(240) },
    number: ALICE,
    request: {
      caller,
      purpose: purposeNamed('fraud-prevention'),
      correlator: createCorrelator('trace'),
      deadlineMs: Infinity,
      signal: new LightAbortSignal(),
    },
    ...others,
  };
}

function callerOf(subject: string, client: string | null = 'app'): Identity {
  return tokenIdentity('https://issuer.example', subject, client);
}

function before(one = asked()) {
  const caller = auditedCaller(one.request.caller, KEY);
  return entryBefore(one, {
    key: KEY,
    time: TIME,
    operator: 'first-operator',
    caller,
    sendsPurpose: false,
  });
}

function after(one: LookupToAuthorize): AuditEntry {
  const line = lineAfter(lineOf(before(one)), { outcome: 'answered', attempts: 1 }, LATER);
  return JSON.parse(line) as AuditEntry;
}

/** The line of a lookup of BOB by this subject. */
function asking(subject: string) {
  return after(asked({ number: BOB }, callerOf(subject, null)));
}

describe('an entry', () => {
  it('names the caller, the lookup and its purpose', () => {
    const consentId = '2f6c';
    expect(after(asked({ consentId }))).toEqual({
      audit: 'after',
      time: LATER,
      event: 'lookup',
      operator: 'first-operator',
      caller: {
        id: expect.stringMatching(/^[a-z]{16}$/) as unknown,
        issuer: 'https://issuer.example',
        subject: auditHash(KEY, 'alice'),
        client: 'app',
      },
      purpose: 'fraud-prevention',
      number: auditHash(KEY, ALICE),
      operation: 'check',
      maxAgeHours: 240,
      correlator: expect.stringMatching(/^trace-[A-Za-z0-9[\]-]+$/) as unknown,
      consentId,
      outcome: 'answered',
      attempts: 1,
    });
  });

  it('after a lookup is the one before it, at another time and with its end', () => {
    const odd = 'a "quoted" \u2028 name';
    const one = before(asked({}, callerOf('alice', odd)));
    const line = lineAfter(lineOf(one), { outcome: 'OPERATOR_TIMEOUT', attempts: 2 }, LATER);
    const ending = { outcome: 'OPERATOR_TIMEOUT', attempts: 2 } as const;
    expect(line).toBe(lineOf({ ...one, audit: 'after', time: LATER, ...ending }));
  });

  it.each([
    ['client', 'app', false],
    ['client', 'app-2026-01-15', false],
    ['client', '8f14e45f-ceea-4678-9012-345678901234', false],
    ['client', ALICE, true],
    ['client', `app ${ALICE}`, true],
    ['client', '12345', true],
    ['issuer', 'http://192.168.100.200:8080', false],
    ['issuer', 'urn:issuer', false],
    ['issuer', ALICE, true],
  ] as const)('has the %s %s, hashed if it may be a number: %s', (whose, name, isHashed) => {
    const named = { issuer: 'https://issuer.example', client: 'app', [whose]: name };
    const caller = tokenIdentity(named.issuer, 'alice', named.client);
    expect(after(asked({}, caller)).caller[whose]).toBe(isHashed ? auditHash(KEY, name) : name);
  });

  it('hashes subjects alike that look alike, and no others', () => {
    expect(asking('\uff41lice').caller.subject).toBe(asking('alice').caller.subject);
    const others = ['alice', 'Alice', 'bob', 'user-1000001', 'client-1000001'];
    expect(new Set(others.map((subject) => asking(subject).caller.subject)).size).toBe(5);
  });

  it('hides a number that a caller sent as its correlator', () => {
    const request = { ...asked().request, correlator: createCorrelator(ALICE) };
    expect(JSON.stringify(after(asked({ request })))).not.toContain(ALICE.slice(1));
  });
});

describe('the audit log', () => {
  const ABOUT_BOB = before(asked({ number: BOB }));

  it('writes the entries of one tick, or of one write and two milliseconds, together and in their order', async () => {
    const clock = new TestClock();
    const writes: string[][] = [];
    const written: Promise<void>[] = [];
    const append = (text: string) => {
      const lines = text.trimEnd().split('\n');
      writes.push(lines.map((line) => (JSON.parse(line) as { number: string }).number));
      if (writes.length === 1)
        written.push(auditLog.write(lineOf(ABOUT_BOB)), auditLog.write(lineOf(before())));
      return Promise.resolve();
    };
    const auditLog = new AuditLog({ append }, clock);
    written.push(auditLog.write(lineOf(before())));
    await Promise.resolve();
    written.push(auditLog.write(lineOf(ABOUT_BOB)));
    await clock.advance(1);
    written.push(auditLog.write(lineOf(ABOUT_BOB)));
    expect(writes).toHaveLength(1);
    await clock.advance(1);
    await Promise.all(written);
    const [alice, bob] = [auditHash(KEY, ALICE), auditHash(KEY, BOB)];
    expect(writes).toEqual([
      [alice, bob],
      [bob, alice, bob],
    ]);
  });

  it('holds no line end but its own: those of Unicode are escaped', async () => {
    let text = '';
    const append = (part: string) => Promise.resolve(void (text += part));
    const client = 'app\u2028of\u2029two lines';
    await new AuditLog({ append }, new TestClock()).write(
      lineOf(before(asked({}, callerOf('a', client)))),
    );
    expect(text).toMatch(/^[^\n\r\u2028\u2029]+\n$/);
    expect(JSON.parse(text)).toMatchObject({ caller: { client } });
  });

  it('rejects what cannot be written, and continues behind half a line', async () => {
    let text = '';
    let isFull = true;
    const append = (part: string) => {
      text += isFull ? part.slice(0, 20) : part;
      return isFull ? Promise.reject(new Error('ENOSPC')) : Promise.resolve();
    };
    const clock = new TestClock();
    const auditLog = new AuditLog({ append }, clock);
    await expect(auditLog.write(lineOf(before()))).rejects.toThrow('ENOSPC');
    isFull = false;
    const written = auditLog.write(lineOf(ABOUT_BOB));
    await clock.advance(2);
    await written;
    const [torn, whole] = text.trimEnd().split('\n');
    expect(torn).toHaveLength(20);
    expect(JSON.parse(whole ?? '')).toMatchObject({ number: auditHash(KEY, BOB) });
  });

  describe('that takes more than two seconds', () => {
    const clock = new TestClock();
    const writes: { text: string; end: () => void }[] = [];
    const append = (text: string) =>
      new Promise<void>((end) => {
        writes.push({ text, end });
      });
    const auditLog = new AuditLog({ append }, clock);
    const outcome = () => auditLog.write(lineOf(before())).then(() => 'written', nameOf);

    it('rejects what waits, and every entry at once until the write returns; then it is in use again', async () => {
      const one = outcome();
      await clock.advance(1500);
      const waiting = outcome();
      await clock.advance(500);
      const stuck = await Promise.all([one, waiting, outcome(), outcome()]);
      expect(stuck).toEqual(stuck.map(() => 'AuditStuck'));
      expect(writes).toHaveLength(1);
      expect(clock.sleepers).toBe(0);
      writes.shift()?.end();
      await clock.advance(10_000);
      const again = outcome();
      await clock.advance(0);
      writes.shift()?.end();
      expect(await again).toBe('written');
    });

    it('is not blamed when the process stalled: timers end before the write is heard', async () => {
      const written = outcome();
      await clock.standStill(10_000);
      writes.shift()?.end();
      expect(await written).toBe('written');
    });
  });

  it('holds a bounded amount of text while a write is under way', async () => {
    const clock = new TestClock();
    const auditLog = new AuditLog({ append: () => new Promise(() => undefined) }, clock);
    const long = { ...before(), correlator: 'x'.repeat(1024 * 1024) };
    const outcomes = Array.from({ length: 10 }, () =>
      auditLog.write(lineOf(long)).then(String, nameOf),
    );
    expect(await Promise.race(outcomes)).toBe('AuditStuck');
    await clock.advance(2000);
    expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => 'AuditStuck'));
  });
});

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

const NUMBER = '+447700900009' as PhoneNumber;

/** How issuers name people by their numbers. */
const FORMS: readonly (readonly [what: string, subject: string])[] = [
  ['E.164', '+447700900009'],
  ['without its +', '447700900009'],
  ['with an exit code', '00447700900009'],
  ['with another exit code', '011447700900009'],
  ['national', '07700900009'],
  ['national without its zero', '7700900009'],
  ['with spaces', '+44 7700 900009'],
  ['with hyphens', '+44-7700-900009'],
  ['with dots', '+44.7700.900009'],
  ['with brackets', '(+44) 7700 900009'],
  ['with a (0)', '+44 (0)7700 900009'],
  ['national with spaces', '07700 900 009'],
  ['a tel URI', 'tel:+447700900009'],
  ['a tel URI in capitals', 'TEL:+44-7700-900009'],
  ['a sip URI', 'sip:+447700900009@operator.example;user=phone'],
  ['with a prefix', 'msisdn:447700900009'],
  ['at an operator', '447700900009@operator.example'],
  ['inside a longer name', 'user/447700900009/main'],
  ['percent-encoded', 'tel:%2B44%207700%20900009'],
  ['full-width digits', '＋４４７７００９００００９'],
  ['Arabic digits', '+٤٤٧٧٠٠٩٠٠٠٠٩'],
  ['invisible characters between', '+44\u200b7700\u00ad900\u2060009'],
  ['no-break spaces', '+44\u00a07700\u202f900009'],
  ['typographic hyphens', '+44\u20117700\u2013900009'],
  ['as an e-mail address', '+447700900009@sms.example'],
  ['as JSON', '{"msisdn":"447700900009"}'],
];

/** How many lines a search finds in a line. */
async function countFound(line: object, sought: Sought): Promise<number> {
  const count = { found: 0, torn: 0, tornAfter: 0 };
  const lines = Readable.from([JSON.stringify(line)]);
  await Readable.from(findEntries(lines, sought, [`${KEY}-new`, KEY], count)).toArray();
  return count.found;
}

describe('a subject that is a number', () => {
  it.each(FORMS)(
    '%s is never written in clear, and is found by the number and by the subject only',
    async (_what, subject) => {
      const line = asking(subject);
      expect(line.caller.subject).toMatch(/^[0-9a-f]{64}$/);
      const text = JSON.stringify(line).normalize('NFKC');
      expect(text).not.toContain(subject.normalize('NFKC'));
      expect(text).not.toMatch(/7700|900009|٧٧٠٠/);
      expect(await countFound(line, { number: NUMBER })).toBe(1);
      expect(await countFound(line, { subject })).toBe(1);
      expect(await countFound(line, { number: ALICE })).toBe(0);
      expect(await countFound(line, { subject: 'alice' })).toBe(0);
    },
  );
});
