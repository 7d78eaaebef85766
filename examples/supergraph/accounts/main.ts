import { readFileSync } from 'node:fs';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { explorerPage } from '../explorerPage.ts';
import { resolvers } from './resolvers.ts';

/** What the explorer opens with. */
const EXAMPLE = '{\n  customers {\n    name\n    phoneNumber {\n      e164\n    }\n  }\n}\n';

const typeDefs = parse(readFileSync(new URL('schema.graphql', import.meta.url), 'utf8'));
const server = new ApolloServer({
  schema: buildSubgraphSchema([{ typeDefs, resolvers }]),
  plugins: [
    {
      serverWillStart: () =>
        Promise.resolve({
          renderLandingPage: () =>
            Promise.resolve({
              html: () =>
                Promise.resolve(explorerPage({ title: 'Accounts', defaultQuery: EXAMPLE })),
            }),
        }),
    },
  ],
});
const { url } = await startStandaloneServer(server, {
  listen: { host: '127.0.0.1', port: Number(process.env['PORT'] ?? 4002) },
});
process.send?.({ url });
