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

const PATTERNS: Readonly<Record<Place, RegExp>> = {
  name: patternFor('name'),
  constant: patternFor('name', 'constant'),
  comment: patternFor('comment'),
  message: patternFor('message'),
};

function patternFor(...at: readonly string[]): RegExp {
  const rows = ROWS.filter(({ places }) => at.some((place) => places.has(place)));
  return new RegExp(`\\b(?:${rows.flatMap(({ words }) => words).join('|')})\\b`, 'gi');
}

const PROSE = patternFor('comment', 'message');

/** People ask people. */
const PEOPLE = /\b[Aa]sk (?:your|its|the|whether|an?) |\bask (?:them|it)\b/;

function findingsIn(text: string): readonly Finding[] {
  return Array.from(text.matchAll(TOKEN), ({ 0: token, index }) => {
    const place = placeOf(token);
    return wordsIn(token, place).map((word) => ({
      place,
      line: text.slice(0, index).split('\n').length,
      word,
    }));
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
  return spaced.match(PATTERNS[place]) ?? [];
}

/** A record of each request and exchange, which programs search for. */
const RECORDS = ["'request'", "'exchange'"];

/** A whole sentence, or several; what begins it may be put in. */
const SENTENCES = /^['"`](?:[A-Z]|\$\{)[^;!]*\.['"`]$/;

/** Where a message of the log is written. Functions of these names make findings. */
const LOGS =
  /(?:\b(?:log|Log|everyLine)|createLog\(\))\.(?:debug|info|warn|error)\(|[^.]\b(?:warn|error)\(/g;

/** Arguments that hold a message of elsewhere: of a table, of a library, or of a log that passes it on. */
const PASSED = new Map([
  ['src/resilience/finding.ts', ['STAGES', 'DENIALS', 'PERIOD_TOO_LONG']],
  ['src/graphql/apollo.ts', []],
  ['src/log/log.ts', []],
]);

/** Texts of the log in a file, as they are written there, and arguments that are none. */
function messagesIn(path: string): { readonly texts: string[]; readonly unknown: string[] } {
  const code = textOf(path).replaceAll(/\/\*[^]*?\*\/|(?<=^\s*)\/\/.*/gm, '');
  const names = PASSED.get(path) ?? [];
  const parts = Array.from(code.matchAll(LOGS), ({ 0: call, index }) =>
    firstArgument(code.slice(index + call.length)),
  ).filter((argument) => argument !== 'message: string');
  const found = [...parts, ...names].map((argument) => {
    const own = textsIn(argument);
    return { argument, texts: own.length > 0 ? own : defined(argument, code) };
  });
  return {
    texts: found.flatMap(({ texts }) => texts),
    unknown: PASSED.has(path)
      ? []
      : found.filter(({ texts }) => texts.length === 0).map(({ argument }) => argument),
  };
}

function firstArgument(code: string): string {
  return /^(?:'(?:\\.|[^'])*'|"[^"]*"|`[^`]*`|[^,()'"`])*/.exec(code)?.[0].trim() ?? '';
}

function textsIn(code: string): string[] {
  return code.match(/'(?:\\.|[^'\\\n])*'|"[^"\n]*"|`[^`]*`/g) ?? [];
}

/** Texts of the constants in an expression, through other constants too. */
function defined(expression: string, code: string): string[] {
  return (expression.match(/[A-Za-z_]\w*/g) ?? []).flatMap((name) => {
    const value = new RegExp(`\\bconst ${name}\\b[^=]*=([^]*?);\\n`).exec(code)?.[1] ?? '';
    const texts = textsIn(value).filter((text) => text.includes(' '));
    return texts.length > 0 ? texts : defined(value, code);
  });
}

describe('messages of the log', () => {
  const written = filesOfProject(/\.ts$/, ['src'])
    .filter((path) => !path.startsWith('src/library/'))
    .map((path) => ({ path, ...messagesIn(path) }));

  it('are found where they are written', () => {
    expect(written.flatMap(({ texts }) => texts).length).toBeGreaterThan(70);
    expect(written.filter(({ unknown }) => unknown.length > 0)).toEqual([]);
  });

  it('are sentences, what happened first', () => {
    const others = written.flatMap(({ path, texts }) =>
      texts
        .filter((text) => !RECORDS.includes(text) && !SENTENCES.test(text))
        .map((text) => `${path}: ${text}`),
    );
    expect(others).toEqual([]);
  });
});

/** Prose of a page, line by line: without code, addresses, and the table of words itself. */
function proseOf(page: string): readonly string[] {
  return page
    .replaceAll(/^(```|~~~)[^]*?^\1/gm, (code) => code.replaceAll(/[^\n]/g, ''))
    .replaceAll(/^ {4}.*$|`[^`\n]*`/gm, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split('\n')
    .map((line, index, lines) => (isInTableOfWords(lines, index) ? '' : line));
}

function isInTableOfWords(lines: readonly string[], index: number): boolean {
  return (
    lines.slice(0, index).lastIndexOf('## Words') > lines.slice(0, index).lastIndexOf('## Recipes')
  );
}

describe('words that the table of CONTRIBUTING.md replaces', () => {
  it.each(['src', 'simulator', 'onboarding', 'profiles', 'scripts', 'mocks'])('%s', (folder) => {
    const found = filesOfProject(/\.[jt]s$/, [folder]).flatMap((path) =>
      findingsIn(textOf(path)).map(({ place, line, word }) => `${path}:${line} ${place}: ${word}`),
    );
    expect(found).toEqual([]);
  });

  it('docs, and the pages of other folders', () => {
    const pages = filesOfProject(/\.md$/, ['docs', 'monitoring', 'mocks', 'simulator', 'packages']);
    const found = [...pages, 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'].flatMap((path) =>
      proseOf(textOf(path)).flatMap((line, index) =>
        (line.match(PROSE) ?? [])
          .filter((word) => !PEOPLE.test(line) && word !== 'ASK')
          .map((word) => `${path}:${index + 1}: ${word}`),
      ),
    );
    expect(found).toEqual([]);
  });
});
