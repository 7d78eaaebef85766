import type { Random } from '../support/random.ts';
import { NUMBER_MARK, SECRET_MARK } from './marks.ts';

/** One request of a canary run, with marked numbers in every place for a text. */
export interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Tokens {
  readonly good: readonly [string, ...string[]];
  readonly bad: readonly [string, ...string[]];
}

type Role = 'bff' | 'subgraph';

const FIELDS = [
  'lastSimSwap',
  'simSwappedWithin',
  'lastSimSwap simSwappedWithin(maxAgeHours: 24) b: simSwappedWithin(maxAgeHours: 2400)',
  'simSwappedWithin(maxAgeHours: 2401)',
] as const;

/** One of two hundred marked numbers, as people and programs write it; most of them E.164. */
function written(random: Random): string {
  const digits = `${NUMBER_MARK}${String(random.below(200)).padStart(3, '0')}`;
  const national = digits.slice(2);
  if (random.chance(0.5)) return `+${digits}`;
  return random.pick([
    `tel:+${digits}`,
    `+44 ${national.slice(0, 4)} ${national.slice(4, 7)} ${national.slice(7)}`,
    `+44-${national}`,
    `00${digits}`,
    `0${national}`,
    `+44(0)${national}`,
    `+${digits}99999999`,
    `+${digits}\u0000`,
    `%2B${digits}`,
    `‪+${digits}‬`,
    digits,
  ]);
}

export function anyQuestion(
  random: Random,
  role: Role,
  tokens: Tokens,
  routerSecret: string,
): Question {
  const number = written(random);
  const headers = {
    'content-type': 'application/json',
    'apollo-require-preflight': '1',
    ...(random.chance(0.95)
      ? { authorization: `Bearer ${random.pick(random.chance(0.8) ? tokens.good : tokens.bad)}` }
      : {}),
    ...(role === 'bff' ? {} : { 'x-router-secret': routerSecretOf(random, routerSecret) }),
    ...(random.chance(0.3)
      ? { 'x-correlator': encodeURIComponent(number).replaceAll('%20', ' ') }
      : {}),
    ...(random.chance(0.2) ? traceOf(random, number) : {}),
    ...(random.chance(0.02) ? { 'x-purpose': encodeURIComponent(number) } : {}),
    ...(random.chance(0.02) ? { authorization: `Bearer ${encodeURIComponent(number)}` } : {}),
    ...(random.chance(0.02) ? { cookie: `number=${encodeURIComponent(number)}` } : {}),
  };
  const asked = random.chance(0.8) ? well(random, role, number) : badly(random, role, number);
  if (random.chance(0.05)) {
    const search = new URLSearchParams({
      query: 'query' in asked ? String(asked.query) : '',
      variables: JSON.stringify('variables' in asked ? asked.variables : number),
    });
    return { method: 'GET', path: `/graphql?${search.toString()}`, headers };
  }
  const path = random.chance(0.98) ? '/graphql' : `/graphql/${encodeURIComponent(number)}`;
  const text = JSON.stringify(asked);
  const body = random.chance(0.98) ? text : text.slice(0, -3);
  return { method: 'POST', path, headers, body };
}

/** The context of a trace, with the number in each place that fits it. */
function traceOf(random: Random, number: string): Readonly<Record<string, string>> {
  const digits = number.replaceAll(/[^0-9]/g, '');
  const traceId = random.pick([
    '4bf92f3577b34da6a3ce929d0e0e4736',
    digits.slice(0, 32).padStart(32, '0'),
  ]);
  const spanId = random.pick(['00f067aa0ba902b7', digits.slice(0, 16).padStart(16, '0')]);
  return {
    traceparent: random.pick([
      `00-${traceId}-${spanId}-01`,
      `cc-${traceId}-${spanId}-01-${digits}`,
    ]),
    tracestate: `number=${digits}`,
    baggage: `number=${digits}`,
  };
}

function routerSecretOf(random: Random, secret: string): string {
  return random.chance(0.97) ? secret : `${SECRET_MARK}-another-${secret}`;
}

function well(random: Random, role: Role, number: string): object {
  const fields = random.pick(FIELDS);
  if (role === 'subgraph') {
    return {
      query: `query ($r: [_Any!]!) { _entities(representations: $r) { ... on PhoneNumber { ${fields} } } }`,
      variables: { r: [{ __typename: 'PhoneNumber', e164: number }] },
    };
  }
  return random.chance(0.1)
    ? { query: `{ myPhoneNumber { ${fields} } }` }
    : {
        query: `query ($e: [ID!]!) { phoneNumbers(e164s: $e) { ${fields} } }`,
        variables: { e: [number, written(random)] },
      };
}

function badly(random: Random, role: Role, number: string): object {
  const digits = number.replaceAll(/[^0-9]/g, '');
  const literal = JSON.stringify(number);
  const root =
    role === 'bff'
      ? `phoneNumber(e164: ${literal})`
      : `_entities(representations: [{ __typename: "PhoneNumber", e164: ${literal} }])`;
  return random.pick<object>([
    { query: `{ ${root} { ... on PhoneNumber { lastSimSwap } }` },
    { query: `{ ${root} { ... on PhoneNumber { n${digits} } } }` },
    { query: `{ ${root} { ... on PhoneNumber { simSwappedWithin(maxAgeHours: ${digits}) } } }` },
    { query: `{ ${root} { ... on PhoneNumber { simSwappedWithin(maxAgeHours: ${literal}) } } }` },
    { query: `{ ${root} { ... on PhoneNumber { lastSimSwap @skip(if: ${literal}) } } }` },
    { query: `{ ${root} { ... on N${digits} { lastSimSwap } } }` },
    { query: `{ phoneNumber(e164: +${digits}) { lastSimSwap } }` },
    { query: `{ phoneNumber(n${digits}: ${literal}) { lastSimSwap } }` },
    { query: `query Q${digits} { __typename }`, operationName: `Q${digits}x` },
    { query: `query ($v: ID!) { __typename }`, variables: { v: { number } } },
    { query: `query ($v: Int!) { __typename }`, variables: { v: number } },
    { query: `query ($v: Boolean!) { __typename }`, variables: { v: [number, { number }] } },
    { query: `query ($v: n${digits}) { __typename }`, variables: {} },
    { query: 'query ($e: ID!) { phoneNumber(e164: $e) { e164 } }', variables: { e: [number] } },
    { query: number },
    { query: `{ __typename }`, extensions: { persistedQuery: { version: 1, sha256Hash: number } } },
    {
      query: `query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }`,
      variables: { r: [{ __typename: number, e164: number }, number, null, { e164: number }] },
    },
  ]);
}
