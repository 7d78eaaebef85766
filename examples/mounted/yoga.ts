import type { GraphQLError } from 'graphql';
import { createSchema, createYoga, type Plugin } from 'graphql-yoga';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSimSwapSubgraph, maskError, type SimSwapContext } from 'sim-swap-subgraph/subgraph';
import { callerOf } from './callers.ts';
import { customerResolvers, customerTypes } from './customers.ts';

const simSwap = await createSimSwapSubgraph({ settings: process.env, log: console });

/** Yoga's own `maskedErrors` sees no document that is refused. */
const masking: Plugin = {
  onResultProcess(processing) {
    const { result } = processing;
    if (!('errors' in result) || result.errors === undefined) return;
    processing.setResult({ ...result, errors: (result.errors as GraphQLError[]).map(maskError) });
  },
};

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
  plugins: [masking],
  maskedErrors: false,
  graphiql: false,
  // By default Yoga lets pages of every origin send requests with credentials, and read the replies.
  cors: false,
});

const server = createServer((request, response) => void yoga(request, response));
server.listen(Number(process.env['PORT'] ?? 4002), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`GraphQL Yoga at http://127.0.0.1:${port}/graphql\n`);
});

process.once('SIGTERM', () => {
  server.close(() => void simSwap.close());
});
