import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import { bffResolvers, subgraphResolvers } from './resolvers.ts';

/** `bff`: root fields for apps; `subgraph`: the entity, for a router. */
export type Role = 'bff' | 'subgraph';

export function createSchema(role: Role): GraphQLSchema {
  const typeDefs = typeDefsOf(role);
  switch (role) {
    case 'bff':
      return makeExecutableSchema({ typeDefs, resolvers: bffResolvers });
    case 'subgraph':
      return buildSubgraphSchema([{ typeDefs, resolvers: subgraphResolvers }]);
  }
}

export function typeDefsOf(role: Role): DocumentNode {
  return parse(readFileSync(new URL(`../../schema/${role}.graphql`, import.meta.url), 'utf8'));
}
