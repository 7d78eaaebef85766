import type { HttpReply } from '../wire/exchange.ts';
import { singleValue } from '../wire/headers.ts';
import { flawed, memberAt, readJsonObject, type MemberPath, type ReadBody } from '../wire/json.ts';

/** RFC 9457, and what vendors derive from it. */
const PROBLEM_MEDIA_TYPE = /^application\/(?:[a-z0-9.-]+\.)?problem\+json\s*(?:;|$)/i;

/**
 * The body of a success; one that also reports an error is refused. Pure.
 *
 * @param covered members of the body that the operator's own words cover
 */
export function readAnswer(
  reply: HttpReply,
  errorsAt: readonly MemberPath[] = [],
  covered: readonly string[] = [],
): ReadBody {
  if (reply.status !== 200) return flawed('unexpected status');
  if (PROBLEM_MEDIA_TYPE.test(singleValue(reply.headers['content-type']) ?? '')) {
    return flawed('a problem document with a status of success');
  }
  const read = readJsonObject(reply);
  if (read.kind === 'flawed') return read;
  const { body } = read;
  for (const name of Object.keys(body)) {
    if (ERROR_MEMBERS.get(name)?.(body[name]) === true && !covered.includes(name)) {
      return flawed('an error with the answer');
    }
  }
  for (const path of errorsAt) {
    if (!covered.includes(path[0] ?? '') && isErrorWord(memberAt(body, path))) {
      return flawed('an error with the answer');
    }
  }
  return read;
}

/** Where gateways and frameworks report errors, and which values are errors. */
const ERROR_MEMBERS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['error', reportsError],
  ['errors', reportsError],
  ['fault', reportsError],
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

/** Whether a member reports an error: `null`, `false`, 0 and an empty list do not. */
function reportsError(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isTextOrObject(value) || value === true || (typeof value === 'number' && value !== 0);
}

function isTextOrObject(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

/** A number is an error code only where it is a status of failure: others have meanings of their own. */
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
