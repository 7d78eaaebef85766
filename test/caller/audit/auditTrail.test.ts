import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AuditFile } from '../../../src/caller/audit/auditFile.ts';
import { AuditTrail } from '../../../src/caller/audit/auditTrail.ts';
import { auditedRequest, entryAfter, entryBefore } from '../../../src/caller/audit/entry.ts';
import { findEntries } from '../../../src/caller/audit/findEntries.ts';
import { hashNumber } from '../../../src/caller/audit/numberHash.ts';
import { createCorrelator } from '../../../src/http/correlator.ts';
import type { AskedLookup } from '../../../src/lookups/admission.ts';
import { TestClock } from '../../testClock.ts';
import { ALICE, BOB, hours } from '../../values.ts';

const TIME = '2026-01-15T12:00:00.000Z';
const KEY = 'a-key-of-at-least-thirty-two-characters';

function asked(others: Partial<AskedLookup> = {}, caller = callerOf('alice')): AskedLookup {
  return {
    event: 'lookup',
    lookup: { operation: 'check', maxAgeHours: hours(240) },
    number: ALICE,
    request: {
      caller,
      purpose: 'fraud-prevention',
      correlator: createCorrelator('trace'),
      deadlineMs: Infinity,
    },
    ...others,
  };
}

function callerOf(subject: string, client: string | null = 'app'): string {
  return JSON.stringify(['https://issuer.example', subject, client]);
}

function before(number = ALICE) {
  return lineBefore(asked({ number }));
}

function lineBefore(one: AskedLookup) {
  return entryBefore(one, auditedRequest(one.request, KEY), { key: KEY, time: TIME });
}

function after(one: AskedLookup) {
  return entryAfter(lineBefore(one), { outcome: 'answered', attempts: 1 }, TIME);
}

describe('an entry', () => {
  it('tells who asked what, and what for', () => {
    const consentId = '2f6c';
    expect(after(asked({ consentId }))).toEqual({
      audit: 'after',
      time: TIME,
      event: 'lookup',
      caller: { issuer: 'https://issuer.example', subject: 'alice', client: 'app' },
      purpose: 'fraud-prevention',
      number: hashNumber(KEY, ALICE),
      operation: 'check',
      maxAgeHours: 240,
      correlator: expect.stringMatching(/^trace-[A-Za-z0-9[\]-]+$/) as unknown,
      consentId,
      outcome: 'answered',
      attempts: 1,
    });
  });

  it.each([
    ['a plain name', 'alice', 'alice'],
    ['a number', ALICE, hashNumber(KEY, ALICE)],
    ['a number without its +', ALICE.slice(1), hashNumber(KEY, ALICE)],
    ['a number with spaces', '+44 7700 900001', hashNumber(KEY, ALICE)],
    ['a number as a URI', `tel:${ALICE}`, hashNumber(KEY, ALICE)],
    ['a number inside', `user:${ALICE}`, 'user:[number]'],
    ['a long identifier of digits', '110169484474386276334', '110169484474386276334'],
  ])('names a caller whose subject is %s', (_what, subject, named) => {
    const entry = after(asked({}, callerOf(subject)));
    expect(entry.caller.subject).toBe(named);
  });

  it('hides a number that a caller chose for a correlator', () => {
    const correlator = createCorrelator(ALICE);
    const request = { caller: 'anonymous', purpose: 'x', correlator, deadlineMs: Infinity };
    expect(JSON.stringify(after(asked({ request })))).not.toContain(ALICE.slice(1));
  });

  it('names one number alike under one key, and otherwise under another', () => {
    expect(hashNumber(KEY, ALICE)).toBe(hashNumber(KEY, ALICE));
    expect(
      new Set([hashNumber(KEY, ALICE), hashNumber(KEY, BOB), hashNumber(`${KEY}x`, ALICE)]).size,
    ).toBe(3);
  });
});

