import { attack, isAtMost, isEqual } from './stage.ts';
import { grownMb, type Target } from './target.ts';
import { inTurn, number, numbers, times } from './values.ts';

/** JSON writes a line's end with two characters. */
const PADDING = 1_000_000;
const MAX_GROWTH_MB = 64;
const MAX_OWN_DELAY_MS = 250;
const MAX_HEAP_MB = 512;

const X = 'x'.repeat(PADDING);
const typename = (more: object) => ({ query: '{ __typename }', ...more });

/** One-megabyte bodies, each another, that hold next to nothing: a document, or all of a body. */
const FLOODS: Readonly<Record<string, (index: number) => string | object>> = {
  comments: (index) => `${'#\n'.repeat(PADDING / 3)}{ a${index}: __typename }`,
  'one long comment': (index) => `#${X}\n{ a${index}: __typename }`,
  commas: (index) => `${','.repeat(PADDING)}{ a${index}: __typename }`,
  'line ends': (index) => `${'\n'.repeat(PADDING / 2)}{ a${index}: __typename }`,
  'a long string': (index) => `{ phoneNumber(e164: "${index}${X}") { e164 } }`,
  'a long block string': (index) =>
    `{ phoneNumber(e164: """${index}${'\n '.repeat(PADDING / 4)}""") { e164 } }`,
  'a long alias': (index) => `{ a${index}${X}: __typename }`,
  'a long operation name': (index) => `query a${index}${X} { __typename }`,
  'a long unknown field': (index) => `{ a${index}${X} }`,
  'long variables': (index) => typename({ variables: { a: `${index}${X}` } }),
  'deep variables': (index) => typename({ variables: { a: nested(1000, index) } }),
  extensions: (index) =>
    typename({ extensions: { persistedQuery: { version: 1, sha256Hash: `${index}${X}` } } }),
  'documents as large as tokens allow': (index) =>
    `{ ${times(190, (field) => `a${index}b${field}: phoneNumber(e164: "${number(field)}") { e164 }`)} }`,
};

/** How many bodies make a flood; of those that are stored as they are, more. */
const BODIES = 6;
const MORE: Readonly<Record<string, number>> = {
  comments: 24,
  'documents as large as tokens allow': 120,
};

/** Tries to fill the heap with documents that are large and hold nothing, without any scope. */
attack('heap-of-documents', async (stage) => {
  const flags = [`--max-old-space-size=${MAX_HEAP_MB}`];
  const { issuer, target } = await stage.callers({}, { flags });
  const token = await issuer.token();
  for (const kind of Object.keys(FLOODS)) {
    if (!(await flood(target, kind, token))) return;
  }
});

/** Whether the process is there for more. */
async function flood(target: Target, kind: string, token: string): Promise<boolean> {
  const before = await target.figures();
  target.resetDelay();
  let broken = 0;
  await inTurn(Array(MORE[kind] ?? BODIES).keys(), 4, async (index) => {
    const body = FLOODS[kind]?.(index) ?? '';
    const sent = typeof body === 'string' ? { query: body } : body;
    const { status } = await target.post(JSON.stringify(sent), { token });
    if (status >= 500 || status === 0) broken += 1;
  });
  if (target.hasEnded) return false;
  const after = await target.figures();
  isAtMost(`${kind}, MB of heap`, grownMb(before, after), MAX_GROWTH_MB);
  isAtMost(`${kind}, ms of delay`, after.ownTurnMs, MAX_OWN_DELAY_MS);
  isEqual(`${kind}, broken replies`, broken, 0);
  return true;
}

