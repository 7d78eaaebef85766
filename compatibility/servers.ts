// oxlint-disable-next-line import/no-unassigned-import -- NestJS reads what it sets
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { expressMiddleware } from '@as-integrations/express5';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import { makeExecutableSchema, mergeSchemas } from '@graphql-tools/schema';
import { stitchSchemas } from '@graphql-tools/stitch';
import { getRequestListener } from '@hono/node-server';
import { mercuriusFederationPlugin } from '@mercuriusjs/federation';
import {
  ApolloDriver,
  ApolloFederationDriver,
  type ApolloDriverConfig,
  type ApolloFederationDriverConfig,
} from '@nestjs/apollo';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import {
  MercuriusDriver,
  MercuriusFederationDriver,
  type MercuriusDriverConfig,
  type MercuriusFederationDriverConfig,
} from '@nestjs/mercurius';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import SchemaBuilder from '@pothos/core';
import express from 'express';
import { fastify, type FastifyInstance } from 'fastify';
import {
  graphql,
  GraphQLError,
  parse,
  print,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
// @ts-expect-error -- its declarations are not among its exports
import { createApplication, createModule } from 'graphql-modules';
import { createSchema, createYoga } from 'graphql-yoga';
import { Hono } from 'hono';
import { mercurius } from 'mercurius';
import { startSimulator } from '../simulator/simulator.ts';
import {
  createSimSwapSubgraph,
  maskError,
  type SimSwapResolvers,
  type SimSwapSubgraph,
} from '../src/library/subgraph.ts';
import { listen } from '../test/support/listening.ts';
import { settingsFor } from '../test/support/service.ts';
import { askAt, findingsIn, type Body } from './answers.ts';
import { COMPOSERS } from './composers.ts';
import { ACCOUNTS, ACCOUNTS_RESOLVERS, CUSTOMERS, QUERY } from './graph.ts';
import { finding, versionsOf, type Finding, type Judge } from './judge.ts';

/** A mounted graph, and the context of a request to it. */
interface Mounted {
  readonly context: () => ReturnType<SimSwapSubgraph['context']>;
  /** Of this package and of the host, for servers that take them apart. */
  readonly typeDefs: readonly DocumentNode[];
  readonly resolvers: readonly SimSwapResolvers[];
}

type Ask = (query: string) => Promise<Body>;

/** A GraphQL server by the packages that it is. */
interface GraphqlServer {
  readonly packages: readonly string[];
  /** Starts it, the graph mounted as the guide of the server says, and its end `deferred`. */
  readonly mount: (mounted: Mounted, deferred: AsyncDisposableStack) => Promise<Ask> | Ask;
}

const formatError = (_formatted: unknown, error: unknown) => maskError(error).toJSON();
/** NestJS's options for a driver of Apollo's. */
const underApollo = ({ typeDefs, context }: Mounted) => ({
  typeDefs: typeDefs.map((one) => print(one)),
  context,
  formatError,
  graphiql: false,
  stopOnTerminationSignals: false,
});
const masked = ({ data, errors }: { data?: unknown; errors?: readonly unknown[] }): Body =>
  JSON.parse(JSON.stringify({ data, errors: errors?.map(maskError) })) as Body;

/** A hundred customers, so that what each of them adds to a reply counts. */
const CROWD = Array.from({ length: 100 }, (_, index) => ({
  id: `c${index}`,
  phoneNumber: { e164: `+447700900${500 + index}` },
}));

const HOST_RESOLVERS = {
  Query: { ...ACCOUNTS_RESOLVERS.Query, crowd: () => CROWD },
};
const HOST_TYPES = `extend ${ACCOUNTS} extend type Query { crowd: [Customer!]! }`;

/** Types of the host, and their resolvers; in a subgraph its customers are an entity as well. */
const HOST: Readonly<Record<Role, readonly [DocumentNode, SimSwapResolvers]>> = {
  bff: [parse(HOST_TYPES), HOST_RESOLVERS],
  subgraph: [
    parse(HOST_TYPES.replace('type Customer', 'type Customer @key(fields: "id")')),
    {
      ...HOST_RESOLVERS,
      Customer: {
        __resolveReference: ({ id }: { id: string }) => CUSTOMERS.find((one) => one.id === id),
      },
    },
  ],
};

/** The graph of `ROLE=bff`. */
const HOSTS: Readonly<Record<string, GraphqlServer>> = {
  'Apollo Server, standalone': {
    packages: ['@apollo/server'],
    async mount({ typeDefs, resolvers, context }, deferred) {
      const apollo = new ApolloServer({
        typeDefs: [...typeDefs],
        resolvers: [...resolvers],
        formatError,
        stopOnTerminationSignals: false,
      });
      return standalone(apollo, context, deferred);
    },
  },
  'Apollo Server on Express': {
    packages: ['@apollo/server', '@as-integrations/express5', 'express'],
    async mount(mounted, deferred) {
      const apollo = await startApollo(mounted, deferred);
      const { context } = mounted;
      const handler = expressMiddleware(apollo, { context: async () => context() });
      return listening(express().use('/graphql', express.json(), handler), deferred);
    },
  },
  'Apollo Server on Fastify': {
    packages: ['@apollo/server', '@as-integrations/fastify', 'fastify'],
    async mount(mounted, deferred) {
      const apollo = await startApollo(mounted, deferred);
      const { context } = mounted;
      const app = fastify();
      app.post('/graphql', fastifyApolloHandler(apollo, { context: async () => context() }));
      return onFastify(app, deferred);
    },
  },
  'GraphQL Yoga on Node': {
    packages: ['graphql-yoga'],
    mount: (mounted, deferred) => {
      const yoga = yogaOf(mounted);
      return listening((request, response) => void yoga(request, response), deferred);
    },
  },
  'GraphQL Yoga on Hono': {
    packages: ['graphql-yoga', 'hono', '@hono/node-server'],
    mount(mounted, deferred) {
      const yoga = yogaOf(mounted);
      const app = new Hono().post('/graphql', (context) => yoga.fetch(context.req.raw));
      const listener = getRequestListener(app.fetch);
      return listening((request, response) => void listener(request, response), deferred);
    },
  },
  Mercurius: {
    packages: ['mercurius', 'fastify'],
    async mount({ typeDefs, resolvers, context }, deferred) {
      const app = fastify();
      await app.register(mercurius, {
        schema: typeDefs.map(print).join('\n'),
        resolvers: oneOf(resolvers),
        context,
        errorFormatter,
      });
      return onFastify(app, deferred);
    },
  },
  'NestJS with Apollo': {
    packages: ['@nestjs/graphql', '@nestjs/apollo', '@nestjs/core', '@nestjs/platform-express'],
    mount: (mounted, deferred) =>
      nest(
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          resolvers: [...mounted.resolvers],
          ...underApollo(mounted),
        }),
        new ExpressAdapter(),
        deferred,
      ),
  },
  'NestJS with Mercurius': {
    packages: ['@nestjs/graphql', '@nestjs/mercurius', 'mercurius', '@nestjs/platform-fastify'],
    mount: ({ typeDefs, resolvers, context }, deferred) =>
      nest(
        GraphQLModule.forRoot<MercuriusDriverConfig>({
          driver: MercuriusDriver,
          typeDefs: typeDefs.map(print),
          resolvers: oneOf(resolvers),
          context,
          errorFormatter,
        }),
        new FastifyAdapter(),
        deferred,
      ),
  },
  'GraphQL Modules': {
    packages: ['graphql-modules'],
    mount({ typeDefs, resolvers, context }) {
      const application = createApplication({
        modules: typeDefs.map((types, index) =>
          createModule({ id: `${index}`, typeDefs: types, resolvers: [resolvers[index]] }),
        ),
      });
      return executing(application.createSchemaForApollo(), context);
    },
  },
  'Pothos, merged by schema tools': {
    packages: ['@pothos/core', '@graphql-tools/schema'],
    mount({ typeDefs, resolvers, context }) {
      const builder = new SchemaBuilder({});
      builder.queryType({ fields: (t) => ({ hello: t.string({ resolve: () => 'there' }) }) });
      const schemas = [builder.toSchema()];
      const schema = mergeSchemas({ schemas, typeDefs: [...typeDefs], resolvers: [...resolvers] });
      return executing(schema, context);
    },
  },
  'Schema stitching': {
    packages: ['@graphql-tools/stitch'],
    mount: (mounted) =>
      executing(stitchSchemas({ subschemas: [{ schema: schemaOf(mounted) }] }), mounted.context),
  },
  'graphql(), without a server': {
    packages: ['graphql'],
    mount: (mounted) => executing(schemaOf(mounted), mounted.context),
  },
};

