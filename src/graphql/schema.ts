import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import { bffResolvers, subgraphResolvers } from './resolvers.ts';

/** `bff`: root fields for apps; `subgraph`: the entity, for a router. */
export type Role = 'bff' | 'subgraph';

/** The schema of a role, from the SDL in `schema/`. */
export function createSchema(role: Role): GraphQLSchema {
  const [phoneNumber, own] = typeDefsOf(role);
  return role === 'bff'
    ? makeExecutableSchema({ typeDefs: [phoneNumber, own], resolvers: bffResolvers })
    : buildSubgraphSchema([
        { typeDefs: phoneNumber },
        { typeDefs: own, resolvers: subgraphResolvers },
      ]);
}

/** The type that both roles share, and what a role adds. */
export function typeDefsOf(role: Role): readonly [DocumentNode, DocumentNode] {
  return [read('phone-number'), read(role)];
}

function read(name: string): DocumentNode {
  return parse(readFileSync(new URL(`../../schema/${name}.graphql`, import.meta.url), 'utf8'));
}
