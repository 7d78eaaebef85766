// oxlint-disable-next-line import/no-unassigned-import -- NestJS reads what it sets
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import { makeExecutableSchema, mergeSchemas } from '@graphql-tools/schema';
import { stitchSchemas } from '@graphql-tools/stitch';
import { getRequestListener } from '@hono/node-server';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import SchemaBuilder from '@pothos/core';
import express from 'express';
import { fastify } from 'fastify';
import { graphql, GraphQLError, parse, print, type GraphQLSchema } from 'graphql';
// @ts-expect-error -- its declarations are not among its exports
import { createApplication, createModule } from 'graphql-modules';
import { createYoga } from 'graphql-yoga';
import { Hono } from 'hono';
import { mercurius } from 'mercurius';
import { startSimulator } from '../simulator/simulator.ts';
import { createSimSwapSubgraph, maskError, type SimSwapSubgraph } from '../src/library/subgraph.ts';
import { listen } from '../test/listening.ts';
import { settingsFor } from '../test/service.ts';
import { askAt, findingsIn, type Body } from './answers.ts';
import { ACCOUNTS, ACCOUNTS_RESOLVERS, QUERY } from './graph.ts';
import { finding, versionsOf, type Finding, type Judge } from './judge.ts';

/** A mounted graph, and the context of a request to it. */
interface Mounted {
  readonly simSwap: SimSwapSubgraph;
  readonly schema: GraphQLSchema;
  readonly context: () => ReturnType<SimSwapSubgraph['context']>;
}

/** A GraphQL server by the packages that it is. */
interface GraphqlServer {
  readonly packages: readonly string[];
  readonly ask: (mounted: Mounted, query: string) => Promise<Body>;
}

const OWN = ACCOUNTS.replace('type Query', 'extend type Query');
const formatError = (_formatted: unknown, error: unknown) => maskError(error).toJSON();
const masked = ({ data, errors }: { data?: unknown; errors?: readonly unknown[] }): Body =>
  JSON.parse(JSON.stringify({ data, errors: errors?.map(maskError) })) as Body;

const SERVERS: Readonly<Record<string, GraphqlServer>> = {
  'Apollo Server on Express': {
    packages: ['@apollo/server', '@as-integrations/express5', 'express'],
    async ask({ schema, context }, query) {
      const apollo = new ApolloServer({ schema, formatError, stopOnTerminationSignals: false });
      await apollo.start();
      const handler = expressMiddleware(apollo, { context: async () => context() });
      const app = express().use('/graphql', express.json(), handler);
      return thenStop(askListener(app, query), () => apollo.stop());
    },
  },
  'Apollo Server on Fastify': {
    packages: ['@apollo/server', '@as-integrations/fastify', 'fastify'],
    async ask({ schema, context }, query) {
      const apollo = new ApolloServer({ schema, formatError, stopOnTerminationSignals: false });
      await apollo.start();
      const app = fastify();
      app.post('/graphql', fastifyApolloHandler(apollo, { context: async () => context() }));
      const url = await app.listen({ port: 0, host: '127.0.0.1' });
      return thenStop(askAt(`${url}/graphql`, query), () =>
        Promise.all([app.close(), apollo.stop()]),
      );
    },
  },
  'GraphQL Yoga on Node': {
    packages: ['graphql-yoga'],
    ask: (mounted, query) =>
      askListener((request, response) => void yogaOf(mounted)(request, response), query),
  },
  'GraphQL Yoga on Hono': {
    packages: ['graphql-yoga', 'hono', '@hono/node-server'],
    ask(mounted, query) {
      const yoga = yogaOf(mounted);
      const app = new Hono().post('/graphql', (context) => yoga.fetch(context.req.raw));
      const listener = getRequestListener(app.fetch);
      return askListener((request, response) => void listener(request, response), query);
    },
  },
  Mercurius: {
    packages: ['mercurius', 'fastify'],
    async ask({ schema, context }, query) {
      const app = fastify();
      await app.register(mercurius, {
        schema,
        context,
        errorFormatter: ({ data, errors }) => ({
          statusCode: 200,
          response: { data: data ?? null, errors: (errors ?? []).map(maskError) },
        }),
      });
      const url = await app.listen({ port: 0, host: '127.0.0.1' });
      return thenStop(askAt(`${url}/graphql`, query), () => app.close());
    },
  },
  NestJS: {
    packages: ['@nestjs/graphql', '@nestjs/apollo', '@nestjs/core'],
    async ask({ simSwap, context }, query) {
      // oxlint-disable-next-line typescript/no-extraneous-class -- a dynamic module has its imports beside it
      class App {}
      const app = await NestFactory.create(
        {
          module: App,
          imports: [
            GraphQLModule.forRoot<ApolloDriverConfig>({
              driver: ApolloDriver,
              typeDefs: [...simSwap.typeDefs.map(print), OWN],
              resolvers: [simSwap.resolvers, ACCOUNTS_RESOLVERS],
              context,
              formatError,
              graphiql: false,
              stopOnTerminationSignals: false,
            }),
          ],
        },
        { logger: false },
      );
      await app.listen(0, '127.0.0.1');
      return thenStop(askAt(`${await app.getUrl()}/graphql`, query), () => app.close());
    },
  },
  'GraphQL Modules': {
    packages: ['graphql-modules'],
    async ask({ simSwap, context }, query) {
      const application = createApplication({
        modules: [
          createModule({
            id: 'sim-swap',
            typeDefs: simSwap.typeDefs,
            resolvers: [simSwap.resolvers],
          }),
          createModule({
            id: 'accounts',
            typeDefs: parse(OWN),
            resolvers: [ACCOUNTS_RESOLVERS],
          }),
        ],
      });
      const schema = application.createSchemaForApollo();
      return masked(await graphql({ schema, source: query, contextValue: context() }));
    },
  },
  'Pothos, merged by schema tools': {
    packages: ['@pothos/core', '@graphql-tools/schema'],
    async ask({ simSwap, context }, query) {
      const builder = new SchemaBuilder({});
      builder.queryType({ fields: (t) => ({ hello: t.string({ resolve: () => 'there' }) }) });
      const schema = mergeSchemas({
        schemas: [builder.toSchema()],
        typeDefs: [...simSwap.typeDefs, parse(OWN)],
        resolvers: [simSwap.resolvers, ACCOUNTS_RESOLVERS],
      });
      return masked(await graphql({ schema, source: query, contextValue: context() }));
    },
  },
  'Schema stitching': {
    packages: ['@graphql-tools/stitch'],
    async ask({ schema, context }, query) {
      const stitched = stitchSchemas({ subschemas: [{ schema }] });
      return masked(await graphql({ schema: stitched, source: query, contextValue: context() }));
    },
  },
  'graphql(), without a server': {
    packages: ['graphql'],
    async ask({ schema, context }, query) {
      return masked(await graphql({ schema, source: query, contextValue: context() }));
    },
  },
};

