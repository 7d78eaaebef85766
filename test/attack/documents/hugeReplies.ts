import type { Attack } from '../attack.ts';
import { number, numbers, times } from '../values.ts';

/** The limit of the service, and what stands around the data. */
const MAX_REPLY_BYTES = 2 * 1024 * 1024 + 64 * 1024;
const MAX_OWN_DELAY_MS = 250;
const LONG = 'x'.repeat(2000);
const LIST = 'query ($n: [ID!]!) { phoneNumbers(e164s: $n)';

interface Case {
  readonly role?: 'subgraph';
  readonly query: string;
  readonly variables?: object;
}

const HUNDRED = numbers(100);
const REPEATED = Array.from({ length: 4800 }, () => number(1));
const BAD = Array.from({ length: 3000 }, (_, index) => `bad ${index}`);

const CASES: Readonly<Record<string, Case>> = {
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

export const hugeReplies: Attack = {
  name: 'huge-replies',
  tries: 'to have one small request answered with very many bytes',
  holds: 'no reply has over 2 MB, none is a 5xx, none blocks the event loop',
  async run(stage) {
    const { known, issuer, operator, target: bff } = await stage.callers();
    const targets = { bff, subgraph: await stage.serve(operator, { ...known, ROLE: 'subgraph' }) };
    // FORBIDDEN for all of them: what costs must not depend on what one may ask.
    const token = await issuer.token();
    for (const [name, { role = 'bff', query, variables }] of Object.entries(CASES)) {
      targets[role].resetDelay();
      const { status, bytes } = await targets[role].ask(query, { variables, token });
      const { ownTurnMs } = await targets[role].figures();
      stage.holds(`${name}, status`, status > 0 && status < 500, status);
      stage.atMost(`${name}, bytes`, bytes, MAX_REPLY_BYTES);
      stage.atMost(`${name}, ms of delay`, ownTurnMs, MAX_OWN_DELAY_MS);
    }
  },
};
