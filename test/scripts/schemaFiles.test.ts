import { readFileSync } from 'node:fs';
import { Kind, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { makeSchemaFiles } from '../../scripts/schemaFiles.ts';
import { makeSchemaReference } from '../../scripts/schemaReference.ts';

describe('the SDL of a role', async () => {
  const files = await makeSchemaFiles();

  test.each(files)('$path is made of what both roles share: npm run generate', ({ path, text }) => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test.each(files)('$path extends no type, as Federation 1 requires', ({ text }) => {
    const names = parse(text).definitions.flatMap((definition) =>
      'name' in definition && definition.kind !== Kind.OPERATION_DEFINITION
        ? [definition.name?.value]
        : [],
    );
    expect(names).toContain('PhoneNumber');
    expect(new Set(names).size).toBe(names.length);
    expect(text).not.toMatch(/^extend type/m);
  });

  test('is an entity for routers', () => {
    const [, subgraph] = files;
    expect(subgraph?.text).toContain('\ntype PhoneNumber @key(fields: "e164") {\n');
  });
});

test('docs/api/schema.md is made of the SDL: npm run generate', async () => {
  for (const { path, text } of await makeSchemaReference()) {
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});