/** The entity, of `ROLE=subgraph`, beside one of the host. */
const SUBGRAPHS: Readonly<Record<string, GraphqlServer>> = {
  'Apollo Server, standalone': {
    packages: ['@apollo/server', '@apollo/subgraph'],
    async mount({ typeDefs, resolvers, context }, deferred) {
      const schema = buildSubgraphSchema(
        typeDefs.map((types, index) => ({
          typeDefs: types,
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its type for resolvers is narrower than what it takes
          resolvers: resolvers[index] as never,
        })),
      );
      const apollo = new ApolloServer({ schema, formatError, stopOnTerminationSignals: false });
      return standalone(apollo, context, deferred);
    },
  },
  '@mercuriusjs/federation': {
    packages: ['@mercuriusjs/federation', 'mercurius', 'fastify'],
    async mount({ typeDefs, resolvers, context }, deferred) {
      const app = fastify();
      await app.register(mercuriusFederationPlugin, {
        schema: typeDefs.map(print).join('\n'),
        resolvers: oneOf(resolvers),
        context,
        errorFormatter,
      });
      return onFastify(app, deferred);
    },
  },
  'NestJS with Apollo': {
    packages: ['@nestjs/graphql', '@nestjs/apollo', '@apollo/subgraph'],
    mount: (mounted, deferred) =>
      nest(
        GraphQLModule.forRoot<ApolloFederationDriverConfig>({
          driver: ApolloFederationDriver,
          resolvers: oneOf(mounted.resolvers),
          ...underApollo(mounted),
        }),
        new ExpressAdapter(),
        deferred,
      ),
  },
  'NestJS with Mercurius': {
    packages: ['@nestjs/graphql', '@nestjs/mercurius', 'mercurius', '@apollo/subgraph'],
    mount: ({ typeDefs, resolvers, context }, deferred) =>
      nest(
        GraphQLModule.forRoot<MercuriusFederationDriverConfig>({
          driver: MercuriusFederationDriver,
          typeDefs: typeDefs.map(print),
          resolvers: oneOf(resolvers),
          context,
          errorFormatter,
        }),
        new FastifyAdapter(),
        deferred,
      ),
  },
};

