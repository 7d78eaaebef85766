import { ApolloServer } from '@apollo/server';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { GraphQLError, parse } from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import {
  createSimSwapSubgraph,
  type SimSwapCaller,
  type SimSwapContext,
  type SimSwapSubgraph,
} from '../../src/subgraph.ts';
import { settingsFor } from '../service.ts';

const ANYONE: SimSwapCaller = { issuer: 'i', subject: 'risk', mayAskAbout: 'anyone' };
const OWNER: SimSwapCaller = {
  issuer: 'i',
  subject: 'owner',
  mayAskAbout: 'own-number',
  ownNumber: '+44 7700 900004',
};

/** Types of another program: its customers have phone numbers, and its own errors. */
const OWN_TYPES = parse(`
  type Customer @key(fields: "id") {
    id: ID!
    phone: PhoneNumber
    unlucky: String
    broken: String
  }
  extend type Query {
    customers(count: Int!): [Customer!]!
  }
`);

const ownResolvers = {
  Customer: {
    __resolveReference: ({ id }: { id: string }) => ({ id, phone: { e164: '+447700900001' } }),
    unlucky: () => {
      throw new GraphQLError('No luck with +447700900001.', {
        extensions: { code: 'UNLUCKY', tries: 3 },
      });
    },
    broken: () => {
      throw new Error('the password is swordfish');
    },
  },
  Query: {
    customers: (_root: unknown, { count }: { count: number }) =>
      Array.from({ length: count }, (_, index) => ({
        id: String(index),
        phone: { e164: `+447700900${500 + index}` },
      })),
  },
};

async function mounted(settings: Readonly<Record<string, string | number>> = {}) {
  const simulator = await startSimulator({ port: 0 });
  const lines: string[] = [];
  const write = (message: string): void => void lines.push(message);
  const simSwap = await createSimSwapSubgraph({
    settings: {
      ...settingsFor(simulator.authUrl),
      OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
      ...settings,
    },
    log: { info: write, warn: write, error: write },
  });
  const server = new ApolloServer<SimSwapContext>({
    ...schemaOf(simSwap, settings['ROLE'] === 'subgraph'),
    ...simSwap.apolloServer(),
    includeStacktraceInErrorResponses: false,
  });
  await server.start();
  onTestFinished(async () => {
    await server.stop();
    await simSwap.close();
    await simulator.close();
  });
  return {
    simSwap,
    lookups: () => simulator.stats().lookups,
    lines,
    ask: async (query: string, caller = ANYONE) => {
      const { body } = await server.executeOperation(
        { query },
        { contextValue: simSwap.context({ caller }) },
      );
      if (body.kind !== 'single') throw new Error('It defers nothing.');
      const { data, errors = [] } = body.singleResult;
      return { data, errors, codes: errors.map(({ extensions }) => extensions?.['code']) };
    },
  };
}

function schemaOf(simSwap: SimSwapSubgraph, isSubgraph: boolean) {
  if (!isSubgraph) {
    return {
      typeDefs: [
        ...simSwap.typeDefs,
        parse('directive @key(fields: String!) on OBJECT'),
        OWN_TYPES,
      ],
      resolvers: [simSwap.resolvers, { Query: ownResolvers.Query, Customer: fieldsOfCustomer() }],
    };
  }
  return {
    schema: buildSubgraphSchema([
      ...simSwap.typeDefs.map((typeDefs) => ({ typeDefs })),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its type for resolvers is narrower than what it takes
      { typeDefs: OWN_TYPES, resolvers: { ...simSwap.resolvers, ...ownResolvers } as never },
    ]),
  };
}

function fieldsOfCustomer() {
  const { __resolveReference: _reference, ...fields } = ownResolvers.Customer;
  return fields;
}

