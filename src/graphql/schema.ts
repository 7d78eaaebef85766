import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import { bffResolvers, subgraphResolvers } from './resolvers.ts';

/** `bff`: root fields for apps; `subgraph`: the entity, for a router. */
export type Role = 'bff' | 'subgraph';

/** The schema of a role, from the SDL in `schema/`. */
export function createSchema(role: Role): GraphQLSchema {
  return role === 'bff'
    ? makeExecutableSchema({
        typeDefs: [read('phone-number'), read('bff')],
        resolvers: bffResolvers,
      })
    : buildSubgraphSchema([
        { typeDefs: read('phone-number') },
        { typeDefs: read('subgraph'), resolvers: subgraphResolvers },
      ]);
}

function read(name: string): DocumentNode {
  return parse(readFileSync(new URL(`../../schema/${name}.graphql`, import.meta.url), 'utf8'));
}
