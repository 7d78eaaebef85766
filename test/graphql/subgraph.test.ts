import { composeServices } from '@theguild/federation-composition';
import { assertObjectType, buildSchema, parse, type GraphQLSchema } from 'graphql';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { costs, startSimulated } from '../support/service.ts';

const service = await startSimulated({ ROLE: 'subgraph' });
beforeEach(() => service.simulator.resetStats());
afterAll(() => service.stop());

/** Another team's subgraph, which knows the numbers and nothing of SIM cards. */
const CUSTOMERS_SDL = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
  type Query { customers: [Customer!]! }
  type Customer @key(fields: "name") { name: ID! phoneNumbers: [PhoneNumber!]! }
  type PhoneNumber @key(fields: "e164", resolvable: false) { e164: ID! }
`;

const ENTITIES = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on PhoneNumber { e164 simSwappedWithin }
  }
}`;

const GOOD = { __typename: 'PhoneNumber', e164: '+447700900001' };
const GOOD_ANSWER = { ...GOOD, simSwappedWithin: true };

const NOT_AN_OBJECT = 'A representation is an object with __typename and e164.';
const NOT_OURS = 'This subgraph resolves only representations of PhoneNumber.';
const NO_KEY = 'A representation of PhoneNumber has its e164 as a string.';
const NOT_INTERNATIONAL = 'A phone number starts with + and the country code.';

describe('_entities', () => {
  it('answers representations in their order, with one lookup for each number', async () => {
    const reply = await service.ask(ENTITIES, {
      representations: [GOOD, { ...GOOD, e164: '+44 7700 900004' }, GOOD],
    });
    expect(reply.data).toEqual({
      _entities: [
        GOOD_ANSWER,
        { __typename: 'PhoneNumber', e164: '+447700900004', simSwappedWithin: false },
        GOOD_ANSWER,
      ],
    });
    expect(reply.errors).toEqual([]);
    expect(costs(service)).toEqual({ tokens: 2, lookups: 2 });
  });

  it.each([
    ['a national number', { ...GOOD, e164: '07700900001' }, NOT_INTERNATIONAL],
    ['no __typename', { e164: '+447700900001' }, NOT_OURS],
    ['an unknown __typename', { ...GOOD, __typename: 'Mallory07700900001' }, NOT_OURS],
    [
      'a __typename of the schema that is not an entity',
      { ...GOOD, __typename: 'Query' },
      NOT_OURS,
    ],
    ['a __typename that is not a string', { ...GOOD, __typename: 7 }, NOT_OURS],
    ['a __typename from the prototype', { ...GOOD, __typename: '__proto__' }, NOT_OURS],
    ['no e164', { __typename: 'PhoneNumber' }, NO_KEY],
    ['a null e164', { ...GOOD, e164: null }, NO_KEY],
    ['an e164 that is a number', { ...GOOD, e164: 447700900001 }, NO_KEY],
    ['an e164 that is a list', { ...GOOD, e164: ['+447700900001'] }, NO_KEY],
    ['a string', '+447700900001', NOT_AN_OBJECT],
    ['a number', 447700900001, NOT_AN_OBJECT],
    ['a list', [GOOD], NOT_OURS],
  ])('with %s has one error for it, and answers the others', async (_, bad, message) => {
    const reply = await service.ask(ENTITIES, { representations: [GOOD, bad, GOOD] });
    expect(reply.data).toEqual({ _entities: [GOOD_ANSWER, null, GOOD_ANSWER] });
    expect(reply.errors).toEqual([
      {
        message,
        path: ['_entities', 1],
        locations: [{ line: 2, column: 3 }],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    expect(reply.text).not.toMatch(/7700900001(?!")|Mallory/);
    expect(costs(service)).toEqual({ tokens: 1, lookups: 1 });
  });

  it('takes representations that are written into the document', async () => {
    const reply = await service.ask(`{
      _entities(representations: [{ __typename: "PhoneNumber", e164: "+447700900001" }]) {
        ... on PhoneNumber { simSwappedWithin }
      }
    }`);
    expect(reply.data).toEqual({ _entities: [{ simSwappedWithin: true }] });
  });

  it('without representations is empty', async () => {
    const reply = await service.ask(ENTITIES, { representations: [] });
    expect(reply.data).toEqual({ _entities: [] });
  });
});

describe('the schema of the subgraph', () => {
  it.each([
    '{ phoneNumber(e164: "+447700900001") { e164 } }',
    '{ phoneNumbers(e164s: []) { e164 } }',
  ])('does not have the root fields of the BFF: %s', async (query) => {
    const reply = await service.ask(query);
    expect(reply.status).toBe(400);
    expect(reply.codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  it('composes with a subgraph that has customers and their numbers', async () => {
    const { data } = await service.ask('{ _service { sdl } }');
    const composed = composeServices([
      { name: 'sim-swap', url: service.url, typeDefs: parse(data._service.sdl) },
      { name: 'customers', url: 'http://127.0.0.1:1', typeDefs: parse(CUSTOMERS_SDL) },
    ]);
    expect(composed.errors).toBeUndefined();
    const graph = buildSchema(composed.publicSdl ?? '');
    expect(fieldsOf(graph, 'Query')).toEqual(['customers: [Customer!]!']);
    expect(fieldsOf(graph, 'Customer')).toEqual(['name: ID!', 'phoneNumbers: [PhoneNumber!]!']);
    expect(fieldsOf(graph, 'PhoneNumber').toSorted()).toEqual([
      'e164: ID!',
      'lastSimSwap: DateTime',
      'simSwapCheck: SimSwapCheck',
      'simSwapConsent: SimSwapConsent',
      'simSwappedWithin: Boolean',
    ]);
  });
});

function fieldsOf(schema: GraphQLSchema, type: string): string[] {
  const fields = assertObjectType(schema.getType(type)).getFields();
  return Object.values(fields).map((field) => `${field.name}: ${String(field.type)}`);
}
