import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inForm } from '../support/forms.ts';
import { flawIn } from '../../src/wire/json.ts';

/** JSON before it is a text: an object may name a member as often as it likes. */
type Json =
  | { readonly scalar: string | number | boolean | null }
  | { readonly items: readonly Json[] }
  | { readonly members: readonly Member[] };

interface Member {
  readonly name: string;
  /** Which of its characters are written as `\uXXXX`. */
  readonly escaped: readonly boolean[];
  readonly value: Json;
}

const RUNS = { numRuns: inForm({ short: 2000, long: 20_000 }) };
const SPACES = fc.constantFrom('', ' ', '\n', '\t\r\n ');
/** Few letters and marks of JSON itself, so that names meet and look like something else. */
const CHARACTERS = ['a', 'b', '"', ':', '{', '}', 'é', '\ud800', '\n', '\\'];

const anyName = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 3 });
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ scalar: fc.oneof(anyName, fc.integer(), fc.boolean(), fc.constant(null)) }),
    fc.record({ items: fc.array(tie('json'), { maxLength: 3 }) }),
    fc.record({
      members: fc.array(
        fc.record({
          name: anyName,
          escaped: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
          value: tie('json'),
        }),
        { maxLength: 4 },
      ),
    }),
  ),
}));

function write(value: Json, space: string): string {
  if ('scalar' in value) return JSON.stringify(value.scalar);
  if ('items' in value) {
    return `[${value.items.map((item) => write(item, space)).join(`,${space}`)}]`;
  }
  const members = value.members.map(
    (member) => `${space}${writeName(member)}${space}:${space}${write(member.value, space)}`,
  );
  return `{${members.join(',')}${space}}`;
}

function writeName({ name, escaped }: Member): string {
  const characters = name.split('').map((character, index) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return escaped[index] === true ? `\\u${code}` : JSON.stringify(character).slice(1, -1);
  });
  return `"${characters.join('')}"`;
}

function repeatsName(value: Json): boolean {
  if ('scalar' in value) return false;
  if ('items' in value) return value.items.some(repeatsName);
  const names = value.members.map(({ name }) => name);
  return (
    new Set(names).size < names.length || value.members.some((member) => repeatsName(member.value))
  );
}

const TWICE = 'a member twice';

describe('flawIn', () => {
  it('finds exactly the texts in which an object names a member twice', () => {
    fc.assert(
      fc.property(json, SPACES, (value, space) => {
        expect(flawIn(write(value, space))).toBe(repeatsName(value) ? TWICE : undefined);
      }),
      RUNS,
    );
  });

  it.each([
    ['__proto__', '{"__proto__":1,"__proto__":2}', TWICE],
    ['a backslash at the end of a name', '{"a\\\\":1,"a\\\\":2}', TWICE],
    ['an escaped slash', '{"a/":1,"a\\/":2}', TWICE],
    ['nothing', '', undefined],
  ])('%s', (_, text, flaw) => {
    expect(flawIn(text)).toBe(flaw);
  });

  it.each([
    ['arrays', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['objects', '{"a":'.repeat(10_000) + '0' + '}'.repeat(10_000)],
    ['objects around a repeated name', `${'{"a":'.repeat(64)}{"b":1,"b":2}${'}'.repeat(64)}`],
  ])('refuses deep %s', (_, text) => {
    expect(flawIn(text)).toBe('nested too deeply');
  });

  it('finds a repeated name in the deepest object that is allowed', () => {
    expect(flawIn(`${'{"a":'.repeat(63)}{"b":1,"b":2}${'}'.repeat(63)}`)).toBe(TWICE);
  });
});
