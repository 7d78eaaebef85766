import { parseMaxAge } from './maxAge.ts';
import type { Parsed } from './phoneNumber.ts';
import type { Question } from './question.ts';

/** What a field asks about a number: the operator, or our own store how the owner's consent stands. */
export type FieldQuestion = Question | { readonly asks: 'consent' };

/** What an answer takes: a lookup that is billed, unless known facts answer; or a look into our own store. */
export type Cost = 'lookup' | 'stored-state';

/** What a field asks about a number, and everything that follows from the field. */
export interface FieldAsk {
  readonly asked: FieldQuestion;
  /** Equal for equal questions, whichever fields and aliases they come from. */
  readonly key: string;
  readonly cost: Cost;
}

/** The arguments that the fields of a number take. */
export interface FieldArguments {
  readonly maxAgeHours?: unknown;
}

type Field = (args: FieldArguments) => Parsed<FieldAsk>;

const DATE = ask({ asks: 'date' }, 'lookup');
const CONSENT = ask({ asks: 'consent' }, 'stored-state');

/**
 * The fields of `PhoneNumber` that ask something: by their names, what they ask with these arguments, or
 * why the arguments are refused. Resolvers, loader and limits all read this table, so a field
 * that is not in it asks nothing.
 */
export const FIELDS = {
  lastSimSwap: () => DATE,
  simSwappedWithin: window,
  simSwapCheck: window,
  simSwapConsent: () => CONSENT,
} satisfies Readonly<Record<string, Field>>;

/** The name of a field that asks something. */
export type AskingField = keyof typeof FIELDS;

export function isAskingField(name: string): name is AskingField {
  return Object.hasOwn(FIELDS, name);
}

function window({ maxAgeHours }: FieldArguments): Parsed<FieldAsk> {
  const parsed = parseMaxAge(maxAgeHours);
  switch (parsed.kind) {
    case 'parsed':
      return ask({ asks: 'window', maxAgeHours: parsed.value }, 'lookup');
    case 'refused':
      return parsed;
  }
}

function ask(asked: FieldQuestion, cost: Cost): Parsed<FieldAsk> {
  return { kind: 'parsed', value: { asked, key: keyOf(asked), cost } };
}

function keyOf(asked: FieldQuestion): string {
  switch (asked.asks) {
    case 'date':
    case 'consent':
      return asked.asks;
    case 'window':
      return `window ${asked.maxAgeHours}`;
  }
}
