import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { mercuriusOptions } from '../../src/embedded/mercurius.ts';
import { silentLog } from '../silentLog.ts';

/** As Fastify and Mercurius make them of a request that they cannot read. */
function refusal(code: string, errors?: readonly unknown[]): GraphQLError {
  const originalError = Object.assign(new Error('refused'), { code, statusCode: 400, errors });
  return new GraphQLError('refused', { originalError });
}

test.each([
  ['a body that is no object', refusal('MER_ERR_GQL_VALIDATION', [{ code: 'FST_ERR_VALIDATION' }])],
  ['a body that is no JSON', refusal('FST_ERR_CTP_INVALID_JSON_BODY')],
  ['no query', refusal('MER_ERR_INVALID_OPTS')],
])('Mercurius: %s is a bad request, and no fault of the server', (_name, error) => {
  const { statusCode, response } = mercuriusOptions(silentLog).errorFormatter({ errors: [error] });
  expect(statusCode).toBe(400);
  expect(response.errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }]);
});

test('Mercurius: what a resolver throws stays one, whatever status it names', () => {
  const original = Object.assign(new Error('secret'), { code: 'MER_X', statusCode: 400 });
  const error = new GraphQLError('secret', { path: ['field'], originalError: original });
  const { response } = mercuriusOptions(silentLog).errorFormatter({ data: null, errors: [error] });
  expect(response.errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
  expect(JSON.stringify(response)).not.toContain('secret');
});
