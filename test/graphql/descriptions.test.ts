import {
  buildASTSchema,
  isEnumType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  parse,
  type GraphQLScalarType,
  type GraphQLSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { publishedSdl } from '../../scripts/publishedSdl.ts';
import { createSchema } from '../../src/graphql/schema.ts';

interface Described {
  readonly description?: string | null | undefined;
}

/** Everything that a client may look up, by its path. */
function* described(schema: GraphQLSchema): Generator<readonly [path: string, Described]> {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    // Federation's own.
    if (type.name.startsWith('_')) continue;
    yield [type.name, type];
    if (isEnumType(type)) {
      for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value];
    }
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field];
      for (const argument of field.args) {
        yield [`${type.name}.${field.name}(${argument.name})`, argument];
      }
    }
  }
}

test.each(['bff', 'subgraph'] as const)(
  '%s: introspection tells of DateTime what the SDL says',
  (role) => {
    const { description, specifiedByURL } = buildASTSchema(parse(publishedSdl(role)), {
      assumeValidSDL: true,
    }).getType('DateTime') as GraphQLScalarType;

    expect(description).toContain('RFC 3339');
    expect(createSchema(role).getType('DateTime')).toMatchObject({ description, specifiedByURL });
  },
);

test('all of the schema for apps says what it is, and so does the schema itself', () => {
  const schema = createSchema('bff');
  const all = [['schema', schema] as const, ...described(schema)];
  const mute = all.filter(([, { description = '' }]) => (description ?? '').trim() === '');

  expect(all.length).toBeGreaterThan(40);
  expect(mute.map(([path]) => path)).toEqual([]);
});
