import { parseMaxAge, type Question } from './question.ts';
import type { Parsed } from './phoneNumber.ts';

/** A question to the operator, or about the consent, to our own store. */
export type FieldQuestion = Question | { readonly about: 'consent' };

export interface FieldArguments {
  readonly maxAgeHours?: unknown;
}

type Field = (args: FieldArguments) => Parsed<FieldQuestion>;

const DATE: Parsed<FieldQuestion> = { kind: 'parsed', value: { about: 'date' } };
export const OF_CONSENT: FieldQuestion = { about: 'consent' };
const CONSENT: Parsed<FieldQuestion> = { kind: 'parsed', value: OF_CONSENT };
/** Window questions by their hours, made when first needed. */
const WINDOWS: Parsed<FieldQuestion>[] = [];

/** The questions of the fields of `PhoneNumber`. Equal questions of all fields are one object. */
export const FIELDS = {
  lastSimSwap: () => DATE,
  simSwappedWithin: window,
  simSwapCheck: window,
  simSwapConsent: () => CONSENT,
} satisfies Readonly<Record<string, Field>>;

export type QuestionField = keyof typeof FIELDS;

export function isQuestionField(name: string): name is QuestionField {
  return Object.hasOwn(FIELDS, name);
}

function window({ maxAgeHours }: FieldArguments): Parsed<FieldQuestion> {
  const hours = parseMaxAge(maxAgeHours);
  if (hours.kind === 'refused') return hours;
  return (WINDOWS[hours.value] ??= {
    kind: 'parsed',
    value: { about: 'window', maxAgeHours: hours.value },
  });
}

/** The state of a consent, for the caller; reading it starts nothing. */
export interface ConsentStatus {
  readonly state: 'NOT_NEEDED' | 'NOT_ASKED' | 'PENDING' | 'ANSWERED' | 'DENIED' | 'EXPIRED';
  /** After how many whole seconds a query can bring something new. */
  readonly retryAfterSeconds?: number;
  /** When a pending consent ends, in milliseconds since 1970. */
  readonly expiresAtMs?: number;
}
