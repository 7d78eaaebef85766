import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import { auditHash } from './entry.ts';
import { readAuditedLine, type AuditedLine } from './logFiles.ts';
import { formsOf, numbersIn } from './numberForms.ts';

export interface Sought {
  /** The phone number that lookups were about, or one in the names of callers, for a subject access request. */
  readonly number?: PhoneNumber | undefined;
  readonly subject?: string | undefined;
  readonly client?: string | undefined;
  /** Inclusive, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Exclusive. */
  readonly untilMs?: number | undefined;
  /** `answered`, `asked`, `broken` or a code, such as `CONSENT_DENIED`. */
  readonly outcome?: string | undefined;
  readonly operator?: string | undefined;
  /** The correlator of the request, of one of its exchanges, or the client's part of it. */
  readonly correlator?: string | undefined;
}

export interface SearchCount {
  found: number;
  /** Torn lines of the audit log. */
  torn: number;
  /** Torn lines `after`: they leave the outcome of a lookup unknown. */
  tornAfter: number;
}

/** Yields matching lines unchanged, with names hashed under any of the keys. */
export async function* findEntries(
  lines: AsyncIterable<string>,
  sought: Sought,
  keys: readonly string[],
  count: SearchCount,
): AsyncGenerator<string> {
  const tests = testsFor(sought, keys);
  for await (const line of lines) {
    const entry = readAuditedLine(line);
    if (entry === undefined) continue;
    if (entry === 'torn') {
      count.torn += 1;
      // Every line `after` begins like this. After a torn line `before` nothing was sent.
      if (line.startsWith('{"audit":"after"')) count.tornAfter += 1;
    } else if (tests.every((fits) => fits(entry))) {
      count.found += 1;
      yield line;
    }
  }
}

type Test = (entry: AuditedLine) => boolean;

function testsFor(sought: Sought, keys: readonly string[]): readonly Test[] {
  const { number, subject, client, sinceMs, untilMs, outcome, operator, correlator } = sought;
  return [
    ...(number === undefined ? [] : [aboutNumber(number, keys)]),
    ...(subject === undefined ? [] : [bySubject(subject, keys)]),
    ...(client === undefined ? [] : [byClient(client, keys)]),
    ...(sinceMs === undefined ? [] : [({ atMs }: AuditedLine) => atMs >= sinceMs]),
    ...(untilMs === undefined ? [] : [({ atMs }: AuditedLine) => atMs < untilMs]),
    ...(outcome === undefined ? [] : [(entry: AuditedLine) => entry.outcome === outcome]),
    ...(operator === undefined ? [] : [(entry: AuditedLine) => entry.operator === operator]),
    ...(correlator === undefined ? [] : [byCorrelator(correlator)]),
  ];
}

function aboutNumber(number: PhoneNumber, keys: readonly string[]): Test {
  const forms = formsOf(number);
  const hashes = new Set(
    keys.flatMap((key) => [number, ...forms].map((form) => auditHash(key, form))),
  );
  return ({ number: numberHash, issuer, numbers }) =>
    [numberHash, issuer, ...numbers].some((one) => hashes.has(one)) ||
    // The address of an issuer is in clear.
    numbersIn(issuer).some((digits) => forms.has(digits));
}

function bySubject(sought: string, keys: readonly string[]): Test {
  const hashes = new Set(keys.map((key) => auditHash(key, sought)));
  return ({ subject }) => hashes.has(subject);
}

/** Its name is in clear, unless it may be a number. */
function byClient(sought: string, keys: readonly string[]): Test {
  const names = new Set([sought.normalize('NFKC'), ...keys.map((key) => auditHash(key, sought))]);
  return ({ client }) => names.has(client.normalize('NFKC'));
}

/** A correlator consists of the client's part, ours and the number of an exchange, with hyphens between. */
function byCorrelator(sought: string): Test {
  return ({ correlator }) =>
    `${correlator}-`.startsWith(`${sought}-`) ||
    (correlator !== '' && sought.startsWith(`${correlator}-`));
}
