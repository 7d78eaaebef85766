const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The greatest of the four characters that JSON takes for white space (RFC 8259 §2). */
const SPACE = 0x20;

/**
 * Whether an object anywhere in a JSON text names a member twice. RFC 8259 §4 leaves open which of the
 * two counts, and `JSON.parse` silently takes the last one: `{"swapped":true,"swapped":false}` would be
 * a wrong `false`. Names are compared as they read, so that an escape hides nothing.
 *
 * One pass without recursion: time and memory grow with the length of the text, and not with its depth.
 *
 * @param json a text that `JSON.parse` accepts
 */
export function hasDuplicateMember(json: string): boolean {
  /** The names seen so far in each object that is open. */
  const open: Set<string>[] = [];
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case OPENING_BRACE:
        open.push(new Set());
        break;
      case CLOSING_BRACE:
        open.pop();
        break;
      case QUOTE: {
        let end = json.indexOf('"', at + 1);
        while (json.charCodeAt(end - 1) === BACKSLASH && isEscaped(json, end))
          end = json.indexOf('"', end + 1);
        let next = end + 1;
        while (json.charCodeAt(next) <= SPACE) next += 1;
        // In valid JSON a string before a colon is a name, and belongs to the innermost open object.
        if (json.charCodeAt(next) === COLON) {
          const names = open.at(-1);
          const raw = json.slice(at + 1, end);
          const name = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
          if (names?.has(name) === true) return true;
          names?.add(name);
        }
        at = end;
        break;
      }
      default:
    }
  }
  return false;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
