import {
  assertObjectType,
  defaultFieldResolver,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ERRORS, MAX_DOCS_URL_CHARACTERS, QUOTA_MESSAGES } from '../../src/domain/errors.ts';
import { belowNumber, WEIGHTS } from '../../src/graphql/replyBytes.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { Selections } from '../../src/graphql/selections.ts';
import type { Role } from '../../src/graphql/typeDefs.ts';
import { createCorrelator } from '../../src/system/correlator.ts';
import { FIELD_CODES } from '../support/fieldCodes.ts';
import { costs, PATIENT, startSimulated } from '../support/service.ts';

const MAX_REPLY_BYTES = 2_000_000;
const FREE = { tokens: 0, lookups: 0 };

const bff = await startSimulated({ ROLE: 'bff', ...PATIENT });
const subgraph = await startSimulated({ ROLE: 'subgraph' });
beforeEach(() => {
  bff.simulator.resetStats();
  subgraph.simulator.resetStats();
});
afterAll(() => Promise.all([bff.stop(), subgraph.stop()]));

const A = '+447700900500';
const LINES = parts(100, (i) => `+447700900${500 + i}`);
const LIST = 'query ($l: [ID!]!) { phoneNumbers(e164s: $l)';

describe('a reply that could be too long is refused before anything is looked up', () => {
  const ENTITIES = 'query ($r: [_Any!]!) { _entities(representations: $r)';
  it.each<[string, string, object]>([
    [
      'fields below simSwapConsent',
      `${LIST} { simSwapConsent { ${parts(40, (i) => `${long(2000)}${i}: state`).join(' ')} } } }`,
      { l: LINES },
    ],
    ...[10_000, 90_000].map((length): [string, string, object] => [
      `numbers that come again, under an alias of ${length} letters`,
      `${LIST} { ${long(length)}: e164 } }`,
      { l: parts(1000, () => A) },
    ]),
    [
      'paths of errors',
      `query ($l: [ID!]!) { ${long(50_000)}: phoneNumbers(e164s: $l) { e164 } }`,
      { l: parts(1000, () => 'none') },
    ],
    [
      'paths of errors of fields',
      `query ($l: [ID!]!) { ${long(20_000)}: phoneNumbers(e164s: $l) { simSwappedWithin(maxAgeHours: 0) } }`,
      { l: LINES },
    ],
    ['the schema', `{ ${parts(7, () => '__schema { types { name } }').join(' ')} }`, {}],
    ['the SDL', `{ ${parts(7, () => '_service { sdl }').join(' ')} }`, {}],
    [
      'representations',
      `${ENTITIES} { __typename ... on PhoneNumber { ${long(90_000)}: e164 } } }`,
      { r: parts(1000, () => ({ __typename: 'PhoneNumber', e164: A })) },
    ],
  ])('%s', async (_, query, variables) => {
    const service = /_entities|_service/.test(query) ? subgraph : bff;
    const reply = await service.ask(query, variables);
    expect(reply.errors).toEqual([
      {
        message: expect.stringMatching(/^A reply may have 2,000,000 bytes; the reply to this/),
        extensions: {
          code: 'LOOKUP_LIMIT_EXCEEDED',
          limited: 'replyBytes',
          limit: MAX_REPLY_BYTES,
          asked: expect.any(Number),
        },
      },
    ]);
    expect(reply.errors[0]?.extensions?.['asked']).toBeGreaterThan(MAX_REPLY_BYTES);
    expect(reply.text.length).toBeLessThan(500);
    expect(costs(service)).toEqual(FREE);
  });

  it.each([
    ['below __schema', '{ __schema { types { fields { a: name } } } }'],
    ['in a fragment', '{ __type(name: "__Type") { ...F } } fragment F on __Type { a: __typename }'],
    ['of the SDL', '{ _service { sdl again: sdl } }'],
    ['of __schema', '{ a: __schema { types { name } } }'],
    ['of __type', '{ a: __type(name: "Query") { name } }'],
    ['of _service', '{ a: _service { sdl } }'],
  ])('an alias %s is refused', async (_, query) => {
    const { errors } = await (query.includes('_service') ? subgraph : bff).ask(query);
    const message = 'Introspection takes no aliases: query each field by its own name.';
    const extensions = { code: 'GRAPHQL_VALIDATION_FAILED' };
    expect(errors).toMatchObject([{ message, extensions }]);
  });

  it.each(['bff', 'subgraph'] as const)('tools may introspect the %s', async (role) => {
    const service = role === 'bff' ? bff : subgraph;
    const reply = await service.ask(
      getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }),
    );
    expect(reply.errors).toEqual([]);
  });

  it('a page of 100 numbers with every question is answered', async () => {
    const windows = parts(9, (i) => `w${i}: simSwappedWithin(maxAgeHours: ${i + 1})`).join(' ');
    const consent = 'simSwapConsent { state retryAfterSeconds expiresAt }';
    const page = await bff.ask(`${LIST} { e164 lastSimSwap ${windows} ${consent} } }`, {
      l: LINES,
    });
    expect(page.errors).toEqual([]);
  });
});

