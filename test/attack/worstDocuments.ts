import { number, times } from './values.ts';

export interface Worst {
  readonly query: string;
  readonly variables?: object;
  /** As a subgraph's; absent for either. */
  readonly isOfSubgraph?: true;
}

const MANY = 240_000;
const LIST = 'query ($l: [ID!]!)';
const ENTITIES = 'query ($r: [_Any!]!)';
const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => number(n));
const representations = (count: number, type = 'PhoneNumber'): object[] =>
  numbers(count).map((e164) => ({ __typename: type, e164 }));
const entities = (fields: string): string =>
  `_entities(representations: $r) { ... on PhoneNumber { ${fields} } }`;

/** The single requests that were found to take longest, of some 70 forms: each at a limit of the service. */
export const WORST: Readonly<Record<string, Worst>> = {
  'a comment of $#': { query: `# ${'$#'.repeat(MANY / 2)}\n{ __typename }`, variables: { v: 1 } },
  'errors in many lines': {
    query: `${LIST} { phoneNumbers(e164s: $l) { ${'\n'.repeat(9990)} simSwappedWithin(maxAgeHours: -1) } }`,
    variables: { l: numbers(25) },
  },
  'invalid arguments of 1,100 fields': {
    query: `${LIST} { phoneNumbers(e164s: $l) { ${times(11, (n) => `a${n}: simSwappedWithin(maxAgeHours: -${n})`)} } }`,
    variables: { l: numbers(100) },
  },
  'null for an argument of 4,800 fields': {
    query: `query ($l: [ID!]!, $v: Int = 5) { phoneNumbers(e164s: $l) { ${times(48, (n) => `a${n}: simSwappedWithin(maxAgeHours: $v)`)} } }`,
    variables: { l: numbers(100), v: null },
  },
  'invalid arguments of checks': {
    query: `${LIST} { phoneNumbers(e164s: $l) { ${times(6, (n) => `a${n}: simSwapCheck(maxAgeHours: -1) { result reason windowHours asOf __typename maxAgeHours }`)} } }`,
    variables: { l: numbers(100) },
  },
  '1,000 representations of another type': {
    query: `${ENTITIES} { ${entities('simSwappedWithin lastSimSwap e164')} }`,
    variables: { r: representations(1000, 'Nobody') },
    isOfSubgraph: true,
  },
  '100 representations, 46 errors each': {
    query: `${ENTITIES} { ${entities(times(46, (n) => `a${n}: simSwappedWithin(maxAgeHours: -1)`))} }`,
    variables: { r: representations(100) },
    isOfSubgraph: true,
  },
  'one long number 900 times': {
    query: `query ($v: ID!) { phoneNumbers(e164s: [${'$v '.repeat(900)}]) { simSwappedWithin } }`,
    variables: { v: `+44${'-'.repeat(MANY)}7700900001` },
  },
  'one number of digits 900 times': {
    query: `query ($v: ID!) { phoneNumbers(e164s: [${'$v '.repeat(900)}]) { simSwappedWithin } }`,
    variables: { v: `+${'1'.repeat(MANY)}` },
  },
  'the schema 400 times': { query: `{ ${'_service { sdl } '.repeat(400)} }`, isOfSubgraph: true },
  'the schema by introspection': {
    query: `{ __schema { types { ...T } } } fragment T on __Type { ${'name kind description '.repeat(50)} fields { ${'name description '.repeat(100)} type { ${'name '.repeat(500)} } } }`,
  },
  'the schema in lists of its lists': {
    query: `{ __schema { ...S } } fragment S on __Schema { types { ...T fields { ...F type { ...T fields { ...F type { ...T } } } } } directives { name args { ...V } } } fragment T on __Type { kind name description specifiedByURL isOneOf enumValues { name description isDeprecated deprecationReason } ofType { kind name description ofType { kind name description ofType { kind name } } } } fragment F on __Field { name description isDeprecated deprecationReason args { ...V type { ...T } } } fragment V on __InputValue { name description defaultValue isDeprecated deprecationReason }`,
  },
  'fragments of one field': {
    query: `{ phoneNumber(e164: "x") { ${times(300, (n) => `...F${n % 150}`)} } } ${times(150, (n) => `fragment F${n} on PhoneNumber { e164 }`)}`,
  },
  'fragments of different fields': {
    query: `{ phoneNumber(e164: "x") { ${times(160, (n) => `...F${n}`)} } } ${times(160, (n) => `fragment F${n} on PhoneNumber { a${n}: e164 }`)}`,
  },
  'equal fields with equal fields below': {
    query: `{ ${times(60, () => `a: phoneNumbers(e164s: []) { simSwapCheck { ${'result asOf reason '.repeat(6)} } }`)} }`,
  },
  'conflicts below conflicts': {
    query: `{ ${times(100, (n) => `a: phoneNumber(e164: "x") { b: simSwapCheck { c: ${n % 2 === 0 ? 'result' : 'asOf'} } }`)} }`,
  },
  'conditions of types': {
    query: `{ phoneNumber(e164: "x") { ${times(380, (n) => `... on ${n % 2 === 0 ? 'PhoneNumber' : 'Query'} { e164 }`)} } }`,
  },
  'an empty list below fragments in fragments': {
    query: `${LIST} { ${times(56, (n) => `a${n}: phoneNumbers(e164s: $l) { ...F }`)} } fragment F on PhoneNumber { ${times(75, (n) => `a${n}: simSwapCheck { ...C }`)} } fragment C on SimSwapCheck { ${'asOf '.repeat(500)} }`,
    variables: { l: [] },
  },
  'one number below fragments in fragments': {
    query: `{ phoneNumber(e164: "${number(1)}") { ...F } } fragment F on PhoneNumber { ${times(60, (n) => `a${n}: simSwapCheck { ...C }`)} } fragment C on SimSwapCheck { ${times(70, (n) => `a${n}: asOf`)} }`,
  },
  'long names': {
    query: `{ ${times(100, (n) => `${'a'.repeat(2400)}${n}: phoneNumber(e164: "x") { e164 }`)} }`,
  },
  directives: { query: `{ phoneNumber(e164: "x") { e164 ${'@skip(if: false) '.repeat(280)} } }` },
  variables: {
    query: `query (${times(480, (n) => `$v${n}: Int`)}) { phoneNumber(e164: "x") { e164 } }`,
  },
  'consents of 100 numbers': {
    query: `${LIST} { phoneNumbers(e164s: $l) { ${times(12, (n) => `a${n}: simSwapConsent { state retryAfterSeconds expiresAt }`)} } }`,
    variables: { l: numbers(100) },
  },
};
