import type { GraphQLFormattedError } from 'graphql';
import type {
  CheckFragment,
  ConsentsQuery,
  SimSwapsQuery,
  SimSwapWithConsentQuery,
} from '../../generated/graphql.ts';
import type { Customer } from '../model/deskRow.ts';
import {
  withImplied,
  type Answer,
  type LastChange,
  type WindowAnswer,
  type WindowHours,
  type Windows,
} from '../model/windows.ts';

/** What a reply says of one number. */
export interface Told<T> {
  readonly customer: Customer | null;
  readonly said: T;
}

/** Whether a number may be looked up without a prompt on its owner's phone. */
export type ConsentReading =
  | { readonly kind: 'notNeeded' }
  | { readonly kind: 'needed'; readonly retryAfterSeconds: number | null }
  | { readonly kind: 'unknown'; readonly reason: string };

type Errors = readonly GraphQLFormattedError[];

const ALIASES = { 24: 'within24h', 72: 'within72h', 168: 'within7d', 720: 'within30d' } as const;

/** Of a page's first question. Pure, as all here; what is missing or contradicts itself is unknown. */
export function readConsents(data: ConsentsQuery, errors: Errors): Told<ConsentReading>[] {
  return data.customersByPhone.map(({ customer, phoneNumber }, index) => {
    const consent = phoneNumber.simSwapConsent;
    return { customer, said: readConsent(consent, codeAt(errors, index, 'simSwapConsent')) };
  });
}

type Consent = ConsentsQuery['customersByPhone'][number]['phoneNumber']['simSwapConsent'];

function readConsent(consent: Consent, code: string | undefined): ConsentReading {
  // Not known at the moment: the number is not looked up, for its phone might ring.
  if (consent === null) return { kind: 'unknown', reason: code ?? 'STATE_UNAVAILABLE' };
  return consent.state === 'NOT_NEEDED'
    ? { kind: 'notNeeded' }
    : { kind: 'needed', retryAfterSeconds: consent.retryAfterSeconds };
}

/** Of a page's second question. */
export function readSimSwaps(data: SimSwapsQuery, errors: Errors): Told<Answer>[] {
  return data.customersByPhone.map(({ customer, phoneNumber }, index) => {
    const windowAt = (hours: WindowHours): WindowAnswer =>
      readCheck(phoneNumber[ALIASES[hours]], hours, codeAt(errors, index, ALIASES[hours]));
    const windows = { 24: windowAt(24), 72: windowAt(72), 168: windowAt(168), 720: windowAt(720) };
    const code = codeAt(errors, index, 'lastSimSwap');
    return { customer, said: { windows, lastChange: readDate(phoneNumber.lastSimSwap, code) } };
  });
}

/** Of the one question that rang a phone; `known` is what earlier ones brought. */
export function readOneCheck(
  data: SimSwapWithConsentQuery,
  errors: Errors,
  hours: WindowHours,
  known: Windows,
): Told<Answer> | undefined {
  const [first] = data.customersByPhone;
  if (first === undefined) return undefined;
  const check = readCheck(first.phoneNumber.check, hours, codeAt(errors, 0, 'check'));
  const windows = withImplied({ ...known, [hours]: check });
  return { customer: first.customer, said: { windows, lastChange: { kind: 'notAsked' } } };
}

/** Before any query about a number. */
export const NOTHING_ASKED: Windows = {
  24: { kind: 'notAsked' },
  72: { kind: 'notAsked' },
  168: { kind: 'notAsked' },
  720: { kind: 'notAsked' },
};

function readCheck(
  check: CheckFragment | null,
  hours: WindowHours,
  code: string | undefined,
): WindowAnswer {
  // A gateway may confuse two windows of one operation: only the queried one counts.
  if (check === null || check.windowHours !== hours) return unknown(code ?? 'NO_ANSWER');
  switch (check.result) {
    case 'SWAPPED':
    case 'NOT_SWAPPED': {
      const asOfMs = check.asOf === null ? Number.NaN : Date.parse(check.asOf);
      if (Number.isNaN(asOfMs)) return unknown('NO_ANSWER');
      return { kind: check.result === 'SWAPPED' ? 'swapped' : 'notSwapped', asOfMs };
    }
    case 'UNKNOWN':
      return {
        kind: 'unknown',
        reason: check.reason ?? 'NO_ANSWER',
        retryAfterSeconds: check.retryAfterSeconds,
        expiresAtMs: check.expiresAt === null ? null : Date.parse(check.expiresAt),
        maxAgeHours: check.maxAgeHours,
      };
    default:
      // A result that a later service has.
      return unknown('NO_ANSWER');
  }
}

function unknown(reason: string): WindowAnswer {
  return {
    kind: 'unknown',
    reason,
    retryAfterSeconds: null,
    expiresAtMs: null,
    maxAgeHours: null,
  };
}

function readDate(lastSimSwap: string | null, code: string | undefined): LastChange {
  if (code !== undefined) return { kind: 'unknown', reason: code };
  if (lastSimSwap === null) return { kind: 'withheld' };
  const atMs = Date.parse(lastSimSwap);
  return Number.isNaN(atMs) ? { kind: 'unknown', reason: 'NO_ANSWER' } : { kind: 'at', atMs };
}

/**
 * The code of the error about a field of one number, about the number as a whole, or about all of them: a
 * gateway may report the last without its path.
 */
function codeAt(errors: Errors, index: number, field: string): string | undefined {
  const error = errors.find(({ path = [] }) => {
    const [, at, , name] = path;
    return typeof at !== 'number' || (at === index && (name === undefined || name === field));
  });
  return error === undefined ? undefined : codeOf(error);
}

/** `NO_ANSWER` where an error has none. */
export function codeOf({ extensions }: GraphQLFormattedError): string {
  const code = extensions?.['code'];
  return typeof code === 'string' ? code : 'NO_ANSWER';
}