/** For servers that take one object: their types, and the root fields of both. */
function oneOf(resolvers: readonly SimSwapResolvers[]): SimSwapResolvers {
  const Query = Object.assign({}, ...resolvers.map((one) => one['Query']));
  return Object.assign({}, ...resolvers, { Query });
}

/** Mercurius puts all that fails before execution into one error. */
function errorFormatter({ data, errors = [] }: ExecutionResult) {
  const each = errors.flatMap((error) => {
    const { errors: wrapped = [error] } = (error.originalError ?? {}) as { errors?: unknown[] };
    return wrapped;
  });
  return { statusCode: 200, response: { data: data ?? null, errors: each.map(maskError) } };
}

function schemaOf({ typeDefs, resolvers }: Mounted): GraphQLSchema {
  return makeExecutableSchema({ typeDefs: [...typeDefs], resolvers: [...resolvers] });
}

function executing(schema: GraphQLSchema, context: Mounted['context']): Ask {
  return async (source) => masked(await graphql({ schema, source, contextValue: context() }));
}

async function startApollo({ typeDefs, resolvers }: Mounted, deferred: AsyncDisposableStack) {
  const apollo = new ApolloServer({
    typeDefs: [...typeDefs],
    resolvers: [...resolvers],
    formatError,
    stopOnTerminationSignals: false,
  });
  await apollo.start();
  deferred.defer(() => apollo.stop());
  return apollo;
}

