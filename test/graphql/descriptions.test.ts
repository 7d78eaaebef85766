import { buildASTSchema, parse, visit, type GraphQLScalarType } from 'graphql';
import { expect, test } from 'vitest';
import { publishedSdl } from '../../scripts/publishedSdl.ts';
import { createSchema } from '../../src/graphql/schema.ts';

test.each(['bff', 'subgraph'] as const)(
  '%s: introspection describes DateTime as the SDL does',
  (role) => {
    const { description, specifiedByURL } = buildASTSchema(parse(publishedSdl(role)), {
      assumeValidSDL: true,
    }).getType('DateTime') as GraphQLScalarType;

    expect(description).toContain('RFC 3339');
    expect(createSchema(role).getType('DateTime')).toMatchObject({ description, specifiedByURL });
  },
);

test('the schema for apps, and each type, field, argument and value of it, has a description', () => {
  const described: string[] = [];
  const others: string[] = [];
  visit(parse(publishedSdl('bff')), {
    enter(node) {
      if (!('description' in node)) return;
      const name = 'name' in node ? node.name.value : 'schema';
      (node.description === undefined ? others : described).push(`${node.kind} ${name}`);
    },
  });
  expect(others).toEqual([]);
  expect(described.length).toBeGreaterThan(40);
});
