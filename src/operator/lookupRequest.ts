import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { OutgoingRequest } from '../http/exchange.ts';
import { OWN_HEADERS } from '../http/headers.ts';
import { callProfile, ProfileFault } from '../http/json.ts';
import type { OperatorSettings } from './operatorSettings.ts';
import type { LookupAsk, LookupProfile } from './profile.ts';

export type LookupWriting = Pick<
  OperatorSettings,
  'grant' | 'sendPhoneNumber' | 'lookups' | 'options' | 'correlator' | 'tokens'
>;

/** A lookup beside what shows who sends it. */
export type WrittenLookup = Pick<OutgoingRequest, 'method' | 'query' | 'contentType' | 'body'> & {
  readonly headers: readonly string[];
};

/**
 * Writes a lookup as the operator wants to read it. Pure, as far as the profile is.
 *
 * @throws {ProfileFault} where the profile's function does not keep to its type
 */
export function writeLookup(
  settings: LookupWriting,
  lookup: Lookup,
  number: PhoneNumber,
  nowMs: number,
): WrittenLookup {
  const { method, write } = profileOf(settings, lookup);
  const isNamed = sendsPhoneNumber(settings);
  const ask: LookupAsk = Object.freeze({
    operation: lookup.operation,
    number: isNamed ? number : undefined,
    digits: isNamed ? number.slice(1) : undefined,
    maxAgeHours: lookup.operation === 'check' ? lookup.maxAgeHours : undefined,
    nowMs,
    options: settings.options,
  });
  const { query, headers, body = {}, ...others } = callProfile('write', () => write(ask));
  if (Object.keys(others).length > 0 || !isObject(body)) throw notItsParts();
  const written = {
    method,
    query: query === undefined ? '' : new URLSearchParams(textsIn(query)).toString(),
    headers: headers === undefined ? NO_HEADERS : headersIn(headers, settings),
  };
  return method === 'GET'
    ? written
    : { ...written, contentType: 'application/json', body: JSON.stringify(body) };
}

const NO_HEADERS: readonly string[] = [];

function notItsParts(): ProfileFault {
  return new ProfileFault('write returned something else than query, headers and body');
}

/** The path of a lookup's address with the number in its place; `undefined` where it has none. Pure. */
export function pathWith(number: PhoneNumber, address: string): string | undefined {
  if (!NUMBER_PLACE.test(address)) return undefined;
  const { pathname, search } = new URL(address);
  const path = pathname
    .replaceAll('%7Bnumber%7D', encodeURIComponent(number))
    .replaceAll('%7Bdigits%7D', number.slice(1));
  return path + search;
}

const NUMBER_PLACE = /\{(?:number|digits)\}/;

/** How a lookup is written and read. A lookup that is not offered is never planned. */
export function profileOf(
  { lookups }: Pick<LookupWriting, 'lookups'>,
  lookup: Lookup,
): LookupProfile {
  const profile = lookups[lookup.operation];
  if (profile === undefined) throw new Error('A lookup was planned that is not offered.');
  return profile;
}

/** Whether the lookups of an operator name the number beside the token. Pure. */
export function sendsPhoneNumber({
  grant,
  sendPhoneNumber,
}: Pick<LookupWriting, 'grant' | 'sendPhoneNumber'>): boolean {
  if (sendPhoneNumber !== 'auto') return sendPhoneNumber === 'always';
  switch (grant.type) {
    // Its `username` binds the token in ways of each operator's own; docs/operator-api.md, "The date", names both.
    case 'client_credentials':
    case 'none':
      return true;
    // The API knows the number by the token: then CAMARA 2 answers 422 to one that is named beside it.
    case 'jwt-bearer':
    case 'ciba':
      return false;
  }
}

function textsIn(query: unknown): Readonly<Record<string, string>> {
  if (!isObject(query)) throw notItsParts();
  return Object.fromEntries(
    Object.entries(query).map(([name, value]: [string, unknown]) => {
      if (typeof value === 'string' || typeof value === 'number') return [name, String(value)];
      throw new ProfileFault('write returned a query member that is neither text nor number');
    }),
  );
}

/** Names and values in turn. A line break in one would begin another header. */
function headersIn(
  headers: unknown,
  { correlator, tokens }: Pick<LookupWriting, 'correlator' | 'tokens'>,
): readonly string[] {
  if (!isObject(headers)) throw notItsParts();
  return Object.entries(headers).flatMap(([name, value]: [string, unknown]) => {
    const lower = name.toLowerCase();
    if (OWN_HEADERS.has(lower) || lower === correlator.header || lower === tokens.sentIn?.header) {
      throw new ProfileFault('write returned a header that the service sets itself');
    }
    if (!isHeaderName(name) || typeof value !== 'string' || !isHeaderText(value)) {
      throw new ProfileFault('write returned what no header carries');
    }
    return [name, value];
  });
}

/** RFC 9110 §5.1. Pure. */
export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}

/** Printable ASCII and tabs. Pure. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
