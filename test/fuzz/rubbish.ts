import type { Random } from '../support/random.ts';

const TEXTS = [
  '',
  ' ',
  '\0',
  '"',
  '\\',
  '\r\n',
  '{',
  '}',
  '[',
  ']',
  '\u{1F4F1}',
  '\uD800',
  '\u202E',
  '%00',
  '../../etc/passwd',
  '${1}',
  '__proto__',
  'constructor',
  'null',
  'NaN',
  '1e999',
  'tel:+447700900001',
  '+447700900001',
  '+44 7700 900-001',
  '00447700900001',
  '+44(0)7700900001',
  '+٤٤٧٧٠٠٩٠٠٠٠١',
  '2020-02-30T25:61:61Z',
  '2020-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  'true',
  'false',
  'Bearer',
  'eyJhbGciOiJub25lIn0.e30.',
] as const;

/** Any text, of up to about so many characters. */
export function textOf(random: Random, length: number): string {
  if (random.chance(0.5)) return random.pick(TEXTS);
  const end = random.below(length + 1);
  let text = '';
  while (text.length < end) {
    text += random.chance(0.3) ? random.pick(TEXTS) : String.fromCharCode(random.below(256));
  }
  return text;
}

export function valueOf(random: Random, depth: number): unknown {
  switch (random.below(depth > 0 ? 8 : 6)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick([0, -0, -1, 1, 0.5, 240, 2400, 2401, 2 ** 31, -(2 ** 31), 2 ** 53, 1e308]);
    case 3:
      return random.below(3000);
    case 4:
    case 5:
      return textOf(random, 40);
    case 6:
      return Array.from({ length: random.below(6) }, () => valueOf(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(6) }, () => [
          textOf(random, 12),
          valueOf(random, depth - 1),
        ]),
      );
  }
}

export function mutated(text: string, random: Random): string {
  let result = text;
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const at = random.below(result.length + 1);
    const end = Math.min(result.length, at + 1 + random.below(12));
    const [before, piece, after] = [result.slice(0, at), result.slice(at, end), result.slice(end)];
    result = random.pick([
      () => before + after,
      () => before + piece + piece + after,
      () => before + random.pick(TEXTS) + after,
      () => after + piece + before,
      () => before + String.fromCharCode(random.below(256)) + piece + after,
      () => before + piece.repeat(random.below(200)) + after,
    ])();
  }
  return result;
}