describe('the weights', () => {
  /** The most bytes of an error with its comma, without its path. */
  const errorBytes = (code: string, message: string): number => {
    const extensions = {
      code,
      correlator: createCorrelator(long(300)).name,
      docs: `${long(MAX_DOCS_URL_CHARACTERS)}/errors.md#${code}`,
      retryAfterSeconds: 999_999,
      ...(code === 'RATE_LIMITED' ? { quota: 'numbers' } : {}),
      ...(code === 'PERIOD_NOT_SUPPORTED' ? { maxAgeHours: 2400 } : {}),
      ...(code === 'CONSENT_PENDING' ? { expiresAt: '2026-03-14T10:26:53.123Z' } : {}),
    };
    const locations = [{ line: 999_999, column: 999_999 }];
    return Buffer.byteLength(JSON.stringify({ message, path: [], locations, extensions })) + 1;
  };
  /** `null`, its comma, and one for a place in a list. */
  const NULL_BYTES = 6;
  /** The longest reason that a number or a window is refused for, with room for a longer one. */
  const REASON = long(150);
  /** Each of 300 characters in UTF-8, or as `\u0000`. */
  const QUOTED = long(6 * 300);

  it('are of every field of a number', () => {
    const type = assertObjectType(createSchema('bff').getType('PhoneNumber'));
    const names = Object.keys(type.getFields());
    const selectionSet: SelectionSetNode = {
      kind: Kind.SELECTION_SET,
      selections: names.map(fieldNamed),
    };
    const number = { ...fieldNamed('phoneNumber'), selectionSet };
    const { fields } = belowNumber([number], type, new Selections([], {}), 0);
    expect(fields).toBe(names.length);
  });

  it('are the most that each takes, and little more', () => {
    const failures = FIELD_CODES.map((code) => errorBytes(code, ERRORS[code]));
    const quotas = Object.values(QUOTA_MESSAGES).map((text) => errorBytes('RATE_LIMITED', text));
    const failure = Math.max(errorBytes('BAD_USER_INPUT', REASON), ...failures, ...quotas);
    const values = [
      '2026-03-14T10:26:53.123456789+01:00',
      ...Object.keys(ERRORS),
      ...Object.keys(createSchema('subgraph').getTypeMap()),
      '+123456789012345',
      -2_147_483_648,
      false,
    ];
    const value = Math.max(...values.map((one) => JSON.stringify(one).length));
    const most = {
      failure: failure + NULL_BYTES,
      failedRoot: errorBytes('BAD_USER_INPUT', QUOTED) + NULL_BYTES,
      // The braces of an object are of its first field.
      value: value + '{},'.length,
      schema: Math.max(...(['bff', 'subgraph'] as const).map(longestSchemaReply)),
    };
    const off = Object.entries(most).filter(([name, bytes]) => {
      const weight = WEIGHTS[name as keyof typeof most];
      return weight < bytes || weight > 1.5 * bytes;
    });
    expect(off).toEqual([]);
  });
});

