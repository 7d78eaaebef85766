import { composeServices } from '@apollo/composition';
import { assertObjectType, buildSchema, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, fetchSdl, type SubgraphSdl } from '../composition.ts';
import { startSubgraphs, type Subgraphs } from '../stack.ts';

let started: Subgraphs;
let subgraphs: readonly SubgraphSdl[];

beforeAll(async () => {
  started = await startSubgraphs({ accounts: 0, simSwap: 0 });
  subgraphs = await Promise.all([started.accounts, started.simSwap].map(fetchSdl));
});
afterAll(() => started[Symbol.asyncDispose]());

/** Apollo's composition, which the router of Apollo has its supergraphs from. */
function composeByApollo(): string {
  const { supergraphSdl, errors } = composeServices(
    subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })),
  );
  expect(errors).toBeUndefined();
  return supergraphSdl ?? '';
}

describe.each([
  ['The Guild', () => compose(subgraphs)],
  ['Apollo', composeByApollo],
])('the composition of %s', (_, composed) => {
  it("joins what is known about a number to the customer's", () => {
    const graph = buildSchema(composed());
    const fieldsOf = (type: string): string[] =>
      Object.keys(assertObjectType(graph.getType(type)).getFields()).toSorted();
    expect(fieldsOf('Customer')).toEqual(['id', 'name', 'phoneNumber']);
    expect(fieldsOf('PhoneNumber')).toEqual([
      'e164',
      'lastSimSwap',
      'simSwapConsent',
      'simSwappedWithin',
    ]);
  });

  it('keeps what a router is told about costs', () => {
    const sdl = composed();
    expect(sdl).toMatch(/lastSimSwap: .*@cost\(weight: 10\)/);
    expect(sdl).toMatch(/\): Boolean .*@cost\(weight: 10\)/);
    expect(sdl).toMatch(/customers: .*@listSize\(assumedSize: 100\)/);
  });

  it('asks the SIM swap subgraph alone for a number by its key', () => {
    const type = /type PhoneNumber[^{]*/.exec(composed())?.[0];
    expect(type).toMatch(/graph: SIM_SWAP, key: "e164"[^)]*\)/);
    expect(type).toMatch(/graph: ACCOUNTS, key: "e164", resolvable: false\)/);
  });
});

it('names what does not compose', () => {
  const [accounts, simSwap] = subgraphs;
  if (accounts === undefined || simSwap === undefined) throw new Error('There are two subgraphs.');
  const contradicting = { ...accounts, sdl: accounts.sdl.replace('e164: ID!', 'e164: Int!') };
  expect(() => compose([contradicting, simSwap])).toThrow(/do not compose:\n.*PhoneNumber\.e164/);
});
