/** A longer line is not the audit log's: the parts of it that come are passed on as lines of their own. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

/**
 * The lines of a text that comes in pieces. Only `\n` ends one, with or without a `\r` before it: JSON may
 * hold U+2028 and U+2029, at which node:readline breaks a line in two.
 */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.replace(/\r$/, '');
    if (rest.length > MAX_LINE_CHARACTERS) {
      yield rest;
      rest = '';
    }
  }
  if (rest !== '') yield rest;
}
