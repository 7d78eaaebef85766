import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lineOf, type AuditEntry } from '../../../src/caller/audit/entry.ts';
import { linesOf } from '../../../src/caller/audit/logFiles.ts';

async function read(pieces: readonly string[]): Promise<readonly string[]> {
  return (await Readable.from(linesOf(Readable.from(pieces))).toArray()) as string[];
}

it.each<[string, readonly string[], readonly string[]]>([
  ['nothing', [], []],
  ['a line without its end', ['a'], ['a']],
  ['lines in one piece', ['a\nb\n'], ['a', 'b']],
  ['a line in pieces', ['a', 'b', '\nc\n'], ['ab', 'c']],
  ['lines of Windows', ['a\r\nb\r\n'], ['a', 'b']],
])('%s', async (_what, pieces, lines) => {
  expect(await read(pieces)).toEqual(lines);
});

const PIECE = fc.string({ unit: fc.constantFrom('a', '\n', '\u2028', '\u2029', '\u{1f600}') });

it('only \\n ends a line, wherever the text is cut into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(PIECE), async (pieces) => {
      const text = pieces.join('').replace(/\n$/, '');
      expect(await read(pieces)).toEqual(
        text === '' && pieces.join('') === '' ? [] : text.split('\n'),
      );
    }),
  );
});

it('of ours has no characters that a terminal shows as something else, and is the same JSON', () => {
  const names = { client: 'app\u001b[2J \u009b2J \u2028 \u202elines\u{e0001} \u{1f600}' };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any JSON
  const text = lineOf(names as unknown as AuditEntry);
  expect(text).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  expect(text).toContain('\u{1f600}');
  expect(JSON.parse(text)).toEqual(names);
});

it('holds a bounded part of a text without lines', async () => {
  const lines = await read(Array.from({ length: 64 }, () => 'x'.repeat(64 * 1024)));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.join('')).toHaveLength(64 * 64 * 1024);
});