function nested(depth: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

interface BadCase {
  readonly query: string;
  readonly variables?: object;
  /** The one code that says what is wrong; any but INTERNAL_SERVER_ERROR where absent. */
  readonly code?: string;
}

const MANY = 3000;

const BAD_DOCUMENTS: Readonly<Record<string, BadCase | string>> = {
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

/** Tries to break the execution, fill the log or block the event loop with documents that are wrong. */
attack('bad-documents', async (stage) => {
  const target = await stage.serve(await stage.operator({}));
  for (const [name, one] of Object.entries(BAD_DOCUMENTS)) {
    const asked: BadCase = typeof one === 'string' ? { query: one } : one;
    const { query, variables, code } = asked;
    const linesBefore = target.errorLines;
    target.resetDelay();
    const { status, codes } = await target.ask(query, { variables });
    const { ownTurnMs } = await target.figures();
    isEqual(`${name}, status ${status}`, status > 0 && status < 500, true);
    isAtMost(`${name}, ms of delay`, ownTurnMs, MAX_OWN_DELAY_MS);
    isAtMost(`${name}, error lines`, target.errorLines - linesBefore, 1);
    const kinds = [...new Set(codes)];
    if (code !== undefined) isEqual(`${name}, codes`, kinds, [code]);
    isEqual(`${name}, broken`, kinds.includes('INTERNAL_SERVER_ERROR'), false);
  }
});

/** The limit of the service, and what stands around the data. */
const MAX_REPLY_BYTES = 2 * 1024 * 1024 + 64 * 1024;
const LONG = 'x'.repeat(2000);
const LIST = 'query ($n: [ID!]!) { phoneNumbers(e164s: $n)';

interface HugeCase {
  readonly role?: 'subgraph';
  readonly query: string;
  readonly variables?: object;
}

const HUNDRED = numbers(100);
const REPEATED = Array.from({ length: 4800 }, () => number(1));
const BAD = Array.from({ length: 3000 }, (_, index) => `bad ${index}`);

const HUGE_REPLIES: Readonly<Record<string, HugeCase>> = {
  'fields below simSwapConsent': {
    query: `${LIST} { simSwapConsent { ${times(600, (index) => `a${index}${'x'.repeat(200)}: state`)} } } }`,
    variables: { n: HUNDRED },
  },
  'more fields below simSwapConsent': {
    query: `${LIST} { ${times(20, (outer) => `c${outer}: simSwapConsent { ${times(25, (index) => `a${index}${LONG}: __typename`)} }`)} } }`,
    variables: { n: HUNDRED },
  },
  'long aliases': {
    query: `${LIST} { ${times(40, (index) => `a${index}${LONG}: e164`)} } }`,
    variables: { n: HUNDRED },
  },
  'a long alias of the type': {
    query: `${LIST} { ${times(40, (index) => `a${index}${LONG}: __typename`)} } }`,
    variables: { n: REPEATED.slice(0, 1200) },
  },
  'one number often': {
    query: `${LIST} { a${'x'.repeat(200_000)}: e164 } }`,
    variables: { n: REPEATED },
  },
  'bad numbers below a long alias': {
    query: `query ($n: [ID!]!) { a${'x'.repeat(100_000)}: phoneNumbers(e164s: $n) { e164 } }`,
    variables: { n: BAD },
  },
  'refused fields below long aliases': {
    query: `query ($n: [ID!]!) { a${'x'.repeat(20_000)}: phoneNumbers(e164s: $n) { ${times(10, (index) => `a${index}${'y'.repeat(20_000)}: simSwappedWithin(maxAgeHours: ${9000 + index})`)} } }`,
    variables: { n: HUNDRED },
  },
  'introspection with a long alias': {
    query: `{ __schema { types { a${'x'.repeat(200_000)}: name } } }`,
  },
  'introspection of types often': {
    query: `{ ${times(60, (index) => `a${index}: __schema { types { name description fields { name description args { name } } } }`)} }`,
  },
  'one type often': {
    query: `{ ${times(180, (index) => `a${index}: __type(name: "PhoneNumber") { description }`)} }`,
  },
  'the SDL often': {
    role: 'subgraph',
    query: `{ ${times(300, (index) => `a${index}: _service { sdl }`)} }`,
  },
  'the SDL very often': {
    role: 'subgraph',
    query: `{ _service { ${times(600, (index) => `a${index}: sdl`)} } }`,
  },
  'entities with a long alias': {
    role: 'subgraph',
    query: `query ($r: [_Any!]!) { _entities(representations: $r) { a${'x'.repeat(100_000)}: __typename } }`,
    variables: { r: HUNDRED.map((e164) => ({ __typename: 'PhoneNumber', e164 })) },
  },
  'entities of no type below a long alias': {
    role: 'subgraph',
    query: `query ($r: [_Any!]!) { a${'x'.repeat(100_000)}: _entities(representations: $r) { __typename } }`,
    variables: { r: BAD.map((e164) => ({ __typename: 'Nothing', e164 })) },
  },
  'a validation error for each of many fields': {
    query: `{ ${times(900, (index) => `a${index}${'x'.repeat(800)}`)} }`,
  },
  'variables that do not fit': {
    query: 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { e164 } }',
    variables: { n: Array.from({ length: 100_000 }, () => null) },
  },
};

/** Tries to have one small request answered with very many bytes. */
attack('huge-replies', async (stage) => {
  const { known, issuer, operator, target: bff } = await stage.callers();
  const targets = { bff, subgraph: await stage.serve(operator, { ...known, ROLE: 'subgraph' }) };
  // FORBIDDEN for all of them: what costs must not depend on what one may ask.
  const token = await issuer.token();
  for (const [name, { role = 'bff', query, variables }] of Object.entries(HUGE_REPLIES)) {
    targets[role].resetDelay();
    const { status, bytes } = await targets[role].ask(query, { variables, token });
    const { ownTurnMs } = await targets[role].figures();
    isEqual(`${name}, status ${status}`, status > 0 && status < 500, true);
    isAtMost(`${name}, bytes`, bytes, MAX_REPLY_BYTES);
    isAtMost(`${name}, ms of delay`, ownTurnMs, MAX_OWN_DELAY_MS);
  }
});
