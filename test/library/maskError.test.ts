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
  const HOURS = 'query ($h: Int!) { call(hours: $h) }';
  test.each<[string, string, string, object?, string?]>([
    ['not GraphQL', 'GRAPHQL_PARSE_FAILED', `{ call(phone: ${NUMBER}) }`],
    ['a literal', 'GRAPHQL_VALIDATION_FAILED', `{ call(hours: "${NUMBER}") }`],
    ['a literal of a scalar of the host', 'GRAPHQL_VALIDATION_FAILED', '{ call(phone: 1) }'],
    ['a field', 'GRAPHQL_VALIDATION_FAILED', '{ _447700900001 }'],
    ['a variable', 'BAD_USER_INPUT', HOURS, { h: NUMBER }],
    [
      'a variable of a scalar of the host',
      'BAD_USER_INPUT',
      'query ($p: Phone) { call(phone: $p) }',
      { p: NUMBER },
    ],
    ['a variable that is missing', 'BAD_USER_INPUT', HOURS],
    ['an argument that is null', 'BAD_USER_INPUT', HOURS.replace('!', ''), { h: null }],
    ['no such operation', 'OPERATION_RESOLUTION_FAILURE', 'query A { call }', {}, 'B'],
  ])('%s', async (_, code, source, variables, operationName) => {
    const error = await seen(source, { ...variables }, operationName);
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

  test('leave out what a server adds to its message', () => {
    const code = 'BAD_REQUEST';
    const extensions = { code, originalError: { message: `"${NUMBER}" is not JSON` } };
    const masked = maskError(new GraphQLError('No JSON.', { extensions })).toJSON();
    expect(masked).toEqual({ message: 'No JSON.', extensions: { code } });
  });

  test('keep the code of the server, and its status, which is left out of JSON', () => {
    const [code, http] = ['UNAUTHENTICATED', { status: 401 }];
    const extensions = { code, http };
    const masked = maskError(new GraphQLError(`No token for ${NUMBER}.`, { extensions }));
    expect(masked.extensions['http']).toBe(http);
    const shown = { message: 'No token for [number].', extensions: { code } };
    expect(JSON.parse(JSON.stringify(masked))).toEqual(shown);
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

  test.each([[{}], [{ path }]])('that are their own cause are masked: %j', (place) => {
    const endless = new GraphQLError(`No luck with ${NUMBER}.`, place);
    Object.defineProperty(endless, 'originalError', { value: endless });
    expect(JSON.stringify(maskError(endless))).not.toContain('900001');
  });

  test('that are defects say only that, for anything that was thrown', async () => {
    const extended = Object.assign(new Error(NUMBER), { extensions: { code: 'LEAK' } });
    const thrown = [
      new GraphQLError('x', { originalError: new Error(NUMBER) }),
      new GraphQLError('x', { path, originalError: extended }),
      new TypeError(NUMBER),
      NUMBER,
      undefined,
    ];
    const masked = [await seen('{ fails }'), ...thrown.map((one) => maskError(one).toJSON())];
    for (const { message, extensions } of masked) {
      expect({ message, extensions }).toEqual({
        message: 'Internal server error',
        extensions: { code: 'INTERNAL_SERVER_ERROR' },
      });
    }
  });

  test('include a result of a wrong type, without the number', async () => {
    expect(JSON.stringify(await seen('{ bad }'))).not.toContain('900001');
  });
});
