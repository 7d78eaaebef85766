import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Generated or installed. */
const LEFT_OUT = new Set(['node_modules', 'generated', 'dist', '.git', '.cache', 'coverage']);

/** The paths of the project's files whose names fit, from its root. */
export function filesOfProject(name: RegExp, folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    globSync(folder === '.' ? '*' : '**', {
      cwd: join(ROOT, folder),
      withFileTypes: true,
      exclude: (entry) => LEFT_OUT.has(entry.name),
    })
      .filter((entry) => entry.isFile() && name.test(entry.name))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  );
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function headingsOf(markdown: string): readonly string[] {
  return Array.from(withoutCode(markdown).matchAll(/^#{1,6} +(.+?) *$/gm), ([, text = '']) =>
    text.replaceAll('`', ''),
  );
}

/** The rows of all tables of a page, each as the texts of its cells. */
export function rowsOf(markdown: string): readonly (readonly string[])[] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

/** The anchors that GitHub gives the headings of a page. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of headingsOf(markdown)) {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\p{Mark}_ -]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** The addresses of links and pictures that lie in the repository. */
export function relativeLinksOf(markdown: string): readonly string[] {
  return Array.from(
    withoutCode(markdown).matchAll(/\]\((?<address>[^()\s]+)\)/g),
    ({ groups }) => groups?.['address'] ?? '',
  ).filter((address) => !/^[a-z][a-z0-9+.-]*:/i.test(address));
}

/** Blocks of code, and code in lines that looks like a link. */
function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^ *```[^]*?^ *```/gm, '').replaceAll(/`[^`\n]*\]\([^`\n]*`/g, '');
}

export interface CodeBlock {
  readonly page: string;
  /** Counted from 1: of the fence that begins it. */
  readonly line: number;
  /** After the fence; empty where the block is an output or a drawing. */
  readonly language: string;
  /** Without the indentation of the fence. */
  readonly text: string;
  /** Whether a comment before the fence says why no test runs it. */
  readonly isMarked: boolean;
}

export function codeBlocksOf(page: string): readonly CodeBlock[] {
  const markdown = textOf(page);
  return Array.from(
    markdown.matchAll(/^(?<indent> *)```(?<language>\w*)\n(?<text>[^]*?)^\k<indent>```$/gm),
    ({ index, groups }) => {
      const { indent = '', language = '', text = '' } = groups ?? {};
      const before = markdown.slice(0, index);
      return {
        page,
        line: before.split('\n').length,
        language,
        text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
        isMarked: /<!-- not run: [^>]{10,} -->\s*$/.test(before),
      };
    },
  );
}
