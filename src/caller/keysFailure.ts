import { errors } from 'jose';
import { errorName } from '../domain/errors.ts';
import { connectFailureOf } from '../http/connectFailure.ts';
import { UnexpectedStatus } from '../http/connections/publishedJson.ts';

/** Such as ECONNREFUSED, UND_ERR_CONNECT_TIMEOUT and CERT_HAS_EXPIRED: Node's, undici's and OpenSSL's own words. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;

/** Why an issuer's keys cannot be had, in words that hold nothing of what it sent. Pure. */
export function keysFailure(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error instanceof errors.JWKSInvalid) return 'not a key set';
  if (error instanceof SyntaxError) return 'not JSON';
  if (error.name === 'TimeoutError') return 'timed out';
  const failure = connectFailureOf(error);
  if (failure !== undefined) return failure.message;
  if (error instanceof UnexpectedStatus) return `status ${error.statusCode}`;
  // A host with several addresses fails with all of their errors at once.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = errorName(first);
  return CODE.test(code) ? code : error.name;
}
