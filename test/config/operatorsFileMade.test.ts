import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { jsonSchema, makeFiles } from '../../scripts/operatorsFile.ts';

test('the schema for editors and the table of docs/operators.md are those of the definition', async () => {
  for (const { path, text } of await makeFiles()) {
    expect(readFileSync(path, 'utf8'), `npm run generate writes ${path}`).toBe(text);
  }
});

test.each([
  ['an operator', {}, true],
  ['a member that is misspelt', { headrs: {} }, false],
  ['a flow that is none', { flow: '3-leged' }, false],
  ['a prefix without +', { prefixes: ['44'] }, false],
  ['a secret in the file', { client: { id: 'c', secret: 'hunter2' } }, false],
  ['a member that became code', { reading: {} }, false],
])('an editor sees whether all is well with %s', (_, members, isWell) => {
  const schema = z.fromJSONSchema(jsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);
  const operator = {
    name: 'alpha',
    prefixes: ['default'],
    flow: '3-legged',
    authUrl: 'https://auth.example',
    simSwapUrl: 'https://api.example',
    client: { id: 'client', secret: { file: 'secret' } },
  };
  const file = { $schema: 'x', operators: [{ ...operator, ...members }] };
  expect(schema.safeParse(file).success).toBe(isWell);
});
