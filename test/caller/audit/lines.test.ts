import fc from 'fast-check';
import { expect, it } from 'vitest';
import { linesOf } from '../../../src/caller/audit/logFiles.ts';

async function* piecesOf(pieces: readonly string[]): AsyncGenerator<string> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}

async function read(pieces: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(piecesOf(pieces))) lines.push(line);
  return lines;
}

it.each<[string, readonly string[], readonly string[]]>([
  ['nothing', [], []],
  ['a line without its end', ['a'], ['a']],
  ['lines in one piece', ['a\nb\n'], ['a', 'b']],
  ['a line in pieces', ['a', 'b', '\nc\n'], ['ab', 'c']],
  ['lines of Windows', ['a\r\nb\r\n'], ['a', 'b']],
  ['U+2028 and U+2029 in a line', ['a\u2028b\u2029c\n'], ['a\u2028b\u2029c']],
])('%s', async (_what, pieces, lines) => {
  expect(await read(pieces)).toEqual(lines);
});

const PIECE = fc.string({ unit: fc.constantFrom('a', '\n', '\u2028', '\u{1f600}') });

it('loses nothing, however a text is cut into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(PIECE), async (pieces) => {
      const text = pieces.join('');
      expect((await read(pieces)).join('\n')).toBe(text.replace(/\n$/, ''));
    }),
  );
});

it('holds no more than a bounded part of a text that has no lines', async () => {
  const lines = await read(Array.from({ length: 64 }, () => 'x'.repeat(64 * 1024)));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.join('')).toHaveLength(64 * 64 * 1024);
});
