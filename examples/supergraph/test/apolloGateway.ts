import { readFileSync } from 'node:fs';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';

/** The headers that go on to every subgraph; no other does. */
const PASSED = ['authorization', 'x-correlator'];

interface Context {
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

// Apollo's gateway in front of the supergraph that SUPERGRAPH names.
const gateway = new ApolloGateway({
  supergraphSdl: readFileSync(process.env['SUPERGRAPH'] ?? '', 'utf8'),
  buildService: ({ url = '' }) =>
    new RemoteGraphQLDataSource<Context>({
      url,
      willSendRequest({ request, context }) {
        for (const name of PASSED) {
          const value = context.headers?.[name];
          if (typeof value === 'string') request.http?.headers.set(name, value);
        }
      },
    }),
});
const server = new ApolloServer<Context>({ gateway });
const { url } = await startStandaloneServer(server, {
  listen: { host: '127.0.0.1', port: 0 },
  context: ({ req }) => Promise.resolve({ headers: req.headers }),
});
process.send?.({ url });
process.once('SIGTERM', () => void server.stop());
