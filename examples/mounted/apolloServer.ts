import { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express, { type ErrorRequestHandler } from 'express';
import type { AddressInfo } from 'node:net';
import { createSimSwapSubgraph, maskError, type SimSwapContext } from 'sim-swap-subgraph/subgraph';
import { callerOf } from './callers.ts';
import { customerResolvers, customerTypes } from './customers.ts';

const simSwap = await createSimSwapSubgraph({ settings: process.env, log: console });

const apollo = new ApolloServer<SimSwapContext>({
  typeDefs: [...simSwap.typeDefs, customerTypes],
  resolvers: [simSwap.resolvers, customerResolvers],
  formatError: (_formatted, error) => maskError(error).toJSON(),
  stopOnTerminationSignals: false,
});
await apollo.start();

const graphql = expressMiddleware(apollo, {
  context: async ({ req, res }) => {
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    return simSwap.context({ caller: callerOf(req.headers.authorization), signal: gone.signal });
  },
});

/** Express's message about a body that is not JSON quotes it. */
const refuseBody: ErrorRequestHandler = (_error, _request, response, _next) => {
  response.status(400).json(maskError(undefined));
};

const app = express().use('/graphql', express.json(), graphql, refuseBody);
const server = app.listen(Number(process.env['PORT'] ?? 4001), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`Apollo Server at http://127.0.0.1:${port}/graphql\n`);
});

process.once('SIGTERM', () => {
  server.close(() => void apollo.stop().then(() => simSwap.close()));
});
