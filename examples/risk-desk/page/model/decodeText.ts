/** The text of a file. */
export interface DecodedText {
  readonly text: string;
  /** Whether an export of it begins with a byte order mark, which says UTF-8 to spreadsheets. */
  readonly hasMark: boolean;
}

/**
 * The text of a file, in the encoding that its bytes are in: spreadsheets save in several. Browsers write only
 * UTF-8: what was in another encoding gets a mark.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const encoding = encodingOf(bytes);
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = new TextDecoder(encoding).decode(bytes);
  return { text, hasMark: isMarked || encoding !== 'utf-8' };
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    // What is not UTF-8 is what Excel saves as CSV in western Europe.
    return 'windows-1252';
  }
}
