import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse } from 'graphql';

/** Another team's subgraph, which knows the numbers and nothing of SIM cards. */
export const CUSTOMERS_SDL = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])

  type Query {
    customers: [Customer!]!
  }

  type Customer @key(fields: "name") {
    name: ID!
    phoneNumbers: [PhoneNumber!]!
  }

  type PhoneNumber @key(fields: "e164", resolvable: false) {
    e164: ID!
  }
`;

/** A customer as that subgraph answers a gateway. */
export interface Customer {
  readonly name: string;
  readonly phoneNumbers: readonly { readonly __typename: string; readonly e164: string }[];
}

const CUSTOMERS = [
  { name: 'Alice', phoneNumbers: [{ e164: '+447700900001' }, { e164: '+447700900004' }] },
  { name: 'Bob', phoneNumbers: [{ e164: '+447700900002' }] },
];

/** The first step of a gateway: it asks that subgraph. */
export async function fetchCustomers(query: string): Promise<readonly Customer[]> {
  const schema = buildSubgraphSchema([
    { typeDefs: parse(CUSTOMERS_SDL), resolvers: { Query: { customers: () => CUSTOMERS } } },
  ]);
  const { data, errors } = await graphql({ schema, source: query });
  if (data === undefined || data === null) throw new Error(String(errors));
  return data['customers'] as readonly Customer[];
}
