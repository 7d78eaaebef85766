import { GraphQLScalarType } from 'graphql';
import { bffResolvers, phoneNumberReference, subgraphResolvers } from '../graphql/resolvers.ts';
import type { Role } from '../graphql/schema.ts';
import { requestOf } from './mountedRequest.ts';

type Resolve = (source: unknown, args: unknown, context: unknown, info: unknown) => unknown;

/** Resolvers that find what they need below `simSwap` in a context that is another program's. */
export function mountedResolvers(
  role: Role,
): Record<string, GraphQLScalarType | Record<string, Resolve>> {
  return Object.fromEntries(
    Object.entries(resolversOf(role)).map(([type, fields]) => [
      type,
      fields instanceof GraphQLScalarType ? fields : mounted(fields),
    ]),
  );
}

function resolversOf(role: Role): Readonly<Record<string, object>> {
  switch (role) {
    case 'bff':
      return bffResolvers;
    case 'subgraph': {
      // The service's own `_entities` knows no other entity than this.
      const { Query: _entities, PhoneNumber, ...others } = subgraphResolvers;
      const entity = { ...PhoneNumber, __resolveReference: phoneNumberReference };
      return { ...others, PhoneNumber: entity };
    }
  }
}

function mounted(fields: object): Record<string, Resolve> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, resolve]: [string, Resolve]) => [
      name,
      name === '__resolveReference'
        ? resolve
        : (source, args, context, info) => resolve(source, args, requestOf(context).context, info),
    ]),
  );
}