async function standalone(
  apollo: ApolloServer,
  context: Mounted['context'],
  deferred: AsyncDisposableStack,
): Promise<Ask> {
  deferred.defer(() => apollo.stop());
  const free = { port: 0, host: '127.0.0.1' };
  const { url } = await startStandaloneServer(apollo, {
    listen: free,
    context: async () => context(),
  });
  return (query) => askAt(url, query);
}

function yogaOf({ typeDefs, resolvers, context }: Mounted) {
  return createYoga({
    schema: createSchema({ typeDefs: [...typeDefs], resolvers: [...resolvers] }),
    context,
    logging: false,
    maskedErrors: false,
    plugins: [
      {
        onResultProcess(processing) {
          const { result } = processing;
          if (!('errors' in result) || result.errors === undefined) return;
          processing.setResult({
            ...result,
            errors: (result.errors as GraphQLError[]).map(maskError),
          });
        },
      },
    ],
  });
}

async function nest(
  graphqlModule: DynamicModule,
  adapter: AbstractHttpAdapter,
  deferred: AsyncDisposableStack,
): Promise<Ask> {
  // oxlint-disable-next-line typescript/no-extraneous-class -- a dynamic module has its imports beside it
  class App {}
  const app = await NestFactory.create({ module: App, imports: [graphqlModule] }, adapter, {
    logger: false,
    abortOnError: false,
  });
  deferred.defer(() => app.close());
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return (query) => askAt(`${url}/graphql`, query);
}

async function onFastify(app: FastifyInstance, deferred: AsyncDisposableStack): Promise<Ask> {
  deferred.defer(() => app.close());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return (query) => askAt(`${url}/graphql`, query);
}

