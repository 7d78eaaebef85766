import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COMMON_ERRORS } from '../../src/judging/errorMap.ts';
import { judgeRefusal } from '../../src/judging/refusal.ts';
import { judgeCheck, judgeRetrieveDate } from './camara.ts';
import { jsonReply } from '../wire/replies.ts';
import { START_MS } from '../support/testClock.ts';
import { hours } from '../support/values.ts';

const DOCS = readFileSync(new URL('../../docs/operator-api.md', import.meta.url), 'utf8');
const REFUSALS = /^### Refusals$[^]*?(?=^#|$(?![^]))/m.exec(DOCS)?.[0] ?? '';

const AT_LOOKUPS = { sentAtMs: START_MS, nowMs: START_MS, errors: COMMON_ERRORS } as const;

/** Statuses for the first cells. */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  '4xx but 408 and 429': [400, 401, 402, 403, 404, 405, 409, 410, 415, 422, 451, 499],
  '5xx but 501': [500, 502, 503, 504, 511, 599],
  '3xx': [300, 301, 302, 303, 304, 307, 308],
  'any other 4xx': [402, 403, 404, 405, 410, 415, 422, 451, 499],
};

interface Row {
  readonly statuses: readonly number[];
  /** What the body names; `undefined` where it names nothing. */
  readonly words: readonly (string | undefined)[];
  readonly code: string;
  readonly reach: string;
}

const ROWS: readonly Row[] = REFUSALS.split('\n')
  .filter((line) => /^\| [\da]/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, status = '', word = '', code = '', reach = '']) => ({
    statuses: status.split(', ').flatMap((one) => STATUSES[one] ?? [Number(one)]),
    words: wordsIn(word),
    code: code.split(',', 1).join(''),
    reach,
  }));

function wordsIn(cell: string): readonly (string | undefined)[] {
  const words = Array.from(cell.matchAll(/`([A-Za-z_.]{6,})`/g), ([, word]) => word).filter(
    (word) => word !== 'status',
  );
  return words.length > 0 ? words : [undefined, 'SOMETHING_ELSE'];
}

describe('the table of refusals in docs/operator-api.md', () => {
  test('has its rows', () => {
    expect(ROWS.length).toBeGreaterThan(10);
    expect(ROWS.flatMap(({ statuses }) => statuses).every(Number.isInteger)).toBe(true);
  });

  test.each(ROWS)('$statuses with $words: $code, $reach', ({ statuses, words, code, reach }) => {
    for (const status of statuses) {
      for (const word of words) {
        const reply = jsonReply(status, word === undefined ? {} : { code: word });
        for (const promptsOwner of [true, false]) {
          // Without a prompted owner our client is denied.
          const isOurs = code.startsWith('CONSENT_') && !promptsOwner;
          const expected = isOurs ? { code: 'OPERATOR_REFUSED' } : { code, reach };
          const lookup = { ...AT_LOOKUPS, flow: promptsOwner ? '3-legged' : '2-legged' } as const;
          const context = { wordIn: 'error', promptsOwner, errors: COMMON_ERRORS } as const;
          const atTokens = judgeRefusal(reply, START_MS, context);
          // A date has no window: there it is a flaw of our request.
          const others = [judgeRetrieveDate(reply, lookup), { kind: 'failed', failure: atTokens }];
          const told = [
            judgeCheck(reply, lookup, hours(24)),
            ...(word === 'OUT_OF_RANGE' ? [] : others),
          ];
          const failed = { kind: 'failed', failure: expected };
          expect(told, `${status} ${word}`).toMatchObject(told.map(() => failed));
          if (word !== 'OUT_OF_RANGE') continue;
          const refused = { kind: 'failed', failure: { code: 'OPERATOR_REFUSED', reach } };
          expect(others).toMatchObject(others.map(() => refused));
        }
      }
    }
  });
});
