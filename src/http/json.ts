import { hasDuplicateMember } from './duplicateMembers.ts';
import type { HttpReply } from './exchange.ts';
import type { ReplyFlaw } from './replyFlaw.ts';
import { singleValue } from './headers.ts';

/** A JSON object whose members are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A body that can be read, or what is wrong with it. */
export type ReadBody =
  | { readonly kind: 'read'; readonly body: JsonObject }
  | { readonly kind: 'flawed'; readonly flaw: ReplyFlaw };

const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i;

/** RFC 9457, and what vendors derive from it. */
const PROBLEM_MEDIA_TYPE = /^application\/(?:[a-z0-9.-]+\.)?problem\+json\s*(?:;|$)/i;

/** The body when it says that it is JSON, is a JSON object, and names no member twice. Pure. */
export function readJsonObject(reply: HttpReply): ReadBody {
  // None was requested: a body that is not what its header says is not believed.
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
  if (!isJsonObject(value)) return flawed('no JSON object');
  return hasDuplicateMember(reply.body) ? flawed('a member twice') : { kind: 'read', body: value };
}

/** The names of members, from the outermost inwards; an item of a list by its index. */
export type MemberPath = readonly string[];

/** What stands at a path; `undefined` where nothing does. Pure. */
export function memberAt(body: JsonObject, path: MemberPath): unknown {
  let value: unknown = body;
  for (const name of path) {
    if (!isObjectOrList(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/**
 * The body of a success. One that tells of an error as well contradicts itself: a `code`, an `error` or a
 * `fault`, a `status` that is no success, an error where this operator names its errors, or a problem
 * document. Pure.
 *
 * @param said members of the body itself that its own words speak for
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
  switch (read.kind) {
    case 'read':
      return tellsOfError(said.length === 0 ? read.body : without(read.body, said), errorsAt)
        ? flawed('an error beside the answer')
        : read;
    case 'flawed':
      return read;
  }
}

function without(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

function flawed(flaw: ReplyFlaw): ReadBody {
  return { kind: 'flawed', flaw };
}

function tellsOfError(body: JsonObject, errorsAt: readonly MemberPath[]): boolean {
  for (const name of Object.keys(body)) {
    if (ERROR_MEMBERS.get(name)?.(body[name]) === true) return true;
  }
  return errorsAt.some((path) => isErrorWord(memberAt(body, path)));
}

/** Where gateways and frameworks put what went wrong, and which values of it tell of an error. */
const ERROR_MEMBERS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['error', isTold],
  ['errors', isTold],
  ['fault', isTold],
  ['code', (code: unknown) => isTextOrObject(code) || isErrorCode(code)],
  ['status', isNoSuccess],
  ['statusCode', isNoSuccess],
  ['success', (success: unknown) => success === false],
]);

/** A word that is no number, or a number that is neither 0 nor a status of success. */
function isErrorWord(value: unknown): boolean {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number') return number !== 0 && isNoSuccess(number);
  return isTextOrObject(number);
}

/** An error that is `null`, `false`, 0 or an empty list is none. */
function isTold(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isTextOrObject(value) || value === true || (typeof value === 'number' && value !== 0);
}

function isTextOrObject(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

/** A number that is a status of HTTP; others count in ways of their own. */
function isErrorCode(code: unknown): boolean {
  return typeof code === 'number' && code >= 300 && code < 600;
}

/** A number, a text that begins with a status, or a word of failure; words such as "OK" are no status. */
function isNoSuccess(status: unknown): boolean {
  if (typeof status === 'number') return status < 200 || status >= 300;
  return (
    typeof status === 'string' && (/^[013-9]\d\d\b/.test(status) || /^(?:error|fail)/i.test(status))
  );
}

/** A list is an object whose members are named by their indexes. */
function isObjectOrList(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
