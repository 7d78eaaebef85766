import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { publishedSdl } from '../../../scripts/publishedSdl.ts';
import { COMPOSERS } from './composers.ts';

const SIM_SWAP = { name: 'sim-swap', url: 'http://sim-swap', sdl: publishedSdl('subgraph') };

/** How another subgraph may declare PhoneNumber; docs/graph.md has the same table. */
const COMPOSES = [
  'type PhoneNumber @key(fields: "e164", resolvable: false) { e164: ID! }',
  'type PhoneNumber @key(fields: "e164") { e164: ID! country: String }',
  'type PhoneNumber @key(fields: "number") { number: String! e164: ID! @shareable }',
  'type PhoneNumber @shareable { e164: ID! country: String }',
];

/** How it may not, and what the composition says. */
const COLLIDES = [
  ['scalar PhoneNumber', 'mismatched kind'],
  ['type PhoneNumber @key(fields: "e164") { e164: String! }', '"PhoneNumber.e164" is incompatible'],
  ['type PhoneNumber { e164: ID! }', 'Non-shareable field "PhoneNumber.e164"'],
  ['type PhoneNumber @key(fields: "number") { number: String! }', 'cannot be satisfied'],
  [
    'type PhoneNumber @key(fields: "e164", resolvable: false) { e164: ID! @external }',
    'marked @external',
  ],
  [
    'type PhoneNumber @key(fields: "e164") { e164: ID! simSwappedWithin(maxAgeHours: Int! = 240): Boolean }',
    'Non-shareable field "PhoneNumber.simSwappedWithin"',
  ],
] as const;

const OTHER_KINDS = [
  'interface PhoneNumber { e164: ID! } type Line implements PhoneNumber { e164: ID! }',
  'enum PhoneNumber { MOBILE LANDLINE }',
  'union PhoneNumber = Line type Line { e164: ID! }',
];

function subgraphWith(declaration: string) {
  return {
    name: 'numbers',
    url: 'http://numbers',
    sdl: `
      extend schema
        @link(
          url: "https://specs.apollo.dev/federation/v2.3"
          import: ["@key", "@shareable", "@external"]
        )
      type Query { owner: PhoneNumber }
      ${declaration}`,
  };
}

describe.each(COMPOSERS)('by the composition of %s', (_, compose) => {
  it.each(COMPOSES)('composes: %s', (declaration) => {
    const graph = compose([subgraphWith(declaration), SIM_SWAP]);
    expect(graph).toMatch(/type PhoneNumber[^}]*e164: ID!/);
  });

  it.each(COLLIDES)('collides: %s', (declaration, reason) => {
    expect(() => compose([subgraphWith(declaration), SIM_SWAP])).toThrow(reason);
  });

  it.each(OTHER_KINDS)('collides: %s', (declaration) => {
    expect(() => compose([subgraphWith(declaration), SIM_SWAP])).toThrow('mismatched kind');
  });

  it('with a nullable key the number is nullable in the whole graph', () => {
    const declaration = 'type PhoneNumber @key(fields: "e164", resolvable: false) { e164: ID }';
    const graph = compose([subgraphWith(declaration), SIM_SWAP]);
    expect(graph).toMatch(/type PhoneNumber[^}]*e164: ID[^!]/);
  });
});

it('docs/graph.md names the same declarations', () => {
  const page = readFileSync(new URL('../../../docs/graph.md', import.meta.url), 'utf8');
  const declared = [...page.matchAll(/^- `((?:type|scalar) PhoneNumber[^`]*)`/gm)].map(
    ([, declaration]) => declaration,
  );
  expect(declared).toEqual([...COMPOSES, ...COLLIDES.map(([declaration]) => declaration)]);
});
