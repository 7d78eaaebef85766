import { describe, expect, it } from 'vitest';
import { filesOfProject, rowsOf, textOf } from './support/documents.ts';

type Place = 'name' | 'constant' | 'comment' | 'message';

/** A comment, a text in quotes, or a name. Names within a template count as its text. */
const TOKEN =
  /\/\*[^]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|[A-Za-z_$][\w$]*/g;

/** Names that others know, terms of the field, and names that are stored. */
const NAMES = new Set([
  'asked',
  'NOT_ASKED',
  'mayAskAbout',
  'mayAskAboutAnyone',
  'mayAskAboutSeveral',
  'LookupAsk',
  'asker',
  'isTold',
  'isHeard',
  'toldBy',
]);

/** People ask people, in these words; and what the audit log and a script of Redis call `asked` and `heard`. */
const TEXTS = /\basks? (?:your|the operator|whether)\b|`asked`|`heard`/i;

interface Finding {
  readonly place: Place;
  readonly line: number;
  readonly word: string;
}

/** The rows of the table in CONTRIBUTING.md: what is not written, and where. */
const ROWS = rowsOf(textOf('CONTRIBUTING.md').split('\n## Words\n')[1]?.split('\n## ')[0] ?? '')
  .slice(2)
  .map(([, words = '', places = '']) => ({
    words: words.split(', '),
    places: new Set(places.split(', ')),
  }));

function findingsIn(text: string): readonly Finding[] {
  return Array.from(text.matchAll(TOKEN), ({ 0: token, index }) => {
    const place = placeOf(token);
    const line = text.slice(0, index).split('\n').length;
    return wordsIn(token, place).map((word) => ({ place, line, word }));
  }).flat();
}

function placeOf(token: string): Place {
  if (token.startsWith('/')) return 'comment';
  if (/^['"`]/.test(token)) return 'message';
  return /^[A-Z][A-Z0-9_]+$/.test(token) ? 'constant' : 'name';
}

function wordsIn(token: string, place: Place): readonly string[] {
  const isName = place === 'name' || place === 'constant';
  if (isName ? NAMES.has(token) : TEXTS.test(token)) return [];
  if (place === 'message' && !token.includes(' ')) return [];
  const spaced = isName ? token.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|_/g, ' ') : token;
  return ROWS.filter(({ places }) => places.has(place) || (isName && places.has('name')))
    .flatMap(({ words }) => words)
    .filter((word) => new RegExp(`\\b${word}\\b`, 'i').test(spaced));
}

describe('words that the table of CONTRIBUTING.md replaces', () => {
  it.each(['src', 'simulator', 'onboarding', 'profiles', 'scripts', 'mocks'])('%s', (folder) => {
    const found = filesOfProject(/\.[jt]s$/, [folder]).flatMap((path) =>
      findingsIn(textOf(path)).map(({ place, line, word }) => `${path}:${line} ${place}: ${word}`),
    );
    expect(found).toEqual([]);
  });
});