describe('1,000 invalid numbers', () => {
  // A stack written out for each took longer than the rest of the request: half a second in one go.
  it.each<[string, Role, string]>([
    ['numbers', 'bff', 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { e164 } }'],
    [
      'representations',
      'subgraph',
      'query ($l: [_Any!]!) { _entities(representations: $l) { __typename } }',
    ],
  ])('make no stack traces: %s', async (_, role, query) => {
    const service = role === 'bff' ? bff : subgraph;
    let stacks = 0;
    const before: unknown = Reflect.get(Error, 'prepareStackTrace');
    Error.prepareStackTrace = (_error, frames) => {
      if (frames.length > 0) stacks += 1;
      return '';
    };
    try {
      const reply = await service.ask(query, { l: parts(1000, () => 'none') });
      expect(reply.codes).toEqual(parts(1000, () => 'BAD_USER_INPUT'));
    } finally {
      Reflect.set(Error, 'prepareStackTrace', before);
    }
    expect(stacks).toBeLessThan(100);
  });
});

describe('an error that quotes the document is cut', () => {
  it.each<[string, string, object]>([
    [
      'the name of a variable',
      `query ($${long(100_000)}: [ID!]!) { phoneNumbers(e164s: $${long(100_000)}) { e164 } }`,
      { [long(100_000)]: parts(100, () => null) },
    ],
    [
      'the name of an operation',
      `query ${long(200_000)} { ${parts(100, (i) => `a${i}: phoneNumber(e164: $x${i}) { e164 }`).join(' ')} }`,
      {},
    ],
    ['a field that does not exist', `{ ${parts(100, () => long(2000)).join(' ')} }`, {}],
    ['a name in the wrong place', `{ __typename } ${long(200_000)}`, {}],
    [
      'a list with null in it',
      `query ($n: ID = "") { phoneNumbers(e164s: [$n, ${`"${long(1000)}" `.repeat(200)}]) { e164 } }`,
      { n: null },
    ],
  ])('%s', async (_, query, variables) => {
    const reply = await bff.ask(query, variables);
    expect(reply.errors.length).toBeGreaterThan(0);
    expect(reply.text.length).toBeLessThan(20_000);
    expect(reply.codes).not.toContain('INTERNAL_SERVER_ERROR');
  });
});

const fieldNamed = (value: string): FieldNode => ({
  kind: Kind.FIELD,
  name: { kind: Kind.NAME, value },
});

/** Every field of every type, by its own name, as deep as an operation and its lists may nest. */
function longestSchemaReply(role: Role): number {
  const schema = createSchema(role);
  /** By value, type, and how deep it may nest below. */
  const known = new Map<unknown, Map<string, number>>();
  const bytesOf = (
    value: unknown,
    nullable: GraphQLOutputType,
    levels: number,
    lists: number,
  ): number => {
    const type = getNullableType(nullable);
    if (value === undefined || value === null) return 'null'.length;
    if (isLeafType(type)) return Buffer.byteLength(JSON.stringify(type.serialize(value)));
    if (isListType(type) && Array.isArray(value)) {
      return value.reduce(
        (sum, item) => sum + 1 + bytesOf(item, type.ofType, levels, lists),
        '[]'.length,
      );
    }
    if (!isObjectType(type)) throw new Error('The schema describes itself by objects.');
    const place = `${type.name} ${levels} ${lists}`;
    const ofValue = known.get(value) ?? new Map<string, number>();
    known.set(value, ofValue);
    let bytes = ofValue.get(place);
    if (bytes === undefined) {
      bytes = '{}'.length + `"__typename":"${type.name}",`.length;
      for (const field of Object.values(type.getFields())) {
        const isList = /^(?:fields|interfaces|possibleTypes|inputFields)$/.test(field.name);
        const isObject = !isLeafType(getNamedType(field.type));
        if ((isList && lists === 0) || (isObject && levels === 0)) continue;
        const below = isList ? lists - 1 : lists;
        bytes += field.name.length + 4;
        bytes += bytesOf(answerOf(field, value), field.type, levels - 1, below);
      }
      ofValue.set(place, bytes);
    }
    return bytes;
  };
  const answerOf = ({ name, resolve }: GraphQLField<unknown, unknown>, source: unknown) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- introspection reads nothing else
    const info = { schema, fieldName: name } as GraphQLResolveInfo;
    return (resolve ?? defaultFieldResolver)(source, { includeDeprecated: true }, undefined, info);
  };
  return bytesOf(schema, SchemaMetaFieldDef.type, 20, 2);
}

function parts<T>(count: number, part: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => part(index));
}

function long(length: number): string {
  return 'a'.repeat(length);
}
