import { makeExecutableSchema } from '@graphql-tools/schema';
import { fastify } from 'fastify';
import type { ExecutionResult } from 'graphql';
import { mercurius } from 'mercurius';
import { createSimSwapSubgraph, maskError } from 'sim-swap-subgraph/subgraph';
import { callerOf } from './callers.ts';
import { customerResolvers, customerTypes } from './customers.ts';

const simSwap = await createSimSwapSubgraph({ settings: process.env, log: console });

/** Mercurius wraps all that fails before execution in one error. */
function maskedErrors({ errors = [] }: ExecutionResult) {
  return errors.flatMap((error) => {
    const { errors: wrapped = [error] } = (error.originalError ?? {}) as { errors?: unknown[] };
    return wrapped.map(maskError);
  });
}

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
  errorFormatter: (execution) => ({
    statusCode: execution.data === undefined ? 400 : 200,
    response: { data: execution.data ?? null, errors: maskedErrors(execution) },
  }),
  // It compiles documents, and what callers write must not become code.
  jit: 0,
});

const url = await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT'] ?? 4003) });
process.stdout.write(`Mercurius at ${url}/graphql\n`);

process.once('SIGTERM', () => void app.close().then(() => simSwap.close()));
