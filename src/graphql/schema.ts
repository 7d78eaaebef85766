import { buildSubgraphSchema } from '@apollo/subgraph';
import { makeExecutableSchema } from '@graphql-tools/schema';
import type { GraphQLSchema } from 'graphql';
import { bffResolvers, subgraphResolvers } from './resolvers.ts';
import { typeDefsOf, type Role } from './typeDefs.ts';

export function createSchema(role: Role): GraphQLSchema {
  const typeDefs = typeDefsOf(role);
  switch (role) {
    case 'bff':
      return makeExecutableSchema({ typeDefs, resolvers: bffResolvers });
    case 'subgraph':
      return buildSubgraphSchema([{ typeDefs, resolvers: subgraphResolvers }]);
  }
}
