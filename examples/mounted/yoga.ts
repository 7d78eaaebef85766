import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSchema, createYoga } from 'graphql-yoga';
import { createSimSwapSubgraph, type SimSwapContext } from 'sim-swap-subgraph/subgraph';
import { callerOf } from './callers.ts';
import { customerResolvers, customerTypes } from './customers.ts';

const simSwap = await createSimSwapSubgraph({ settings: process.env, log: console });

const yoga = createYoga({
  schema: createSchema<SimSwapContext>({
    typeDefs: [...simSwap.typeDefs, customerTypes],
    resolvers: [simSwap.resolvers, customerResolvers],
  }),
  context: ({ request }) =>
    simSwap.context({
      caller: callerOf(request.headers.get('authorization') ?? undefined),
      signal: request.signal,
    }),
  graphiql: false,
  ...simSwap.yoga(),
});

const server = createServer((request, response) => void yoga(request, response));
server.listen(Number(process.env['PORT'] ?? 4002), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`GraphQL Yoga at http://127.0.0.1:${port}/graphql\n`);
});

process.once('SIGTERM', () => {
  server.close(() => void simSwap.close());
});
