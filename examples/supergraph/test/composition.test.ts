import { assertObjectType, buildSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, fetchSdl, type SubgraphSdl } from '../composition.ts';
import { startSubgraphs, type Subgraphs } from '../stack.ts';
import { COMPOSERS } from './composers.ts';

let started: Subgraphs;
let accounts: SubgraphSdl;
let simSwap: SubgraphSdl;

beforeAll(async () => {
  started = await startSubgraphs({ accounts: 0, simSwap: 0 });
  accounts = await fetchSdl(started.accounts);
  simSwap = await fetchSdl(started.simSwap);
});
afterAll(() => started[Symbol.asyncDispose]());

describe.each(COMPOSERS)('the composition of %s', (_, composed) => {
  it("joins what is known about a number to the customer's", () => {
    const graph = buildSchema(composed([accounts, simSwap]));
    const fieldsOf = (type: string): string[] =>
      Object.keys(assertObjectType(graph.getType(type)).getFields()).toSorted();
    expect(fieldsOf('Customer')).toEqual(['id', 'name', 'phoneNumber']);
    expect(fieldsOf('PhoneNumber')).toEqual([
      'e164',
      'lastSimSwap',
      'simSwapCheck',
      'simSwapConsent',
      'simSwappedWithin',
    ]);
  });

  it('keeps what a router needs to know about the length of a list', () => {
    expect(composed([accounts, simSwap])).toMatch(/customers: .*@listSize\(assumedSize: 100\)/);
  });

  it('calls only the SIM swap subgraph for a number by its key', () => {
    const type = /type PhoneNumber[^{]*/.exec(composed([accounts, simSwap]))?.[0];
    expect(type).toMatch(/graph: SIM_SWAP, key: "e164"[^)]*\)/);
    expect(type).toMatch(/graph: ACCOUNTS, key: "e164", resolvable: false\)/);
  });

  it('needs no feature of the router for security: the subgraph checks for itself', () => {
    expect(composed([accounts, simSwap])).not.toContain('for: SECURITY');
  });

  it.each(['2.3', '2.4', '2.5', '2.6', '2.7', '2.8', '2.9'])(
    'takes the subgraph into a graph of Federation %s',
    (version) => {
      const sdl = `
        extend schema
          @link(url: "https://specs.apollo.dev/federation/v${version}", import: ["@key"])
        type Query { owner: PhoneNumber }
        type PhoneNumber @key(fields: "e164", resolvable: false) { e164: ID! }`;
      const graph = composed([{ ...accounts, sdl }, simSwap]);
      // The version of what a router reads; with @cost or @authenticated it would be a later one.
      const [, join] = /specs\.apollo\.dev\/join\/v(\d\.\d)/.exec(graph) ?? [];
      expect(join).toBe({ '2.7': '0.4', '2.8': '0.5', '2.9': '0.5' }[version] ?? '0.3');
    },
  );
});

it('names what does not compose', () => {
  const contradicting = { ...accounts, sdl: accounts.sdl.replace('e164: ID!', 'e164: Int!') };
  expect(() => compose([contradicting, simSwap])).toThrow(/do not compose:\n.*PhoneNumber\.e164/);
});
