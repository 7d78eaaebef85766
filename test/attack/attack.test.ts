import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ATTACKS } from './all.ts';
import { isClean, outcomeOf } from './attack.ts';

const HELD = { what: 'lookups', isHeld: true, seen: '0' };
const NOT_HELD = { what: 'lookups', isHeld: false, seen: '155, over 100' };
const ATTACK = { name: 'an-attack', tries: 'to ask too much', holds: 'no lookup more' };

describe('an attack', () => {
  test.each([
    ['held: all that it looked at was as it must be', [HELD], undefined, 'held', true],
    ['succeeded: something was not', [HELD, NOT_HELD], undefined, 'succeeded', false],
    ['succeeded, though it broke off', [NOT_HELD], 'no answer', 'succeeded', false],
    ['not carried out: it broke off', [HELD], 'no answer', 'not carried out', false],
  ] as const)('%s', (_name, findings, why, state, clean) => {
    const outcome = outcomeOf(findings, why);
    expect(outcome.state).toBe(state);
    expect(isClean([{ attack: ATTACK, outcome }])).toBe(clean);
  });
});

test('each attack has a name of its own, what it tries and what must hold', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
  for (const { name, tries, holds } of ATTACKS) {
    expect(name).toMatch(/^[a-z-]+$/);
    expect(tries).toMatch(/^to /);
    expect(holds).not.toBe('');
  }
});

describe('docs/security.md', () => {
  const text = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
  const threats = text.slice(text.indexOf('## Threats'), text.indexOf('## The audit log'));

  test('names tests that exist', () => {
    const files = Array.from(threats.matchAll(/`([\w/]+\.test\.ts)`/g), ([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(20);
    const missing = files.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)));
    expect(missing).toEqual([]);
  });

  test('names every attack, and no other', () => {
    const named = Array.from(threats.matchAll(/attacks? ((?:`[a-z-]+`(?:, )?)+)/g), ([, list]) =>
      Array.from((list ?? '').matchAll(/`([a-z-]+)`/g), ([, name]) => name),
    ).flat();
    expect(new Set(named)).toEqual(new Set(ATTACKS.map(({ name }) => name)));
  });
});
