// oxlint-disable-next-line import/no-unassigned-import -- NestJS reads what it sets
import 'reflect-metadata';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import type { ArgumentsHost } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import type { Request, Response } from 'express';
import { print } from 'graphql';
import { createSimSwapSubgraph, maskError } from 'sim-swap-subgraph/subgraph';
import { callerOf } from './callers.ts';
import { customerResolvers, customerTypes } from './customers.ts';

const simSwap = await createSimSwapSubgraph({ settings: process.env, log: console });

// A dynamic module: Node runs TypeScript as it is, and takes no decorators.
// oxlint-disable-next-line typescript/no-extraneous-class
class App {}
const app = await NestFactory.create(
  {
    module: App,
    imports: [
      GraphQLModule.forRoot<ApolloDriverConfig>({
        driver: ApolloDriver,
        typeDefs: [...simSwap.typeDefs, customerTypes].map(print),
        resolvers: [simSwap.resolvers, customerResolvers],
        context: ({ req, res }: { req: Request; res: Response }) => {
          const gone = new AbortController();
          res.once('close', () => gone.abort());
          const caller = callerOf(req.headers.authorization);
          return simSwap.context({ caller, signal: gone.signal });
        },
        formatError: (_formatted, error) => maskError(error).toJSON(),
        graphiql: false,
        playground: false,
        stopOnTerminationSignals: false,
      }),
    ],
  },
  { logger: ['error', 'fatal'] },
);

// Express's message about a body that is not JSON quotes it.
app.useGlobalFilters({
  catch: (_error: unknown, host: ArgumentsHost) => {
    host.switchToHttp().getResponse<Response>().status(400).json(maskError(undefined));
  },
});

await app.listen(Number(process.env['PORT'] ?? 4004), '127.0.0.1');
process.stdout.write(`NestJS at ${await app.getUrl()}/graphql\n`);

process.once('SIGTERM', () => void app.close().then(() => simSwap.close()));
