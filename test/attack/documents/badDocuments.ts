import type { Attack } from '../attack.ts';
import { number, times } from '../values.ts';

const MAX_OWN_DELAY_MS = 250;

interface Case {
  readonly query: string;
  readonly variables?: object;
  /** The one code that says what is wrong; any but INTERNAL_SERVER_ERROR where absent. */
  readonly code?: string;
}

const MANY = 3000;

const CASES: Readonly<Record<string, Case | string>> = {
  'null for a variable with a default': {
    query: `query ($h: Int = 24) { ${times(20, (index) => `a${index}: phoneNumber(e164: "${number(index)}") { simSwappedWithin(maxAgeHours: $h) }`)} }`,
    variables: { h: null },
    code: 'BAD_USER_INPUT',
  },
  'null for a directive': {
    query: `query ($h: Boolean = true) { phoneNumber(e164: "${number(1)}") { e164 @skip(if: $h) } }`,
    variables: { h: null },
    code: 'BAD_USER_INPUT',
  },
  'a cycle of fragments': `{ phoneNumber(e164: "${number(1)}") { ...A } } fragment A on PhoneNumber { ...B } fragment B on PhoneNumber { ...A }`,
  'a cycle of one fragment': '{ ...A } fragment A on Query { ...A }',
  'a cycle that is not used':
    '{ __typename } fragment A on Query { ...B } fragment B on Query { ...A }',
  'a cycle deep below': `{ phoneNumber(e164: "${number(1)}") { ${'... { '.repeat(15)}...A${' }'.repeat(15)} } } fragment A on PhoneNumber { simSwapConsent { ...B } } fragment B on SimSwapConsent { ...B }`,
  'fragments that double': `{ phoneNumber(e164: "${number(1)}") { ...F0 } } ${times(150, (index) => `fragment F${index} on PhoneNumber { ...F${index + 1} ...F${index + 1} }`)} fragment F150 on PhoneNumber { e164 }`,
  'fields that overlap': `{ phoneNumber(e164: "${number(1)}") { ${times(280, (index) => `a: simSwappedWithin(maxAgeHours: ${1 + (index % 2)})`)} } }`,
  'fields that overlap below others': `{ ${times(130, () => `a: phoneNumber(e164: "${number(1)}") { simSwapConsent { state } }`)} }`,
  'inline fragments, deep': `{ phoneNumber(e164: "${number(1)}") { ${'... { '.repeat(900)}e164${' }'.repeat(900)} } }`,
  'lists in lists': `{ phoneNumbers(e164s: ${'['.repeat(900)}${']'.repeat(900)}) { e164 } }`,
  'objects in objects': `{ phoneNumber(e164: ${'{ a: '.repeat(600)}1${' }'.repeat(600)}) { e164 } }`,
  'variables without use': `query (${times(380, (index) => `$v${index}: Int`)}) { __typename }`,
  'variables often used': {
    query: `query ($h: Int!) { ${times(140, (index) => `a${index}: phoneNumber(e164: "${number(1)}") { simSwappedWithin(maxAgeHours: $h) }`)} }`,
    variables: { h: 'x' },
  },
  'bad numbers': {
    query: 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { e164 } }',
    variables: { n: Array.from({ length: MANY }, (_, index) => `bad ${index}`) },
  },
  'long bad numbers': {
    query: 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { e164 } }',
    variables: { n: Array.from({ length: 200 }, () => `+${'1 -'.repeat(1500)}`) },
  },
  'a number with a million spaces': {
    query: 'query ($n: ID!) { phoneNumber(e164: $n) { e164 } }',
    variables: { n: `+44${' '.repeat(900_000)}x` },
  },
  'bad windows': `{ phoneNumber(e164: "${number(1)}") { ${times(240, (index) => `a${index}: simSwappedWithin(maxAgeHours: ${3000 + index})`)} } }`,
};

export const badDocuments: Attack = {
  name: 'bad-documents',
  tries:
    'to break the execution, fill the log or block the event loop with documents that are wrong',
  holds: 'a status below 500, a code that says what is wrong, at most one error line, no delay',
  async run(stage) {
    const target = await stage.serve(await stage.operator({}));
    for (const [name, one] of Object.entries(CASES)) {
      const asked: Case = typeof one === 'string' ? { query: one } : one;
      const { query, variables, code } = asked;
      const linesBefore = target.errorLines;
      target.resetDelay();
      const { status, codes } = await target.ask(query, { variables });
      const { ownTurnMs } = await target.figures();
      stage.holds(`${name}, status`, status > 0 && status < 500, status);
      stage.atMost(`${name}, ms of delay`, ownTurnMs, MAX_OWN_DELAY_MS);
      stage.atMost(`${name}, error lines`, target.errorLines - linesBefore, 1);
      const kinds = [...new Set(codes)];
      if (code !== undefined) stage.equals(`${name}, codes`, kinds, [code]);
      else if (kinds.includes('INTERNAL_SERVER_ERROR')) stage.holds(`${name}, codes`, false, kinds);
    }
  },
};
