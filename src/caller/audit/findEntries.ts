import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import { auditHash } from './auditHash.ts';
import { formsOf, numbersIn } from './numberForms.ts';

/** Whom a search is for: the owner of a number, or a subject as the issuer names it. */
export type Sought =
  | { readonly kind: 'number'; readonly number: PhoneNumber }
  | { readonly kind: 'subject'; readonly subject: string };

/** What a search of the audit log came to. */
export interface SearchCount {
  found: number;
  /** Lines that look like the audit log's but are torn. */
  torn: number;
}

/**
 * The lines that are about a person, or in which the person asked, as they stand: for a subject access
 * request. Other lines, such as the log's on the same standard output, are passed over. Lines are found
 * in which names are hashed, under any of the keys, and older ones in which they are in clear.
 */
export async function* findEntries(
  lines: AsyncIterable<string>,
  sought: Sought,
  keys: readonly string[],
  count: SearchCount,
): AsyncGenerator<string> {
  const is = about(sought, keys);
  for await (const line of lines) {
    if (!line.includes('"audit":')) continue;
    const entry = parsed(line);
    if (entry === undefined) count.torn += 1;
    else if (is(entry)) {
      count.found += 1;
      yield line;
    }
  }
}

/** The texts of an entry that may name a person. */
interface Named {
  readonly number: string;
  readonly subject: string;
  readonly others: readonly string[];
}

function about(sought: Sought, keys: readonly string[]): (entry: Named) => boolean {
  switch (sought.kind) {
    case 'number':
      return aboutNumber(sought.number, keys);
    case 'subject':
      return aboutSubject(sought.subject, keys);
  }
}

function aboutNumber(number: PhoneNumber, keys: readonly string[]): (entry: Named) => boolean {
  const forms = formsOf(number);
  const hashes = new Set(
    keys.flatMap((key) => [number, ...forms].map((form) => auditHash(key, form))),
  );
  return ({ number: asked, subject, others }) => {
    const names = [asked, subject, ...others];
    return (
      names.some((name) => hashes.has(name)) ||
      [subject, ...others].flatMap(numbersIn).some((digits) => forms.has(digits))
    );
  };
}

function aboutSubject(sought: string, keys: readonly string[]): (entry: Named) => boolean {
  const clear = sought.normalize('NFKC');
  const hashes = new Set(keys.map((key) => auditHash(key, sought)));
  return ({ subject }) => hashes.has(subject) || subject.normalize('NFKC') === clear;
}

/** `undefined` where the line is torn. */
function parsed(line: string): Named | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return undefined;
  }
  const caller = memberOf(entry, 'caller');
  const numbers = memberOf(caller, 'numbers');
  return {
    number: textOf(memberOf(entry, 'number')),
    subject: textOf(memberOf(caller, 'subject')),
    others: [
      memberOf(caller, 'issuer'),
      memberOf(caller, 'client'),
      ...(Array.isArray(numbers) ? numbers : []),
    ].map(textOf),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