describe('the trail', () => {
  it('is appended to a file that only its owner reads', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'audit-')), 'audit.jsonl');
    const clock = new TestClock();
    for (const number of [ALICE, BOB]) {
      const opened = new AuditFile(file, clock);
      await new AuditTrail(opened, clock).write(before(number));
    }
    const entries = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as unknown);
    expect(entries).toMatchObject([
      { number: hashNumber(KEY, ALICE) },
      { number: hashNumber(KEY, BOB) },
    ]);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('writes what comes together together, in its order', async () => {
    const writes: string[] = [];
    const gate = Promise.withResolvers<undefined>();
    const append = (text: string) => {
      writes.push(text);
      return gate.promise;
    };
    const trail = new AuditTrail({ append }, new TestClock());
    const written = [before(ALICE), before(BOB), before(ALICE)].map((entry) => trail.write(entry));
    gate.resolve(undefined);
    await Promise.all(written);
    expect(writes.map((text) => text.trimEnd().split('\n').length)).toEqual([1, 2]);
    const numbers = writes
      .join('')
      .trimEnd()
      .split('\n')
      .map((text) => (JSON.parse(text) as { number: string }).number);
    expect(numbers).toEqual([ALICE, BOB, ALICE].map((one) => hashNumber(KEY, one)));
  });

  it('rejects what cannot be written, and goes on behind half a line', async () => {
    let text = '';
    let isFull = true;
    const append = (part: string) => {
      text += isFull ? part.slice(0, 20) : part;
      return isFull ? Promise.reject(new Error('ENOSPC')) : Promise.resolve();
    };
    const trail = new AuditTrail({ append }, new TestClock());
    await expect(trail.write(before())).rejects.toThrow('ENOSPC');
    isFull = false;
    await trail.write(before(BOB));
    const [torn, whole] = text.trimEnd().split('\n');
    expect(torn).toHaveLength(20);
    expect(JSON.parse(whole ?? '')).toMatchObject({ number: hashNumber(KEY, BOB) });
  });

  describe('that takes more than two seconds', () => {
    const clock = new TestClock();
    const writes: { text: string; end: () => void }[] = [];
    const append = (text: string) =>
      new Promise<void>((end) => {
        writes.push({ text, end });
      });
    const trail = new AuditTrail({ append }, clock);
    const outcome = (entry = before()) => trail.write(entry).then(() => 'written', nameOf);

    it('rejects what waits, and everything else at once until the write returns', async () => {
      const one = outcome();
      const next = outcome(before(BOB));
      await clock.advance(2000);
      expect(await Promise.all([one, next, outcome(), outcome()])).toEqual(
        Array.from({ length: 4 }, () => 'AuditStuck'),
      );
      expect(writes).toHaveLength(1);
      expect(clock.sleepers).toBe(0);
    });

    it('is written to again when it has returned', async () => {
      writes.shift()?.end();
      await clock.advance(0);
      const again = outcome(before(BOB));
      writes.shift()?.end();
      expect(await again).toBe('written');
    });
  });

  it('holds a bounded amount of text while a write is under way', async () => {
    const clock = new TestClock();
    const trail = new AuditTrail({ append: () => new Promise(() => undefined) }, clock);
    const long = { ...before(), correlator: 'x'.repeat(1024 * 1024) };
    const outcomes = Array.from({ length: 10 }, () => trail.write(long).then(String, nameOf));
    expect(await Promise.race(outcomes)).toBe('AuditStuck');
    await clock.advance(2000);
    expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => 'AuditStuck'));
  });
});

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

describe('a search for a person', () => {
  const lines = [
    JSON.stringify(before(ALICE)),
    JSON.stringify({ level: 30, msg: 'a line of the log' }),
    JSON.stringify(before(BOB)),
    JSON.stringify(before(ALICE)).slice(0, 40),
    '',
    JSON.stringify(after(asked({ number: BOB }, callerOf(ALICE)))),
  ];

  async function* read() {
    yield* await Promise.resolve(lines);
  }

  async function search(keys: readonly string[]) {
    const count = { found: 0, torn: 0 };
    const found: string[] = [];
    for await (const line of findEntries(read(), ALICE, keys, count)) found.push(line);
    return { found, count };
  }

  it('finds what was asked about them, and what they asked', async () => {
    expect(await search([KEY])).toEqual({
      found: [lines[0], lines[5]],
      count: { found: 2, torn: 1 },
    });
  });

  it('finds it under an earlier key', async () => {
    expect((await search([`${KEY}-new`, KEY])).count.found).toBe(2);
  });

  it('finds nothing under another key', async () => {
    expect((await search([`${KEY}-new`])).count.found).toBe(0);
  });
});
