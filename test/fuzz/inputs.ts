import { Random } from '../support/random.ts';
import { documentOf, numberOf, operationWithVariables } from './documents.ts';
import { mutated, textOf, valueOf } from './rubbish.ts';

/** An HTTP request, or bytes that may or may not be one. */
export type Input =
  | { readonly kind: 'HTTP'; readonly bytes: string }
  | {
      readonly kind: 'JSON' | 'document' | 'variables' | 'lookups' | 'caller token';
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    };

export type InputKind = Input['kind'];

export type Role = 'bff' | 'subgraph';

const KINDS: Readonly<Record<InputKind, number>> = {
  HTTP: 15,
  JSON: 15,
  document: 45,
  variables: 20,
  lookups: 15,
  'caller token': 5,
};

/** The input of a number: the same for the same seed. */
export function inputOf(seed: number, index: number, role: Role): Input {
  // Neighbouring states of the generator begin alike; the factor keeps them apart.
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  const kind = random.weighted<InputKind>(KINDS, 'document');
  if (kind === 'HTTP') return { kind, bytes: httpOf(random, role) };
  const body = BODIES[kind](random, role);
  const headers = kind === 'caller token' ? callerHeaders(random) : {};
  return { kind, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const BODIES: Readonly<
  Record<Exclude<InputKind, 'HTTP'>, (random: Random, role: Role) => string | object>
> = {
  JSON: jsonOf,
  document: (random, role) => ({ query: documentOf(random, role), variables: variablesOf(random) }),
  variables: operationWithVariables,
  lookups: lookupsOf,
  'caller token': lookupsOf,
};

/** A good query; the operator replies with rubbish. */
function lookupsOf(random: Random, role: Role): object {
  const numbers = Array.from({ length: 1 + random.below(4) }, () => numberOf(random));
  const fields = `e164 ${random.chance(0.5) ? 'lastSimSwap' : ''} a: simSwappedWithin(maxAgeHours: ${1 + random.below(2400)})`;
  return role === 'bff'
    ? {
        query: `query ($n: [ID!]!) { phoneNumbers(e164s: $n) { ${fields} } }`,
        variables: { n: numbers },
      }
    : {
        query: `query ($n: [_Any!]!) { _entities(representations: $n) { ... on PhoneNumber { ${fields} } } }`,
        variables: { n: numbers.map((e164) => ({ __typename: 'PhoneNumber', e164 })) },
      };
}

function variablesOf(random: Random): object {
  const names = ['v', 'n', 'h', 'b', 'list'].filter(() => random.chance(0.5));
  return Object.fromEntries(
    names.map((name) => [name, random.chance(0.3) ? null : valueOf(random, 3)]),
  );
}

function jsonOf(random: Random, role: Role): string {
  const operation = operationWithVariables(random, role);
  switch (random.below(8)) {
    case 0:
      return mutated(JSON.stringify(operation), random);
    case 1:
      return JSON.stringify(valueOf(random, 5));
    case 2:
      return textOf(random, 300);
    case 3:
      return JSON.stringify([operation, operation]);
    case 4:
      return '['.repeat(1 + random.below(20_000));
    case 5:
      return `{"query":${JSON.stringify(operation.query)},"__proto__":{"variables":{}},"extensions":${JSON.stringify(valueOf(random, 3))}}`;
    case 6:
      return `{"x":[${'{},'.repeat(random.below(100_000))}0],"query":${JSON.stringify(operation.query)}}`;
    default:
      return JSON.stringify({
        ...operation,
        [random.pick(['query', 'variables', 'operationName', 'extensions'])]: valueOf(random, 3),
      });
  }
}

const B64 = 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ';

function callerHeaders(random: Random): Record<string, string> {
  const token = random.pick([
    () => textOf(random, 200),
    () => `Bearer ${textOf(random, 200)}`,
    () => `Bearer ${mutated(`${B64}.${btoa(textOf(random, 60))}.${B64}`, random)}`,
    () =>
      `Bearer ${B64}.${btoa(JSON.stringify(valueOf(random, 2)).replaceAll(/[^\x20-\x7e]/g, ''))}.`,
    () => `Basic ${btoa(textOf(random, 30).replaceAll(/[^\x20-\x7e]/g, ''))}`,
  ]);
  return {
    authorization: sendable(toLatin1(token)),
    'x-correlator': sendable(textOf(random, 80)),
  };
}

/** `btoa` throws for what is not Latin-1. */
function toLatin1(make: () => string): string {
  try {
    return make();
  } catch {
    return 'Bearer \u00ff';
  }
}

/** The client refuses to send anything else; raw HTTP has the rest. */
function sendable(value: string): string {
  return value.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '');
}

function httpOf(random: Random, role: Role): string {
  const body = JSON.stringify(operationWithVariables(random, role));
  const query = encodeURIComponent(documentOf(random, role).replaceAll(/[\uD800-\uDFFF]/g, ''));
  const request = random.pick([
    `POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    `POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: ${random.pick(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    `POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    `POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nabcde`,
    `GET /graphql?query=${query} HTTP/1.1\r\nhost: test\r\napollo-require-preflight: 1\r\n\r\n`,
    `GET /graphql?query=${query} HTTP/1.1\r\nhost: test\r\n\r\n`,
    `GET /${random.pick(['livez', 'readyz', '', '%', 'graphql/', 'graphql?variables=%7B', 'metrics'])} HTTP/1.1\r\nhost: test\r\n\r\n`,
    `${random.pick(['PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE', 'CONNECT', 'PRI', 'G\u00cbT'])} /graphql HTTP/1.1\r\nhost: test\r\n\r\n`,
    `GET /graphql HTTP/1.1\r\nhost: test\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
    `GET /graphql HTTP/1.1\r\nhost: test\r\nexpect: ${random.pick(['100-continue', '200-ok'])}\r\n\r\n`,
    `GET /graphql HTTP/1.1\r\nhost: test\r\nx-pad: ${'x'.repeat(20_000)}\r\n\r\n`,
    `GET /graphql HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\ntransfer-encoding: chunked\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\u0016\u0003\u0001\u0002\0\u0001\0',
    textOf(random, 500),
  ]);
  return random.chance(0.5) ? mutated(request, random) : request;
}
