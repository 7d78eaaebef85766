import {
  buildSchema,
  graphql,
  GraphQLError,
  GraphQLScalarType,
  validate,
  parse,
  type GraphQLFormattedError,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { forbidden, lookupFailed } from '../../src/graphql/answerErrors.ts';
import { maskError } from '../../src/library/subgraph.ts';

const NUMBER = '+447700900001';

const SCHEMA = buildSchema(`
  scalar Phone
  type Query { call(phone: Phone, hours: Int! = 1): String, bad: Int, fails: String }
`);
const phone = SCHEMA.getType('Phone');
if (!(phone instanceof GraphQLScalarType)) throw new Error('Phone is a scalar.');
phone.parseValue = (value) => {
  throw new TypeError(`${String(value)} is not a phone number`);
};
phone.parseLiteral = () => {
  throw new TypeError(`${NUMBER} is not a phone number`);
};

/** What clients see of the first error of an operation. */
async function seen(
  source: string,
  variableValues: Readonly<Record<string, unknown>> = {},
  operationName?: string,
): Promise<GraphQLFormattedError> {
  const { errors = [] } = await graphql({
    schema: SCHEMA,
    source,
    variableValues,
    ...(operationName === undefined ? {} : { operationName }),
    rootValue: {
      call: () => 'ringing',
      bad: () => NUMBER,
      fails: () => Promise.reject(new Error(`no route to ${NUMBER}`)),
    },
  });
  return JSON.parse(JSON.stringify(errors.map(maskError)[0])) as GraphQLFormattedError;
}

describe("GraphQL's own errors quote no number, and have a code", () => {
  test.each([
    ['no GraphQL', `{ call(phone: ${NUMBER}) }`, {}, 'GRAPHQL_PARSE_FAILED'],
    ['a literal', `{ call(hours: "${NUMBER}") }`, {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a literal of a scalar of the host', `{ call(phone: 1) }`, {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a field', '{ _447700900001 }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a variable', 'query ($h: Int!) { call(hours: $h) }', { h: NUMBER }, 'BAD_USER_INPUT'],
    [
      'a variable of a scalar of the host',
      'query ($p: Phone) { call(phone: $p) }',
      { p: NUMBER },
      'BAD_USER_INPUT',
    ],
    ['a variable that is missing', 'query ($h: Int!) { call(hours: $h) }', {}, 'BAD_USER_INPUT'],
    [
      'an argument that is null',
      'query ($h: Int) { call(hours: $h) }',
      { h: null },
      'BAD_USER_INPUT',
    ],
    ['no such operation', 'query A { call }', {}, 'OPERATION_RESOLUTION_FAILURE'],
  ])('%s', async (what, source, variables, code) => {
    const error = await seen(source, variables, what === 'no such operation' ? 'B' : undefined);
    expect(error.extensions).toEqual({ code });
    expect(JSON.stringify(error)).not.toMatch(/7700|900001/);
  });

  test('are cut', () => {
    const [error] = validate(SCHEMA, parse(`{ call(hours: "${'x'.repeat(10_000)}") }`));
    expect(maskError(error).message.length).toBeLessThan(400);
    const many = parse(`{ ${'call: fails call '.repeat(50)} }`);
    expect(validate(SCHEMA, many).map((one) => maskError(one).locations?.length)).toEqual(
      expect.not.arrayContaining([11]),
    );
  });

  test('say nothing of what a server adds beside its words', () => {
    const extensions = {
      code: 'BAD_REQUEST',
      originalError: { message: `"${NUMBER}" is not JSON` },
    };
    expect(maskError(new GraphQLError('No JSON.', { extensions })).toJSON()).toEqual({
      message: 'No JSON.',
      extensions: { code: 'BAD_REQUEST' },
    });
  });

  test('keep a code that the server gave, and what it takes its status from, out of JSON', () => {
    const http = { status: 401 };
    const masked = maskError(
      new GraphQLError(`No token for ${NUMBER}.`, {
        extensions: { code: 'UNAUTHENTICATED', http },
      }),
    );
    expect(masked.extensions['http']).toBe(http);
    expect(JSON.parse(JSON.stringify(masked))).toEqual({
      message: 'No token for [number].',
      extensions: { code: 'UNAUTHENTICATED' },
    });
  });
});

describe('errors of this package pass', () => {
  test.each([
    forbidden(),
    lookupFailed({ code: 'CONSENT_PENDING', reach: 'number', retryAfterSeconds: 5 }),
    new GraphQLError('You may not.', { path: ['phoneNumber'], originalError: forbidden() }),
  ])('%s', (error) => {
    expect(maskError(error)).toBe(error);
  });
});

describe('errors of the host', () => {
  const path = ['customer', 0];

  test.each([
    new GraphQLError(`No luck with ${NUMBER}.`, {
      path,
      extensions: { code: 'UNLUCKY', tries: 3 },
    }),
    new GraphQLError('wrapped', {
      path,
      originalError: new GraphQLError('wrapped', {
        originalError: new Error('swordfish'),
        extensions: { code: 'UNLUCKY', tries: 3 },
      }),
    }),
  ])('that are for clients keep everything but phone numbers', (error) => {
    const masked = maskError(error).toJSON();
    expect(masked).toMatchObject({ path, extensions: { code: 'UNLUCKY', tries: 3 } });
    expect(JSON.stringify(masked)).not.toContain('900001');
  });

  test.each([
    ['a field', () => seen('{ fails }')],
    [
      'a context',
      () =>
        Promise.resolve(
          maskError(new GraphQLError('x', { originalError: new Error(NUMBER) })).toJSON(),
        ),
    ],
    ['no GraphQLError', () => Promise.resolve(maskError(new TypeError(NUMBER)).toJSON())],
    ['no Error', () => Promise.resolve(maskError(NUMBER).toJSON())],
    ['nothing', () => Promise.resolve(maskError(undefined).toJSON())],
    [
      'one with extensions',
      () =>
        Promise.resolve(
          maskError(
            new GraphQLError('x', {
              path,
              originalError: Object.assign(new Error(NUMBER), { extensions: { code: 'LEAK' } }),
            }),
          ).toJSON(),
        ),
    ],
  ])('that broke say nothing else: %s', async (_name, error) => {
    const { message, extensions } = await error();
    expect({ message, extensions }).toEqual({
      message: 'Internal server error',
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    });
  });

  test('what a result is not is one of them, without the number', async () => {
    expect(JSON.stringify(await seen('{ bad }'))).not.toContain('900001');
  });
});