function yogaOf({ schema, context }: Mounted) {
  return createYoga({
    schema,
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

async function thenStop(asked: Promise<Body>, stop: () => Promise<unknown>): Promise<Body> {
  try {
    return await asked;
  } finally {
    await stop();
  }
}

async function askListener(listener: RequestListener, query: string): Promise<Body> {
  const server: Server = createServer(listener);
  const url = await listen(server);
  try {
    return await askAt(`${url}/graphql`, query);
  } finally {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
}

export const SERVER_JUDGES: readonly Judge[] = Object.entries(SERVERS).map(([name, server]) => ({
  name,
  version: versionsOf(server.packages),
  form: 'short',
  judge: () => judgeServer(server),
}));

async function judgeServer(server: GraphqlServer): Promise<readonly Finding[]> {
  await using running = new AsyncDisposableStack();
  const simulator = await startSimulator({ port: 0 });
  running.defer(() => simulator.close());
  await using simSwap = await createSimSwapSubgraph({
    settings: {
      ...settingsFor(simulator.authUrl),
      OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
      ROLE: 'bff',
    },
  });
  const mounted: Mounted = {
    simSwap,
    schema: makeExecutableSchema({
      typeDefs: [...simSwap.typeDefs, OWN],
      resolvers: [simSwap.resolvers, ACCOUNTS_RESOLVERS],
    }),
    context: () =>
      simSwap.context({ caller: { issuer: 'i', subject: 's', mayAskAbout: 'anyone' } }),
  };
  const answers = findingsIn(await server.ask(mounted, QUERY));
  const stats = simulator.stats();
  const lookups = stats.lookups + stats.refusedLookups;
  const refused = await server.ask(
    mounted,
    '{ phoneNumber(e164: "+447700900001") { simSwappedWithin(maxAgeHours: "+447700900001") } }',
  );
  const quotes = JSON.stringify(refused).includes('900001');
  return [
    ...answers,
    finding('one lookup a number', lookups === 3, `${lookups}`),
    finding('a number of the wrong type is refused', refused.errors !== undefined, 'no error'),
    finding('quotes no number that it refuses', !quotes, 'it is in the message'),
  ];
}
