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

const asked = (what: string, query: string, more: Partial<Asked> = {}): Asked => ({
  what,
  query,
  ...more,
});

const EVERYTHING =
  'e164 lastSimSwap simSwappedWithin simSwapCheck { result windowHours reason retryAfterSeconds maxAgeHours asOf } simSwapConsent { state retryAfterSeconds expiresAt }';

const manyAliases = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `f${i}: simSwapCheck { result reason asOf expiresAt }`,
  ).join(' ');

/** Of the 2-legged flow. */
export const DOCUMENTS: readonly Asked[] = [
  asked('a swap', about('001', EVERYTHING)),
  asked('no swap', about('004', EVERYTHING)),
  asked('a number that is not served', about('010', EVERYTHING)),
  asked('an operator that asks to slow down', about('012', EVERYTHING)),
  asked('an operator that is away', about('013', EVERYTHING)),
  asked(
    'a list with an invalid number',
    `{ phoneNumbers(e164s: ["${number('004')}", "0044 7700 900004", "${number('001')}"]) { e164 simSwappedWithin } }`,
  ),
  asked('a window too long', about('001', 'simSwappedWithin(maxAgeHours: 2401)')),
  asked(
    'a null by a variable',
    `query ($h: Int) { phoneNumber(e164: "${number('001')}") { simSwappedWithin(maxAgeHours: $h) } }`,
    { variables: { h: null } },
  ),
  asked(
    'a number in the wrong place',
    `query ($h: Int!) { phoneNumber(e164: "${number('001')}") { simSwappedWithin(maxAgeHours: $h) } }`,
    { variables: { h: number('001') } },
  ),
  asked('a variable that is missing', 'query ($n: ID!) { phoneNumber(e164: $n) { e164 } }'),
  asked('no GraphQL', '{ phoneNumber('),
  asked('no such field', about('001', 'simSwappedWithinn')),
  {
    what: 'no such operation',
    query: 'query A { __typename }',
    operationName: 'B',
    isInOwnWords: true,
  },
  asked('one of two operations', 'query A { a: __typename } query B { __typename }', {
    operationName: 'B',
  }),
  asked('my own number, of a caller without one', '{ myPhoneNumber { e164 } }'),
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
  asked(
    'a reply too long',
    `query ($n: [ID!]!) { phoneNumbers(e164s: $n) { ${manyAliases(90)} } }`,
    { variables: { n: Array.from({ length: 100 }, () => number('001')) } },
  ),
];

/** Of the 3-legged flow, where the owner of a number is prompted. */
export const CONSENTS: readonly Asked[] = [
  asked('a consent that is pending', about('051', EVERYTHING)),
  asked('the same again', about('051', EVERYTHING)),
  asked('a consent that was withdrawn', about('053', EVERYTHING)),
  asked('how a consent stands that was not asked for', about('050', 'simSwapConsent { state }')),
  asked('a number that the authorization server does not know', about('054', EVERYTHING)),
  asked('an operator that is away', about('060', 'simSwappedWithin')),
];
