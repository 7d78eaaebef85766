import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  anchorsOf,
  filesOfProject,
  headingsOf,
  relativeLinksOf,
  ROOT,
  textOf,
} from './support/documents.ts';

const PAGES = [
  ...filesOfProject(/\.md$/, ['.', 'docs', 'examples', 'bench']),
  ...filesOfProject(/\.md$/, ['monitoring']),
];
const SOURCES = filesOfProject(/\.(?:[jt]sx?|graphql|jsonc|yml)$/, [
  'src',
  'simulator',
  'onboarding',
  'mocks',
  'test',
  'scripts',
  'bench',
  'examples',
  'schema',
  'profiles',
  'monitoring',
]);

/** A page of docs, and the headings of it that are named behind. */
const CITATION = /\bdocs\/(?<page>[\w./-]+\.md)(?<headings>(?:(?:,| and) "[^"]+")*)/g;

/** The text with each comment's lines joined, since a citation may be broken between two. */
function unbroken(text: string): string {
  return text.replaceAll(/\n[ \t]*(?:\*|\/\/|#)[ \t]?/g, ' ');
}

function brokenCitations(text: string): readonly string[] {
  return Array.from(unbroken(text).matchAll(CITATION)).flatMap(({ groups }) => {
    const path = `docs/${groups?.['page'] ?? ''}`;
    if (!existsSync(join(ROOT, path))) return [path];
    const headings = headingsOf(textOf(path));
    const named = Array.from((groups?.['headings'] ?? '').matchAll(/"([^"]+)"/g), ([, one]) => one);
    return named.filter((one) => !headings.includes(one ?? '')).map((one) => `${path}, "${one}"`);
  });
}

describe('a citation', () => {
  test.each([
    ['/**\n * (docs/design.md, "A token\n * works once")\n */', []],
    [
      '// docs/operator-api.md, "The date" and "The cheque".',
      ['docs/operator-api.md, "The cheque"'],
    ],
    ['// docs/designs.md', ['docs/designs.md']],
  ])('%j is broken where it names %j', (text, broken) => {
    expect(brokenCitations(text)).toEqual(broken);
  });

  test('in the code names an existing page and heading', () => {
    const broken = SOURCES.filter((path) => path !== 'test/documents.test.ts').flatMap((path) =>
      brokenCitations(textOf(path)).map((one) => `${path}: ${one}`),
    );
    expect(broken).toEqual([]);
  });
});

describe('documents', () => {
  test('docs/README.md links to each page of docs', () => {
    const linked = relativeLinksOf(textOf('docs/README.md')).map((link) =>
      normalize(join('docs', link.replace(/#.*/, ''))),
    );
    const pages = filesOfProject(/\.md$/, ['docs']).filter((path) => path !== 'docs/README.md');
    const missing = pages.filter(
      (path) => !linked.includes(path) && !linked.includes(dirname(path)),
    );
    expect(missing).toEqual([]);
  });

  test('docs/decisions/README.md lists each decision, in their order', () => {
    const decisions = filesOfProject(/^\d.+\.md$/, ['docs/decisions']);
    expect(relativeLinksOf(textOf('docs/decisions/README.md'))).toEqual(
      decisions.map((path) => basename(path)).toSorted(),
    );
  });

  test.each(PAGES)('%s: links have a target', (page) => {
    const broken = relativeLinksOf(textOf(page)).filter((link) => !isThere(page, link));
    expect(broken).toEqual([]);
  });

  test('the glossary has each word once, in alphabetical order', () => {
    const [, glossary = ''] = textOf('docs/design.md').split('\n## Glossary\n');
    const sections = glossary.split('\n### ').slice(1);
    expect(sections.length).toBeGreaterThan(2);
    for (const section of sections) {
      const words = Array.from(section.matchAll(/^- \*\*([^*]+)\*\*: /gm), ([, word = '']) => word);
      expect(words.length).toBeGreaterThan(3);
      expect(words).toEqual(
        words.toSorted((a, b) => a.toLowerCase().localeCompare(b.toLowerCase())),
      );
      expect(new Set(words).size).toBe(words.length);
    }
  });
});

function isThere(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page : normalize(join(dirname(page), decodeURIComponent(file)));
  if (target.startsWith('..') || !existsSync(join(ROOT, target))) return false;
  if (anchor === undefined) return true;
  const text = statSync(join(ROOT, target)).isDirectory() ? `${target}/README.md` : target;
  return existsSync(join(ROOT, text)) && anchorsOf(textOf(text)).has(anchor);
}
