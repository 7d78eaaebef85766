import { ApolloServerErrorCode } from '@apollo/server/errors';
import { GraphQLError } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS, type LookupFailureCode } from '../../src/domain/errors.ts';
import { badUserInput, lookupFailed } from '../../src/graphql/answerErrors.ts';
import { formatError } from '../../src/graphql/errors.ts';
import { logInto, startSimulated, type SimulatedService } from '../support/service.ts';

const NUMBER = '+447700900001';
const QUERY = `{ phoneNumber(e164: "${NUMBER}") { simSwappedWithin } }`;
const WINDOWS = Array.from(
  { length: 25 },
  (_, i) => `w${i}: simSwappedWithin(maxAgeHours: ${i + 1})`,
);
const MANY = QUERY.replace('simSwappedWithin', WINDOWS.join(' '));
const DOCS_URL = 'https://git.example/sim-swap/docs';
const URL = 'https://operator.example/check';
const PATH = ['phoneNumber', 'lastSimSwap'];

/** As Apollo passes an error on: formatted, and as it was thrown, wrapped with its place. */
function format(thrown: Error, code: string = ApolloServerErrorCode.INTERNAL_SERVER_ERROR) {
  const logged: string[] = [];
  const { message, stack } = thrown;
  const error = new GraphQLError(message, { path: PATH, originalError: thrown });
  const formatted = { message, path: PATH, extensions: { code, stacktrace: [stack] } };
  return { shown: formatError(formatted, error, logInto(logged)), logged };
}

describe('a failed lookup', () => {
  it.each(Object.entries(ERRORS))('%s is returned as such, and not logged', (code, message) => {
    const failure = { code: code as LookupFailureCode, reach: 'number' } as const;
    const { shown, logged } = format(lookupFailed(failure));
    expect(shown).toEqual({ message, path: PATH, extensions: { code } });
    expect(logged).toEqual([]);
  });

  it('says when a retry can help, and when a consent ends', () => {
    const expiresAtMs = Date.UTC(2026, 0, 2, 3, 4, 5);
    const pending = { code: 'CONSENT_PENDING', reach: 'number', retryAfterSeconds: 5 } as const;
    expect(format(lookupFailed({ ...pending, expiresAtMs })).shown.extensions).toEqual({
      code: 'CONSENT_PENDING',
      retryAfterSeconds: 5,
      expiresAt: '2026-01-02T03:04:05.000Z',
    });
  });
});

describe('an error of the caller', () => {
  it('keeps its reason and its code, and nothing else', () => {
    expect(format(badUserInput('Say it so.'))).toEqual({
      shown: { message: 'Say it so.', path: PATH, extensions: { code: 'BAD_USER_INPUT' } },
      logged: [],
    });
  });

  it.each([
    `Variable "$h" got invalid value "${NUMBER}"; Int cannot represent non-integer value: "${NUMBER}"`,
    'Cannot query field "_447700900001" on type "Query".',
  ])('of GraphQL is masked: %s', (message) => {
    const { shown } = format(new GraphQLError(message), 'GRAPHQL_VALIDATION_FAILED');
    expect(shown.message).toContain('[number]');
    expect(shown.message).not.toMatch(/7700|900001/);
  });

  it('keeps its place in the document', () => {
    const locations = [{ line: 3, column: 7 }];
    const formatted = { message: 'No.', locations, extensions: { code: 'BAD_REQUEST' } };
    const shown = formatError(formatted, new GraphQLError('No.'), logInto([]));
    expect(shown).toEqual(formatted);
  });
});

const BROKE = 'A request failed because of a defect in this service. Report it.';

describe('an unforeseen error', () => {
  it.each([
    ['TypeError', new TypeError(`cannot read ${NUMBER} of ${URL}`)],
    ['Error', Object.assign(new Error(URL), { code: 'ECONNREFUSED' })],
    ['GraphQLError', new GraphQLError(URL, { originalError: new Error(NUMBER) })],
  ])('is shown only as one, and logged by its name: %s', (name, thrown) => {
    const { shown, logged } = format(thrown);
    expect(shown).toEqual({
      message: 'Internal server error',
      path: PATH,
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    });
    expect(logged).toEqual([expect.stringContaining(`error ${BROKE} {"error":"${name}"`)]);
  });

  it('is reported even when it is not an Error', () => {
    const logged: string[] = [];
    const shown = formatError({ message: NUMBER }, NUMBER, logInto(logged));
    expect(shown.message).toBe('Internal server error');
    expect(logged).toEqual([`error ${BROKE} {"error":"string"}`]);
  });
});

function post(body: object | string): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

describe('every error of a reply', () => {
  let service: SimulatedService;
  beforeAll(async () => {
    service = await startSimulated({ DOCS_URL });
  });
  afterAll(() => service.stop());

  it.each<[string, RequestInit]>([
    ['OPERATOR_UNAVAILABLE', post({ query: QUERY.replace('001', '013') })],
    ['BAD_USER_INPUT', post({ query: QUERY.replace('+', '') })],
    ['LOOKUP_LIMIT_EXCEEDED', post({ query: MANY })],
    ['GRAPHQL_VALIDATION_FAILED', post({ query: '{ nothing }' })],
    ['GRAPHQL_PARSE_FAILED', post({ query: '{' })],
    ['OPERATION_RESOLUTION_FAILURE', post({ query: QUERY, operationName: 'None' })],
    ['BAD_REQUEST', post({})],
    ['BAD_REQUEST', post('no JSON')],
    ['BAD_REQUEST', {}],
  ])('names its request and links to its code: %s', async (code, request) => {
    const { text, headers } = await service.send('/graphql', request);

    const { errors } = JSON.parse(text) as { errors: readonly { extensions: object }[] };
    expect(errors).toMatchObject([
      {
        extensions: {
          code,
          correlator: headers.get('x-correlator'),
          docs: `${DOCS_URL}/errors.md#${code.toLowerCase()}`,
        },
      },
    ]);
  });

  it('has the correlator by which the logs know its request, and no link without DOCS_URL', async () => {
    await using unlinked = await startSimulated();
    const sent = { 'x-correlator': 'ticket-4711' };
    const { text } = await unlinked.ask(QUERY.replace('001', '013'), {}, sent);

    const { errors } = JSON.parse(text) as {
      errors: readonly { extensions: { correlator: string } }[];
    };
    const correlator = errors[0]?.extensions.correlator ?? '';
    expect(correlator).toMatch(/^ticket-4711-\w{12}$/);
    expect(unlinked.logged.join()).toContain(correlator);
    expect(text).not.toContain('docs');
  });
});
