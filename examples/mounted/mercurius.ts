import { makeExecutableSchema } from '@graphql-tools/schema';
import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import { createSimSwapSubgraph } from 'sim-swap-subgraph/subgraph';
import { callerOf } from './callers.ts';
import { customerResolvers, customerTypes } from './customers.ts';

const simSwap = await createSimSwapSubgraph({ settings: process.env, log: console });
const { options, hooks } = simSwap.mercurius();

const app = fastify();
await app.register(mercurius, {
  schema: makeExecutableSchema({
    typeDefs: [...simSwap.typeDefs, customerTypes],
    resolvers: [simSwap.resolvers, customerResolvers],
  }),
  context: (request, reply) => {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    return simSwap.context({
      caller: callerOf(request.headers.authorization),
      signal: gone.signal,
    });
  },
  ...options,
});
app.graphql.addHook('preExecution', hooks.preExecution);
app.graphql.addHook('onResolution', hooks.onResolution);

const url = await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT'] ?? 4003) });
process.stdout.write(`Mercurius at ${url}/graphql\n`);

process.once('SIGTERM', () => void app.close().then(() => simSwap.close()));
