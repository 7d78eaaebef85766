import { parseMaxAge, type Question } from './question.ts';
import type { Parsed } from './phoneNumber.ts';

/** What a field asks: the operator, whose lookup is billed unless known facts answer, or our own store. */
export type FieldQuestion = Question | { readonly asks: 'consent' };

export interface FieldArguments {
  readonly maxAgeHours?: unknown;
}

type Field = (args: FieldArguments) => Parsed<FieldQuestion>;

const DATE: Parsed<FieldQuestion> = { kind: 'parsed', value: { asks: 'date' } };
const CONSENT: Parsed<FieldQuestion> = { kind: 'parsed', value: { asks: 'consent' } };
/** By their hours, once they were asked. */
const WINDOWS: Parsed<FieldQuestion>[] = [];

/**
 * The fields of `PhoneNumber` that ask something: what they ask with these arguments, or why the arguments are refused.
 * Resolvers, loader and limits all read this table. Equal questions are one object, whichever fields they come from.
 */
export const FIELDS = {
  lastSimSwap: () => DATE,
  simSwappedWithin: window,
  simSwapCheck: window,
  simSwapConsent: () => CONSENT,
} satisfies Readonly<Record<string, Field>>;

export type AskingField = keyof typeof FIELDS;

export function isAskingField(name: string): name is AskingField {
  return Object.hasOwn(FIELDS, name);
}

function window({ maxAgeHours }: FieldArguments): Parsed<FieldQuestion> {
  const hours = parseMaxAge(maxAgeHours);
  if (hours.kind === 'refused') return hours;
  return (WINDOWS[hours.value] ??= {
    kind: 'parsed',
    value: { asks: 'window', maxAgeHours: hours.value },
  });
}

/** How the consent about a number stands, for the caller; reading it starts nothing. */
export interface ConsentStatus {
  readonly state: 'NOT_NEEDED' | 'NOT_ASKED' | 'PENDING' | 'ANSWERED' | 'DENIED' | 'EXPIRED';
  /** When asking can bring something new, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /** When a pending consent ends, milliseconds since 1970. */
  readonly expiresAtMs?: number;
}
