import { ApolloServer } from '@apollo/server';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { makeExecutableSchema } from '@graphql-tools/schema';
import {
  graphql,
  GraphQLError,
  parse,
  subscribe,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import {
  createSimSwapSubgraph,
  maskError,
  type SimSwapCaller,
  type SimSwapContext,
  type SimSwapSubgraph,
} from '../../src/library/subgraph.ts';
import { settingsFor } from '../support/service.ts';
import { replying, WiredOperator } from '../support/wiredOperator.ts';

const ANYONE: SimSwapCaller = { issuer: 'i', subject: 'risk', mayAskAbout: 'anyone' };
const OWNER: SimSwapCaller = {
  issuer: 'i',
  subject: 'owner',
  mayAskAbout: 'own-number',
  ownNumber: '+44 7700 900004',
};

/** Types of another program, whose customers have phone numbers. */
const OWN_TYPES = parse(`
  type Customer @key(fields: "id") {
    id: ID!
    phone: PhoneNumber
    misspelt: PhoneNumber
  }
  extend type Query {
    customers(count: Int!): [Customer!]!
  }
`);

const ownResolvers = {
  Customer: {
    __resolveReference: ({ id }: { id: string }) => ({ id, phone: { e164: '+447700900001' } }),
    misspelt: ({ id }: { id: string }) => ({
      e164: id === '0' ? '07700 900001' : '+44 7700 900-001',
    }),
  },
  Query: {
    customers: (_root: unknown, { count }: { count: number }) =>
      Array.from({ length: count }, (_, i) => ({ id: `${i}`, phone: { e164: numbered(i) } })),
  },
};

const numbered = (index: number) => `+447700900${500 + index}`;

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
    schema: schemaWith(simSwap),
    formatError: (_formatted, error) => maskError(error).toJSON(),
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
    prompts: () => simulator.stats().prompts,
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

function schemaWith({ typeDefs, resolvers }: SimSwapSubgraph) {
  const Query = Object.assign({}, resolvers['Query'], ownResolvers.Query);
  return buildSubgraphSchema([
    ...typeDefs.map((one) => ({ typeDefs: one })),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its type for resolvers is narrower than what it takes
    { typeDefs: OWN_TYPES, resolvers: { ...resolvers, ...ownResolvers, Query } as never },
  ]);
}

describe('mounted beside types of another program', () => {
  test('its fields lead to numbers, which count in the limit of an operation', async () => {
    const { ask, lookups } = await mounted({ MAX_NUMBERS_PER_OPERATION: 3 });
    const two = await ask('{ customers(count: 2) { phone { e164 simSwappedWithin } } }');
    expect(two.codes).toEqual([]);
    const phones = [0, 1].map((i) => ({ phone: { e164: numbered(i), simSwappedWithin: false } }));
    expect(two.data).toEqual({ customers: phones });

    const five = await ask('{ customers(count: 5) { phone { simSwappedWithin } } }');
    expect(five.codes).toEqual(['LOOKUP_LIMIT_EXCEEDED', 'LOOKUP_LIMIT_EXCEEDED']);
    expect(five.errors[0]).toMatchObject({
      path: ['customers', 3, 'phone', 'simSwappedWithin'],
      extensions: { limited: 'numbers', limit: 3 },
    });
    expect(five.data).toMatchObject({ customers: { length: 5 } });
    expect(lookups()).toBe(5);
  });

  test('a caller can only check its own number, whichever field leads there', async () => {
    const { ask, lookups } = await mounted();
    const own = await ask('{ myPhoneNumber { e164 simSwappedWithin } }', OWNER);
    expect(own.data).toEqual({
      myPhoneNumber: { e164: '+447700900004', simSwappedWithin: false },
    });
    const before = lookups();
    const others =
      '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } customers(count: 1) { phone { lastSimSwap } } }';
    expect((await ask(others, OWNER)).codes).toEqual(['FORBIDDEN', 'FORBIDDEN']);
    expect(lookups()).toBe(before);
  });

  test('a number that a field of the other program returns is parsed as any other', async () => {
    const { ask, lookups } = await mounted();

    const { data, codes } = await ask(
      '{ customers(count: 2) { misspelt { simSwappedWithin lastSimSwap } } }',
    );

    expect(codes).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
    expect(data).toEqual({
      customers: [
        { misspelt: { simSwappedWithin: null, lastSimSwap: null } },
        { misspelt: { simSwappedWithin: true, lastSimSwap: expect.any(String) } },
      ],
    });
    expect(lookups()).toBe(2);
  });
});

/** As graphql-js executes it, without a server around. */
async function executed(source: string, isWithContext = true) {
  const { simSwap, lines } = await mounted({ ROLE: 'bff', DOCS_URL: 'https://git.example/docs' });
  const { typeDefs, resolvers } = simSwap;
  const correlator = 'ticket-4711';
  const { errors = [] } = await graphql({
    schema: makeExecutableSchema({ typeDefs, resolvers }),
    source,
    contextValue: isWithContext ? simSwap.context({ caller: OWNER, correlator }) : {},
  });
  return { errors, lines };
}

describe('an error, before any server has seen it', () => {
  test.each([
    ['{ phoneNumber(e164: "07700 900001") { e164 } }', 'BAD_USER_INPUT'],
    ['{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }', 'FORBIDDEN'],
    [
      '{ phoneNumber(e164: "+447700900004") { simSwappedWithin(maxAgeHours: 0) } }',
      'BAD_USER_INPUT',
    ],
  ])('%s: is a GraphQLError with its code, and has no stack', async (source, code) => {
    const { errors } = await executed(source);

    expect(errors.map(({ extensions }) => extensions)).toEqual([
      {
        code,
        correlator: expect.stringMatching(/^ticket-4711-\w{12}$/) as string,
        docs: `https://git.example/docs/errors.md#${code.toLowerCase()}`,
      },
    ]);
    const [original] = errors.map((error) => error.originalError ?? error);
    expect(original).toBeInstanceOf(GraphQLError);
    expect(original?.name).toBe('GraphQLError');
    expect(original?.stack).not.toMatch(/\n\s+at /);
    expect(JSON.stringify(errors)).not.toContain('900001');
  });

  test('a defect is shown only as one, without its cause, and is logged by us', async () => {
    const { errors, lines } = await executed(
      '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }',
      false,
    );

    expect(errors).toMatchObject([
      { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
    ]);
    expect(errors[0]?.originalError?.cause).toBeUndefined();
    expect(lines).toEqual(['A request failed because of a defect in this service. Report it.']);
  });
});

test('a context answers nothing after its time, not even what it has learned', async () => {
  const { simSwap, lookups } = await mounted({ ROLE: 'bff' });
  const { typeDefs, resolvers } = simSwap;
  const schema = makeExecutableSchema({ typeDefs, resolvers });
  const contextValue = simSwap.context({ caller: ANYONE, timeoutMs: 2000 });
  const ask = async (field: string) => {
    const source = `{ phoneNumber(e164: "+447700900004") { ${field} } }`;
    const { data, errors = [] } = await graphql({ schema, source, contextValue });
    const codes = errors.map(({ extensions }) => extensions['code']);
    return JSON.parse(JSON.stringify({ ...Object(data).phoneNumber, codes })) as object;
  };
  const swapped = () => ask('simSwappedWithin');
  const consent = 'simSwapConsent { state }';
  const check = 'simSwapCheck { result reason }';

  expect(await swapped()).toEqual({ simSwappedWithin: false, codes: [] });
  expect(await ask(consent)).toMatchObject({ codes: [] });
  const unavailable = { codes: ['UNAVAILABLE'] };
  await expect.poll(swapped).toEqual({ simSwappedWithin: null, ...unavailable });
  expect(await ask('lastSimSwap')).toMatchObject(unavailable);
  expect(await ask(consent)).toEqual({ simSwapConsent: null, ...unavailable });
  expect(await ask(check)).toMatchObject({
    simSwapCheck: { result: 'UNKNOWN', reason: 'UNAVAILABLE' },
  });
  expect(lookups()).toBe(1);
});

test('a batch shares one context: the end of one operation ends no other, and limits count over all', async () => {
  const { simSwap } = await mounted({ MAX_NUMBERS_PER_OPERATION: 2 });
  const { typeDefs, resolvers } = simSwap;
  const schema = makeExecutableSchema({ typeDefs, resolvers });
  const contextValue = simSwap.context({ caller: ANYONE });
  const about = async (last: number) => {
    const source = `{ phoneNumber(e164: "+44770090050${last}") { simSwappedWithin } }`;
    const { errors = [] } = await graphql({ schema, contextValue, source });
    return errors.map(({ extensions }) => extensions['code']);
  };

  expect(await Promise.all([about(1), about(2)])).toEqual([[], []]);
  expect([await about(1), await about(3)]).toEqual([[], ['LOOKUP_LIMIT_EXCEEDED']]);
});

describe('BATCH_SCOPE', () => {
  const TWO = '{ customers(count: 2) { phone { simSwappedWithin lastSimSwap } } }';
  const scoped = { ...ANYONE, scopes: ['openid', 'sim-swap:batch'] };

  test.each([
    ['is not set', undefined, ANYONE, 0],
    ['is a scope of the caller', 'sim-swap:batch', scoped, 0],
    ['is not a scope of the caller', 'sim-swap:batch', { ...ANYONE, scopes: ['openid'] }, 2],
    ['is set, and the caller has no scopes', 'sim-swap:batch', ANYONE, 2],
  ])('%s', async (_name, scope, caller, refused) => {
    const { ask, lookups } = await mounted(scope === undefined ? {} : { BATCH_SCOPE: scope });

    const { codes } = await ask(TWO, caller);

    expect(codes).toEqual(Array.from({ length: refused }, () => 'FORBIDDEN'));
    expect(lookups()).toBe(refused === 0 ? 2 : 1);
    // One number is queried as before.
    const one = await ask('{ customers(count: 1) { phone { lastSimSwap } } }', caller);
    expect(one.codes).toEqual([]);
  });
});

describe('a reply beyond the limit of the service is refused', () => {
  const long = 'a'.repeat(90_000);
  const lines = Array.from({ length: 100 }, (_, i) => `"+447700900${500 + i}"`).join();
  const ofLines = `phoneNumbers(e164s: [${lines}])`;
  const refused = 'simSwappedWithin(maxAgeHours: 0)';
  const many = Array.from({ length: 3000 }, (_, i) => `f${i}: ${refused}`).join(' ');
  const bad = '{ __typename: "PhoneNumber", e164: "x" } '.repeat(1000);

  test.each([
    ['one long alias', `${ofLines} { ${long}: simSwappedWithin } }`],
    [
      'one long alias, in a fragment',
      `${ofLines} { ...F } } fragment F on PhoneNumber { ${long}: e164 }`,
    ],
    ['one long alias, below a check', `${ofLines} { simSwapCheck { ${long}: result } } }`],
    [
      'one long alias, by fields of the other program',
      `customers(count: 100) { phone { ${long}: ${refused} } } }`,
    ],
    [
      'one long alias of `__typename`, by fields of the other program',
      `phoneNumber(e164: "x") { e164 } customers(count: 100) { phone { ${long}: __typename } } }`,
    ],
    ['many short aliases, each of which fails', `${ofLines} { ${many} } }`],
    [
      'the path of each error',
      `${long}: phoneNumbers(e164s: [${'"x", '.repeat(5000)}]) { e164 } }`,
    ],
    [
      'the paths of representations',
      `${long}: _entities(representations: [${bad}]) { ... on PhoneNumber { e164 } } }`,
    ],
  ])('%s', async (_name, query) => {
    const { ask } = await mounted({ ROLE: query.includes('_entities') ? 'subgraph' : 'bff' });

    const { data, errors, codes } = await ask(`{ ${query}`);

    expect(codes).toContain('LOOKUP_LIMIT_EXCEEDED');
    // What is refused costs its place and an error for each number.
    expect(Buffer.byteLength(JSON.stringify({ data, errors }))).toBeLessThan(2_500_000);
  });

  test('and everything about a hundred numbers fits', async () => {
    const { ask } = await mounted();
    const { codes } = await ask(
      `{ ${ofLines} {
        e164 lastSimSwap day: simSwappedWithin(maxAgeHours: 24) simSwappedWithin
        simSwapCheck { result windowHours reason retryAfterSeconds expiresAt maxAgeHours asOf }
        simSwapConsent { state retryAfterSeconds expiresAt }
      } }`,
    );
    expect(codes).toEqual([]);
  });
});

test('as an entity it is beside other entities of a subgraph', async () => {
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

type Reference = (...args: unknown[]) => unknown;

test.each<[string, (context: unknown, info: unknown) => unknown[]]>([
  ['context, info: Apollo', (context, info) => [context, info]],
  ['args, context, info: Mercurius', (context, info) => [{}, context, info]],
])('a reference resolver is called with reference, %s', async (_name, others) => {
  const { simSwap, lookups } = await mounted({ ROLE: 'subgraph' });
  const { PhoneNumber } = simSwap.resolvers as Record<string, Record<string, Reference>>;
  const Query = {
    one: (_root: unknown, { e164 }: object & { e164?: string }, context: unknown, info: unknown) =>
      PhoneNumber?.['__resolveReference']?.(
        { __typename: 'PhoneNumber', e164 },
        ...others(context, info),
      ),
  };
  const [typeDefs] = simSwap.typeDefs;
  const schema = buildSubgraphSchema([
    { typeDefs: typeDefs as DocumentNode, resolvers: simSwap.resolvers as never },
    {
      typeDefs: parse('type Query { one(e164: ID!): PhoneNumber }'),
      resolvers: { Query } as never,
    },
  ]);

  const { data, errors = [] } = await graphql({
    schema,
    source:
      '{ known: one(e164: "+447700900001") { simSwappedWithin } bad: one(e164: "07700") { e164 } }',
    contextValue: simSwap.context({ caller: ANYONE, correlator: 'ticket-4711' }),
  });

  expect(data).toEqual({ known: { simSwappedWithin: true }, bad: null });
  expect(errors.map(({ extensions }) => extensions)).toEqual([
    { code: 'BAD_USER_INPUT', correlator: expect.stringMatching(/^ticket-4711-\w{12}$/) as string },
  ]);
  expect(lookups()).toBe(1);
});

test.each([
  [{ caller: { ...OWNER, ownNumber: '07700 900004' } }, "The caller's own number is not valid."],
  [{ caller: { ...OWNER, subject: '' } }, 'caller.subject must be a text that is not empty'],
  [
    { caller: { ...ANYONE, scopes: 'sim-swap:batch' as never } },
    'caller.scopes must be a list of texts.',
  ],
  [{ caller: { ...OWNER, ownNumber: null as never } }, 'caller.ownNumber must be a phone number'],
  [{ caller: ANYONE, correlator: ['a', 'b'] as never }, 'correlator must be a text.'],
  [{ caller: ANYONE, purpose: 'marketing' }, 'The purpose is not one of PURPOSES.'],
])('a context for %j is refused', async (request, message) => {
  const { simSwap } = await mounted();
  expect(() => simSwap.context(request)).toThrow(message);
});

test('an answer counts as delivered once no field of the request is open: a host replies with all of them', async () => {
  const { simSwap, prompts } = await mounted({ OPERATOR_FLOW: '3-legged', KEEP_FACTS_SECONDS: 0 });
  const { promise: oneEnded, resolve: end } = Promise.withResolvers<void>();
  const { typeDefs, resolvers } = simSwap;
  const PhoneNumber = {
    ...Object(resolvers['PhoneNumber']),
    async simSwappedWithin(...call: readonly unknown[]): Promise<unknown> {
      const answer: unknown = await Reflect.apply(
        Object(resolvers['PhoneNumber'])['simSwappedWithin'],
        undefined,
        call,
      );
      end();
      return answer;
    },
  };
  const schema = makeExecutableSchema({
    typeDefs: [...typeDefs],
    resolvers: { ...resolvers, PhoneNumber },
  });
  const hangUp = new AbortController();
  const ask = (source: string, signal?: AbortSignal) =>
    graphql({
      schema,
      source,
      contextValue: simSwap.context({ caller: ANYONE, ...(signal && { signal }) }),
    });

  const fast = 'fast: phoneNumber(e164: "+447700900002") { simSwappedWithin }';
  // Its lookups take two seconds.
  const slow = 'slow: phoneNumber(e164: "+447700900015") { simSwappedWithin }';
  const asked = ask(`{ ${fast} ${slow} }`, hangUp.signal);
  await oneEnded;
  hangUp.abort();
  await asked;
  const before = prompts();
  expect(await ask(`{ ${fast} }`)).toMatchObject({ data: { fast: { simSwappedWithin: true } } });
  expect(prompts()).toBe(before);
});

const WINDOW = '{ simSwappedWithin(maxAgeHours: 24) }';

async function subscribed(simSwap: SimSwapSubgraph, schema: GraphQLSchema, fields: string) {
  const events = await subscribe({
    schema,
    document: parse(`subscription { ${fields} }`),
    contextValue: simSwap.context({ caller: ANYONE }),
  });
  if (!(Symbol.asyncIterator in events)) throw new Error('The subscription was refused.');
  return events;
}

/** Two events about each of twelve numbers. */
async function* phoneEvents() {
  for (let event = 0; event < 24; event += 1) {
    yield await Promise.resolve({ phone: { e164: numbered(Math.floor(event / 2)) } });
  }
}

test('each event of a subscription is a request of its own, not answered by what an earlier one learned', async () => {
  await using operator = await WiredOperator.start();
  await using simSwap = await createSimSwapSubgraph({
    settings: { ...operator.settings, MAX_NUMBERS_PER_OPERATION: 5 },
  });
  const { typeDefs, resolvers } = simSwap;
  const schema = makeExecutableSchema({
    typeDefs: [...typeDefs, 'type Subscription { phone: PhoneNumber }'],
    resolvers: { ...resolvers, Subscription: { phone: { subscribe: phoneEvents } } },
  });
  const events = await subscribed(simSwap, schema, `phone ${WINDOW}`);
  const answers: ExecutionResult[] = [];
  for await (const event of events) {
    answers.push(event);
    const swapped = answers.length % 2 === 1;
    operator.script = { lookUp: replying({ swapped }) };
  }
  // Each SIM is swapped between the two events about it.
  expect(answers.map(({ data }) => Object(data?.['phone']).simSwappedWithin as unknown)).toEqual(
    Array.from({ length: 24 }, (_, event) => event % 2 === 1),
  );
});

test('all fields of an event are one request, however late they begin', async () => {
  await using operator = await WiredOperator.start();
  await using simSwap = await createSimSwapSubgraph({
    settings: { ...operator.settings, MAX_NUMBERS_PER_OPERATION: 1 },
  });
  const { typeDefs, resolvers } = simSwap;
  const schema = makeExecutableSchema({
    typeDefs: [
      ...typeDefs,
      'type Call { from: PhoneNumber to: PhoneNumber } type Subscription { call: Call }',
    ],
    resolvers: {
      ...resolvers,
      Call: { from: () => ({ e164: numbered(0) }), to: lateNumber },
      Subscription: { call: { subscribe: calls } },
    },
  });
  const events = await subscribed(simSwap, schema, `call { from ${WINDOW} to ${WINDOW} }`);
  for await (const { errors = [] } of events) {
    expect(errors.map(({ path, extensions }) => [path, extensions['code']])).toEqual([
      [['call', 'to', 'simSwappedWithin'], 'LOOKUP_LIMIT_EXCEEDED'],
    ]);
  }
});

async function* calls() {
  for (let event = 0; event < 2; event += 1) yield await Promise.resolve({ call: {} });
}

async function lateNumber() {
  // The first number is answered by then.
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
  return { e164: numbered(1) };
}
