import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { createSimSwapSubgraph, type SimSwapContext } from 'sim-swap-subgraph/subgraph';
import { callerOf } from './callers.ts';
import { customerResolvers, customerTypes } from './customers.ts';

const simSwap = await createSimSwapSubgraph({ settings: process.env, log: console });

const server = new ApolloServer<SimSwapContext>({
  typeDefs: [...simSwap.typeDefs, customerTypes],
  resolvers: [simSwap.resolvers, customerResolvers],
  ...simSwap.apolloServer(),
  stopOnTerminationSignals: false,
});

const { url } = await startStandaloneServer(server, {
  listen: { host: '127.0.0.1', port: Number(process.env['PORT'] ?? 4001) },
  context: async ({ req, res }) => {
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    return simSwap.context({ caller: callerOf(req.headers.authorization), signal: gone.signal });
  },
});
process.stdout.write(`Apollo Server at ${url}\n`);

process.once('SIGTERM', () => void server.stop().then(() => simSwap.close()));
