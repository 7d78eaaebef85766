/** A request that every server is to answer alike. */
export interface Asked {
  readonly what: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  /** Where the message is a server's own: the code counts. */
  readonly isInOwnWords?: true;
}

const number = (last: string): string => `+447700900${last}`;

const about = (last: string, fields: string): string =>
  `{ phoneNumber(e164: "${number(last)}") { ${fields} } }`;

const EVERYTHING =
  'e164 lastSimSwap simSwappedWithin simSwapCheck { result windowHours reason retryAfterSeconds maxAgeHours asOf } simSwapConsent { state retryAfterSeconds expiresAt }';

const manyAliases = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `f${i}: simSwapCheck { result reason asOf expiresAt }`,
  ).join(' ');

/** Of the 2-legged flow. */
export const DOCUMENTS: readonly Asked[] = [
  { what: 'a swap', query: about('001', EVERYTHING) },
  { what: 'no swap', query: about('004', EVERYTHING) },
  { what: 'a date withheld', query: about('006', EVERYTHING) },
  { what: 'a number that is not served', query: about('010', EVERYTHING) },
  { what: 'an operator that asks to slow down', query: about('012', EVERYTHING) },
  { what: 'an operator that is away', query: about('013', EVERYTHING) },
  { what: 'an operator that refuses us', query: about('020', EVERYTHING) },
  { what: 'a date that is none', query: about('032', EVERYTHING) },
  {
    what: 'several windows, with aliases',
    query: about(
      '002',
      'a: simSwappedWithin(maxAgeHours: 24) b: simSwappedWithin(maxAgeHours: 96)',
    ),
  },
  {
    what: 'a list with one that is none',
    query: `{ phoneNumbers(e164s: ["${number('004')}", "0044 7700 900004", "${number('001')}"]) { e164 simSwappedWithin } }`,
  },
  {
    what: 'a list that does not go, by a variable',
    query: 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { e164 } }',
    variables: { n: [number('004'), null] },
  },
  { what: 'a window too long', query: about('001', 'simSwappedWithin(maxAgeHours: 2401)') },
  { what: 'a window that is null', query: about('001', 'simSwappedWithin(maxAgeHours: null)') },
  {
    what: 'a null by a variable',
    query: `query ($h: Int) { phoneNumber(e164: "${number('001')}") { simSwappedWithin(maxAgeHours: $h) } }`,
    variables: { h: null },
  },
  {
    what: 'a number where none belongs',
    query: `query ($h: Int!) { phoneNumber(e164: "${number('001')}") { simSwappedWithin(maxAgeHours: $h) } }`,
    variables: { h: number('001') },
  },
  {
    what: 'a variable that is missing',
    query: 'query ($n: ID!) { phoneNumber(e164: $n) { e164 } }',
  },
  { what: 'no GraphQL', query: '{ phoneNumber(' },
  { what: 'no such field', query: about('001', 'simSwappedWithinn') },
  {
    what: 'no such operation',
    query: 'query A { __typename }',
    operationName: 'B',
    isInOwnWords: true,
  },
  {
    what: 'one of two operations',
    query: 'query A { a: __typename } query B { __typename }',
    operationName: 'B',
  },
  {
    what: 'two operations without a name',
    query: 'query A { __typename } query B { __typename }',
    isInOwnWords: true,
  },
  { what: 'my own number, of a caller without one', query: '{ myPhoneNumber { e164 } }' },
];

/** What the service refuses before it executes: a server of another program answers what is within the limits. */
export const BEYOND_LIMITS: readonly Asked[] = [
  {
    what: 'too many numbers',
    query: 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { simSwappedWithin } }',
    variables: {
      n: Array.from({ length: 101 }, (_, i) => `+4477009${String(i).padStart(5, '0')}`),
    },
  },
  {
    what: 'too many questions',
    query: about(
      '001',
      Array.from({ length: 12 }, (_, i) => `f${i}: simSwappedWithin(maxAgeHours: ${i + 1})`).join(
        ' ',
      ),
    ),
  },
  {
    what: 'a reply too long',
    query: `query ($n: [ID!]!) { phoneNumbers(e164s: $n) { ${manyAliases(90)} } }`,
    variables: { n: Array.from({ length: 100 }, () => number('001')) },
  },
];

/** Of the 3-legged flow, where the owner of a number is prompted. */
export const CONSENTS: readonly Asked[] = [
  { what: 'a consent that is pending', query: about('051', EVERYTHING) },
  { what: 'the same again', query: about('051', EVERYTHING) },
  { what: 'a consent that was withdrawn', query: about('053', EVERYTHING) },
  {
    what: 'how a consent stands that was not asked for',
    query: about('050', 'simSwapConsent { state }'),
  },
  { what: 'a number that the authorization server does not know', query: about('054', EVERYTHING) },
  { what: 'an operator that is away', query: about('060', 'simSwappedWithin') },
];
