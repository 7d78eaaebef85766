import { parse } from 'graphql';

/** Types of your own, one of which has a phone number. */
export const customerTypes = parse(`
  type Customer {
    id: ID!
    phone: PhoneNumber
  }

  extend type Query {
    customer(id: ID!): Customer
    customers: [Customer!]!
  }
`);

/** A field of the type `PhoneNumber` returns `{ e164 }`; the rest is looked up at the operator. */
const CUSTOMERS = [
  { id: '1', phone: { e164: '+447700900001' } },
  { id: '2', phone: { e164: '+447700900004' } },
  { id: '3', phone: { e164: '+447700900010' } },
];

export const customerResolvers = {
  Query: {
    customer: (_root: unknown, { id }: { id: string }) =>
      CUSTOMERS.find((customer) => customer.id === id),
    customers: () => CUSTOMERS,
  },
};