describe('mounted beside types of another program', () => {
  test('its fields lead to numbers', async () => {
    const { ask } = await mounted();
    const { data, codes } = await ask(
      '{ customers(count: 2) { phone { e164 simSwappedWithin } } }',
    );
    expect(codes).toEqual([]);
    expect(data).toEqual({
      customers: [
        { phone: { e164: '+447700900500', simSwappedWithin: false } },
        { phone: { e164: '+447700900501', simSwappedWithin: false } },
      ],
    });
  });

  test('a caller asks about its own number alone, whichever field leads there', async () => {
    const { ask, lookups } = await mounted();

    expect((await ask('{ myPhoneNumber { e164 simSwappedWithin } }', OWNER)).data).toEqual({
      myPhoneNumber: { e164: '+447700900004', simSwappedWithin: false },
    });
    const before = lookups();
    const byNumber = await ask(
      '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }',
      OWNER,
    );
    const byCustomer = await ask('{ customers(count: 1) { phone { lastSimSwap } } }', OWNER);

    expect([...byNumber.codes, ...byCustomer.codes]).toEqual(['FORBIDDEN', 'FORBIDDEN']);
    expect(lookups()).toBe(before);
  });

  test('numbers that its fields lead to count in the limit of an operation', async () => {
    const { ask, lookups } = await mounted({ MAX_NUMBERS_PER_OPERATION: 3 });

    const { data, errors, codes } = await ask(
      '{ customers(count: 5) { phone { simSwappedWithin } } }',
    );

    expect(codes).toEqual(['LOOKUP_LIMIT_EXCEEDED', 'LOOKUP_LIMIT_EXCEEDED']);
    expect(errors[0]).toMatchObject({
      path: ['customers', 3, 'phone', 'simSwappedWithin'],
      extensions: { limited: 'numbers', limit: 3 },
    });
    expect(data).toMatchObject({ customers: { length: 5 } });
    expect(lookups()).toBe(3);
  });

  test('its own errors stay as they are, but for numbers; what broke says nothing', async () => {
    const { ask, lines } = await mounted();

    const { errors } = await ask('{ customers(count: 1) { unlucky broken } }');

    expect(errors).toMatchObject([
      {
        message: expect.not.stringContaining('900001'),
        path: ['customers', 0, 'unlucky'],
        extensions: { code: 'UNLUCKY', tries: 3 },
      },
      { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
    ]);
    expect(JSON.stringify(errors)).not.toContain('swordfish');
    expect(lines).toContain('a request broke');
  });

  test('a context without ours is a plain defect', async () => {
    const { simSwap } = await mounted();
    const server = new ApolloServer({ ...schemaOf(simSwap, false), ...simSwap.apolloServer() });
    await server.start();
    const { body } = await server.executeOperation({
      query: '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }',
    });
    expect(JSON.stringify(body)).toContain('INTERNAL_SERVER_ERROR');
    expect(JSON.stringify(body)).not.toContain('"simSwappedWithin":false');
    await server.stop();
  });
});

test('as an entity it stands beside other entities of a subgraph', async () => {
  const { ask } = await mounted({ ROLE: 'subgraph' });
  const { data, codes } = await ask(`{
    _entities(representations: [
      { __typename: "PhoneNumber", e164: "+447700900001" }
      { __typename: "Customer", id: "7" }
      { __typename: "PhoneNumber", e164: "0044 7700 900001" }
    ]) {
      ... on PhoneNumber { e164 simSwappedWithin }
      ... on Customer { id phone { e164 } }
    }
  }`);
  expect(data).toEqual({
    _entities: [
      { e164: '+447700900001', simSwappedWithin: true },
      { id: '7', phone: { e164: '+447700900001' } },
      null,
    ],
  });
  expect(codes).toEqual(['BAD_USER_INPUT']);
});

test.each([
  [{ caller: { ...OWNER, ownNumber: '07700 900004' } }, "The caller's own number is none."],
  [{ caller: ANYONE, purpose: 'marketing' }, 'The purpose is not one of PURPOSES.'],
])('a context for %j is refused', async (request, message) => {
  const { simSwap } = await mounted();
  expect(() => simSwap.context(request)).toThrow(message);
});