async function listening(listener: RequestListener, deferred: AsyncDisposableStack): Promise<Ask> {
  const server = createServer(listener);
  const url = await listen(server);
  deferred.defer(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  return (query) => askAt(`${url}/graphql`, query);
}

/** A reply of one server to one query, and how often the operator was called for it. */
interface Asked {
  readonly body: Body;
  readonly lookups: number;
}

/** What a client relies on in any server: a query, and what is found in its reply. */
interface Check {
  readonly query: string;
  readonly findings: (asked: Asked) => readonly Finding[];
}

const LONG = 'a'.repeat(30_000);

/** A reply has 2 MB at most. */
const MAX_REPLY_CHARACTERS = 2_500_000;

function isBounded(about: string, { body }: Asked): readonly Finding[] {
  const { length } = JSON.stringify(body);
  return [finding(about, length < MAX_REPLY_CHARACTERS, `a reply of ${length} characters`)];
}

const BOUNDS: readonly Check[] = [
  {
    query: `{ phoneNumber(e164: "x") { e164 } crowd { phoneNumber { ${LONG}: __typename } } }`,
    findings: (asked) => isBounded('aliases of `__typename` are counted', asked),
  },
  {
    query: `{ crowd { phoneNumber { ${LONG}: simSwappedWithin(maxAgeHours: 0) } } }`,
    findings: (asked) => isBounded('aliases of a field are counted', asked),
  },
];

const AS_BFF: readonly Check[] = [
  {
    query: QUERY,
    findings: ({ body, lookups }) => [
      ...findingsIn(body),
      finding('one lookup a number', lookups === 3, `${lookups}`),
    ],
  },
  {
    query:
      '{ phoneNumber(e164: "+447700900001") { simSwappedWithin(maxAgeHours: "+447700900001") } }',
    findings({ body }) {
      const quotes = JSON.stringify(body).includes('900001');
      return [
        finding('a number of the wrong type is refused', body.errors !== undefined, 'no error'),
        finding('quotes no number that it refuses', !quotes, 'it is in the message'),
      ];
    },
  },
  ...BOUNDS,
];

const ENTITIES = `{ _entities(representations: [
  { __typename: "PhoneNumber", e164: "+447700900002" }
  { __typename: "Customer", id: "2" }
  { __typename: "PhoneNumber", e164: "+447700900010" }
  { __typename: "PhoneNumber", e164: "07700 900001" }
]) {
  ... on PhoneNumber { simSwappedWithin }
  ... on Customer { phoneNumber { simSwappedWithin } }
} }`;

const ANSWERED = JSON.stringify([
  { simSwappedWithin: true },
  { phoneNumber: { simSwappedWithin: false } },
  { simSwappedWithin: null },
  null,
]);

const AS_SUBGRAPH: readonly Check[] = [
  {
    query: ENTITIES,
    findings({ body: { data, errors = [] }, lookups }) {
      const { _entities: answers } = (data ?? {}) as { _entities?: unknown };
      const answered = JSON.stringify(answers) ?? 'nothing';
      const codes = errors.map(({ path = [], extensions = {} }) =>
        [extensions['code'], path[1]].join(' '),
      );
      const failed = codes.toSorted().join();
      return [
        finding('numbers and another entity are answered', answered === ANSWERED, answered),
        finding(
          'each error is at its number',
          failed === 'BAD_USER_INPUT 3,NUMBER_NOT_SERVED 2',
          failed,
        ),
        finding('one lookup a number', lookups === 3, `${lookups}`),
      ];
    },
  },
  {
    query: '{ _service { sdl } }',
    findings({ body }) {
      const { _service: service } = (body.data ?? {}) as { _service?: { sdl: string } };
      const one = { name: 'sim-swap', url: 'http://127.0.0.1/', sdl: service?.sdl ?? '' };
      const { errors } = COMPOSERS['The Guild (Hive)'].compose([one]);
      return [finding('its SDL composes', errors.length === 0, errors.join(' '))];
    },
  },
  ...BOUNDS,
];

type Role = 'bff' | 'subgraph';

export const SERVER_JUDGES: readonly Judge[] = [
  ...judgesOf(HOSTS, 'bff', AS_BFF),
  ...judgesOf(SUBGRAPHS, 'subgraph', AS_SUBGRAPH),
];

function judgesOf(
  servers: Readonly<Record<string, GraphqlServer>>,
  role: Role,
  checks: readonly Check[],
): readonly Judge[] {
  return Object.entries(servers).map(([name, server]) => ({
    name: role === 'bff' ? name : `${name}, as a subgraph`,
    version: versionsOf(server.packages),
    form: 'short',
    judge: () => judgeServer(server, role, checks),
  }));
}

async function judgeServer(
  server: GraphqlServer,
  role: Role,
  checks: readonly Check[],
): Promise<readonly Finding[]> {
  await using running = new AsyncDisposableStack();
  const simulator = await startSimulator({ port: 0 });
  running.defer(() => simulator.close());
  await using simSwap = await createSimSwapSubgraph({
    settings: {
      ...settingsFor(simulator.authUrl),
      OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
      ROLE: role,
    },
  });
  await using deferred = new AsyncDisposableStack();
  const [types, resolvers] = HOST[role];
  const mounted: Mounted = {
    typeDefs: [...simSwap.typeDefs, types],
    resolvers: [simSwap.resolvers, resolvers],
    context: () =>
      simSwap.context({ caller: { issuer: 'i', subject: 's', mayAskAbout: 'anyone' } }),
  };
  const ask = await server.mount(mounted, deferred);
  const found: Finding[] = [];
  let before = 0;
  for (const { query, findings } of checks) {
    const body = await ask(query);
    const { lookups, refusedLookups } = simulator.stats();
    const made = lookups + refusedLookups;
    found.push(...findings({ body, lookups: made - before }));
    before = made;
  }
  return found;
}
