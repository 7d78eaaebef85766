import { readFileSync } from 'node:fs';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { assertEnumType, buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import {
  SIM_SWAP_MOCK_REASONS,
  simSwapFixture,
  simSwapMocks,
  type SimSwapMockAnswers,
} from '../../mocks/mocks.ts';

const typeDefs = readFileSync(new URL('../../schema/bff.graphql', import.meta.url), 'utf8');
const FIELDS =
  'lastSimSwap simSwappedWithin simSwapCheck { result reason } simSwapConsent { state }';

/** As MSW calls its handlers. */
async function ask(query: string, answers: SimSwapMockAnswers = {}, ownNumber?: string) {
  const mocks = simSwapMocks(answers, ownNumber);
  const schema = makeExecutableSchema({ typeDefs, resolvers: mocks.resolvers });
  const request = new Request('http://localhost/graphql', {
    method: 'POST',
    body: JSON.stringify({ query }),
  });
  const reply = await mocks.handler(schema)({ request });
  return (await reply.json()) as {
    data: Record<string, Record<string, unknown>>;
    errors?: { path: string[]; extensions: { code: string } }[];
  };
}

const about = (number: string, fields = FIELDS) =>
  `{ phoneNumber(e164: "${number}") { ${fields} } }`;

describe('mocks', () => {
  test('have no answer about a number by default', async () => {
    const { data, errors = [] } = await ask(about('+447700900001'));
    expect(data['phoneNumber']).toEqual({
      lastSimSwap: null,
      simSwappedWithin: null,
      simSwapCheck: { result: 'UNKNOWN', reason: 'OPERATOR_UNAVAILABLE' },
      simSwapConsent: { state: 'NOT_NEEDED' },
    });
    const error = { extensions: { code: 'OPERATOR_UNAVAILABLE' } };
    expect(errors).toMatchObject([error, error]);
  });

  test.each(SIM_SWAP_MOCK_REASONS)('%s is returned as by the service', async (reason) => {
    const fields =
      'simSwappedWithin simSwapCheck { result reason retryAfterSeconds maxAgeHours windowHours }';
    const number = '+447700900001';
    const { data, errors = [] } = await ask(about(number, fields), { [number]: reason });
    const { simSwappedWithin, simSwapCheck, error } = simSwapFixture(reason);
    expect(data['phoneNumber']).toMatchObject({ simSwappedWithin });
    expect(simSwapCheck).toMatchObject(data['phoneNumber']?.['simSwapCheck'] as object);
    expect(errors).toMatchObject([error]);
  });

  test('have every reason that the schema has', () => {
    const reasons = assertEnumType(buildSchema(typeDefs).getType('SimSwapUnknownReason'));
    expect(new Set(SIM_SWAP_MOCK_REASONS)).toEqual(
      new Set(reasons.getValues().map(({ name }) => name)),
    );
  });

  test.each([
    ['SWAPPED', [true, true]],
    ['NOT_SWAPPED', [false, false]],
    [{ swappedHoursAgo: 72 }, [false, true]],
  ] as const)('%j: a day and ten days', async (answer, expected) => {
    const fields = 'day: simSwappedWithin(maxAgeHours: 24) simSwappedWithin';
    const answers = { '+447700900001': answer };
    const { data, errors } = await ask(about('+44 7700 900-001', fields), answers);
    expect(errors).toBeUndefined();
    expect(Object.values(data['phoneNumber'] ?? {})).toEqual(expected);
  });

  test('refuse what the service refuses', async () => {
    const { errors } = await ask(
      '{ myPhoneNumber { e164 } phoneNumber(e164: "07700 900001") { e164 } }',
    );
    const codes = errors?.map(({ extensions }) => extensions.code);
    expect(codes?.toSorted()).toEqual(['BAD_USER_INPUT', 'FORBIDDEN']);
    const own = await ask('{ myPhoneNumber { e164 } }', {}, '+447700900004');
    expect(own.data).toEqual({ myPhoneNumber: { e164: '+447700900004' } });
  });

  test('have no answer about a number of an automatic mock', () => {
    const { PhoneNumber } = simSwapMocks().resolvers;
    if (PhoneNumber === undefined || !('simSwappedWithin' in PhoneNumber))
      throw new Error('no field');
    return expect(
      PhoneNumber.simSwappedWithin?.({ e164: 'Hello World' }, { maxAgeHours: 240 }, {}, undefined),
    ).rejects.toMatchObject({ extensions: { code: 'OPERATOR_UNAVAILABLE' } });
  });
});
