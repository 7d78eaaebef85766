import type { HttpReply, ReplyFlaw } from './exchange.ts';
import { singleValue } from './headers.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export type ReadBody =
  | { readonly kind: 'read'; readonly body: JsonObject }
  | { readonly kind: 'flawed'; readonly flaw: ReplyFlaw };

const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i;

/** The body where its type is JSON and it is a JSON object without a repeated member. Pure. */
export function readJsonObject(reply: HttpReply): ReadBody {
  // None was requested, so the body cannot be trusted.
  const encoding = reply.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return flawed('an encoding that was not requested');
  const mediaType = singleValue(reply.headers['content-type']) ?? '';
  if (mediaType !== 'application/json' && !JSON_MEDIA_TYPE.test(mediaType)) {
    return flawed('no JSON');
  }
  let value: unknown;
  try {
    value = JSON.parse(reply.body);
  } catch {
    return flawed('no JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return flawed('no JSON object');
  }
  const flaw = flawIn(reply.body);
  if (flaw !== undefined) return flawed(flaw);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON has no other objects
  return { kind: 'read', body: value as JsonObject };
}

/** No operator, directory or issuer nests objects and lists deeper: code that walks through a value may recurse. */
const MAX_DEPTH = 64;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The greatest of the four characters that JSON takes for white space (RFC 8259 §2). */
const SPACE = 0x20;

/**
 * Whether a JSON text nests too deeply, or an object anywhere in it names a member twice. RFC 8259 §4 leaves open which
 * of the two counts, and `JSON.parse` takes the last one: `{"swapped":true,"swapped":false}` would be a wrong `false`.
 * Names are compared after escapes are resolved, so that an escape hides nothing.
 *
 * @param json a text that `JSON.parse` accepts
 */
export function flawIn(json: string): 'nested too deeply' | 'a member twice' | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case OPENING_BRACE:
      case OPENING_BRACKET:
        if (open.push(new Set()) > MAX_DEPTH) return 'nested too deeply';
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        open.pop();
        break;
      case QUOTE: {
        let end = json.indexOf('"', at + 1);
        while (json.charCodeAt(end - 1) === BACKSLASH && isEscaped(json, end)) {
          end = json.indexOf('"', end + 1);
        }
        let next = end + 1;
        while (json.charCodeAt(next) <= SPACE) next += 1;
        // In valid JSON a string before a colon is a name, and belongs to the innermost open object.
        if (json.charCodeAt(next) === COLON) {
          const names = open.at(-1);
          const raw = json.slice(at + 1, end);
          const name = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
          if (names?.has(name) === true) return 'a member twice';
          names?.add(name);
        }
        at = end;
        break;
      }
      default:
    }
  }
  return undefined;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** The names of members, from the outermost inwards; an item of a list by its index. */
export type MemberPath = readonly string[];

/** `undefined` where there is none. Pure. */
export function memberAt(outermost: unknown, path: readonly (string | number)[]): unknown {
  let value = outermost;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

export function flawed(flaw: ReplyFlaw): ReadBody {
  return { kind: 'flawed', flaw };
}
