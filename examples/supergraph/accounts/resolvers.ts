import { CUSTOMERS, customerOfId, customerOfNumber, type Customer } from './customers.ts';

/** A number of ours is its key: with it the router fetches the rest from the SIM swap subgraph. */
export const resolvers = {
  Query: {
    customers: () => CUSTOMERS,
    customer: (_root: unknown, { id }: { id: string }) => customerOfId(id) ?? null,
    customersByPhone: (_root: unknown, { e164s }: { e164s: readonly string[] }) =>
      e164s.map((e164) => ({ customer: customerOfNumber(e164) ?? null, phoneNumber: { e164 } })),
  },
  Customer: {
    __resolveReference: ({ id }: { id: string }) => customerOfId(id) ?? null,
    phoneNumber: ({ e164 }: Customer) => ({ e164 }),
  },
};
