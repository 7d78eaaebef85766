import type { HttpReply, ReplyFlaw } from './exchange.ts';
import { singleValue } from './headers.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export type ReadBody =
  | { readonly kind: 'read'; readonly body: JsonObject }
  | { readonly kind: 'flawed'; readonly flaw: ReplyFlaw };

const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i;

/** RFC 9457, and what vendors derive from it. */
const PROBLEM_MEDIA_TYPE = /^application\/(?:[a-z0-9.-]+\.)?problem\+json\s*(?:;|$)/i;

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
  if (isTooDeep(reply.body)) return flawed('nested too deeply');
  if (hasDuplicateMember(reply.body)) return flawed('a member twice');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON has no other objects
  return { kind: 'read', body: value as JsonObject };
}

/** No operator, directory or issuer nests deeper. */
const MAX_DEPTH = 64;

/**
 * Whether a JSON text has more than {@link MAX_DEPTH} objects and lists inside each other: what walks through its value may
 * recurse. Without recursion itself.
 *
 * @param json a text that `JSON.parse` accepts
 */
export function isTooDeep(json: string): boolean {
  // Each takes two characters.
  if (json.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth += 1;
        if (depth > MAX_DEPTH) return true;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth -= 1;
        break;
      case QUOTE:
        at = endOfString(json, at);
        break;
      default:
    }
  }
  return false;
}

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
 * Whether an object anywhere in a JSON text names a member twice. RFC 8259 §4 leaves open which of the two counts, and
 * `JSON.parse` takes the last one: `{"swapped":true,"swapped":false}` would be a wrong `false`. Names are compared as they
 * read, so that an escape hides nothing. Without recursion: a deep text costs no more than a long one.
 *
 * @param json a text that `JSON.parse` accepts
 */
export function hasDuplicateMember(json: string): boolean {
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
        const end = endOfString(json, at);
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

/** @param at where a string begins, by its quote */
function endOfString(json: string, at: number): number {
  let end = json.indexOf('"', at + 1);
  while (json.charCodeAt(end - 1) === BACKSLASH && isEscaped(json, end)) {
    end = json.indexOf('"', end + 1);
  }
  return end;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** The names of members, from the outermost inwards; an item of a list by its index. */
export type MemberPath = readonly string[];

export function memberAt(body: JsonObject, path: MemberPath): unknown {
  let value: unknown = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/**
 * The body of a success; one that also reports an error is refused. Pure.
 *
 * @param said members of the body that the operator's own words cover
 */
export function readAnswer(
  reply: HttpReply,
  errorsAt: readonly MemberPath[] = [],
  said: readonly string[] = [],
): ReadBody {
  if (reply.status !== 200) return flawed('unexpected status');
  if (PROBLEM_MEDIA_TYPE.test(singleValue(reply.headers['content-type']) ?? '')) {
    return flawed('a problem document with a status of success');
  }
  const read = readJsonObject(reply);
  if (read.kind === 'flawed') return read;
  const { body } = read;
  for (const name of Object.keys(body)) {
    if (ERROR_MEMBERS.get(name)?.(body[name]) === true && !said.includes(name)) {
      return flawed('an error with the answer');
    }
  }
  for (const path of errorsAt) {
    if (!said.includes(path[0] ?? '') && isErrorWord(memberAt(body, path))) {
      return flawed('an error with the answer');
    }
  }
  return read;
}

function flawed(flaw: ReplyFlaw): ReadBody {
  return { kind: 'flawed', flaw };
}

/** Where gateways and frameworks report errors, and which values are errors. */
const ERROR_MEMBERS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['error', isTold],
  ['errors', isTold],
  ['fault', isTold],
  ['code', isErrorCode],
  ['status', isNoSuccess],
  ['statusCode', isNoSuccess],
  ['success', (success: unknown) => success === false],
]);

/** A word that is not a number, or a number that is neither 0 nor a status of success. */
function isErrorWord(value: unknown): boolean {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number') return number !== 0 && isNoSuccess(number);
  return isTextOrObject(number);
}

/** `null`, `false`, 0 and an empty list are not errors. */
function isTold(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isTextOrObject(value) || value === true || (typeof value === 'number' && value !== 0);
}

function isTextOrObject(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

/** Of numbers only a status of failure: others have meanings of their own. */
function isErrorCode(code: unknown): boolean {
  return isTextOrObject(code) || (typeof code === 'number' && code >= 300 && code < 600);
}

/** A number, a text that begins with a status, or a word of failure; words such as "OK" are not failures. */
function isNoSuccess(status: unknown): boolean {
  if (typeof status === 'number') return status < 200 || status >= 300;
  return (
    typeof status === 'string' && (/^[013-9]\d\d\b/.test(status) || /^(?:error|fail)/i.test(status))
  );
}

/** A function of a profile did not keep to its type: OPERATOR_INVALID_REPLY for that operator. */
export class ProfileFault extends Error {
  override readonly name = 'ProfileFault';
  /** In our own words, since what it threw may contain a number. */
  readonly detail: string;

  constructor(detail: string) {
    super(`A function of the profile failed: ${detail}.`);
    this.detail = detail;
  }
}

const MAX_JSON_CHARACTERS = 16_384;

/**
 * Calls a function of a profile and returns a JSON copy of its result: a profile may be third-party code, and a copy has
 * no getters.
 *
 * @throws {ProfileFault} for an error, a promise, and a result that is not an object or too large
 */
export function callProfile<About>(
  name: string,
  call: (about: About) => unknown,
  about: About,
): Readonly<Record<string, unknown>> {
  let text: string | undefined;
  try {
    const returned = call(about);
    const isObject = typeof returned === 'object' && returned !== null;
    if (isObject && 'then' in returned && typeof returned.then === 'function') {
      // An unhandled rejection would end the process.
      Promise.resolve(returned).catch(() => undefined);
      throw new ProfileFault(`${name} returned a promise`);
    }
    text = JSON.stringify(returned);
  } catch (error) {
    throw error instanceof ProfileFault ? error : new ProfileFault(`${name} threw`);
  }
  if (text === undefined || !text.startsWith('{')) {
    throw new ProfileFault(`${name} returned no object`);
  }
  if (text.length > MAX_JSON_CHARACTERS) throw new ProfileFault(`${name} returned too much`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text that begins with { is an object
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
