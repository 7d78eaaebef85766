import { describe, expect, it } from 'vitest';
import { publishedSdl } from '../../scripts/publishedSdl.ts';
import { schemaChanges } from '../../scripts/schemaChanges.ts';

const WITHIN = 'maxAgeHours: Int! = 240';

describe('a change of the subgraph', () => {
  it.each([
    ['a field is removed', 'lastSimSwap: DateTime', 'lastSwap: DateTime', ['breaking', 'safe']],
    ['a field has another type', 'lastSimSwap: DateTime', 'lastSimSwap: String', ['breaking']],
    ['the key is removed', ' @key(fields: "e164")', '', ['breaking']],
    ['the default window is another', WITHIN, 'maxAgeHours: Int! = 24', ['breaking']],
    ['a window must be named', WITHIN, 'maxAgeHours: Int!', ['breaking']],
    ['a required argument is new', WITHIN, `${WITHIN}, why: String!`, ['breaking']],
    ['an argument is new', WITHIN, `${WITHIN}, why: String`, ['dangerous']],
    ['a field is new', 'e164: ID!', 'e164: ID!\n  operator: String', ['safe']],
    ['a description is another', 'A mobile phone number and', 'A phone number and', []],
    ['nothing', 'e164: ID!', 'e164: ID!', []],
  ] as const)('%s', async (_, from, to, levels) => {
    const released = publishedSdl('subgraph');
    expect(released).toContain(from);

    const changes = await schemaChanges(released, released.replace(from, to));

    expect([...new Set(changes.map(({ level }) => level))].toSorted()).toEqual(levels);
  });
});

it.each([
  ['routers and tools read', 'FIELD_DEFINITION', ['dangerous']],
  ['clients write', 'FIELD', ['breaking', 'dangerous']],
  ['both use', 'FIELD | FIELD_DEFINITION', ['breaking', 'dangerous']],
])('a directive that %s is removed', async (_, locations, levels) => {
  const released = `directive @mark on ${locations} type Query { e164: ID! @mark }`;

  const changes = await schemaChanges(released, 'type Query { e164: ID! }');

  expect([...new Set(changes.map(({ level }) => level))].toSorted()).toEqual(levels);
});
