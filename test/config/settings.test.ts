import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { jsonSchema, makeFiles } from '../../scripts/operatorsFile.ts';
import { makeSettingsFiles } from '../../scripts/settings.ts';
import { readConfig } from '../../src/config/config.ts';
import { ALL_SETTINGS, VARIABLE_NAMES } from '../../src/config/settings.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { entryAt } from '../support/operatorsFile.ts';
import { problemsOf } from './problems.ts';

/** The names of the variables that the program reads. */
function namesRead(): ReadonlySet<string> {
  const names = new Set<string>();
  const get = (_values: object, name: string | symbol): string => {
    // Those of OpenTelemetry are not in the table.
    if (!String(name).startsWith('OTEL_')) names.add(String(name));
    return '';
  };
  problemsOf(new Proxy<Record<string, string>>({}, { get }));
  return names;
}

const files = new TemporaryFiles();

describe('the table of settings', () => {
  test('has every setting that is read, and no other', () => {
    // Of Node, read to refuse one of its values.
    const names = new Set([...VARIABLE_NAMES, 'NODE_TLS_REJECT_UNAUTHORIZED']);
    expect([...namesRead()].toSorted()).toEqual([...names].toSorted());
  });

  test('says what each sets, in one sentence', () => {
    const descriptions = [...ALL_SETTINGS.values()].map(({ description }) => description);
    expect(descriptions.filter((one) => !/^[^.]*(?:\.[^ ][^.]*)*\.$/.test(one))).toEqual([]);
  });

  test('has no setting with the name of another setting and _FILE', () => {
    const names = [...ALL_SETTINGS.keys()];
    const doubles = [...VARIABLE_NAMES].filter((name) => !names.includes(name));

    expect(doubles.every((name) => name.endsWith('_FILE'))).toBe(true);
    expect(VARIABLE_NAMES.size).toBe(names.length + doubles.length);
  });
});

test('every secret may be in a file', () => {
  const stateKey = Buffer.alloc(32, 7);
  const config = readConfig({
    REDIS_URL_FILE: files.write('redis-url', 'redis://user:s3cret@127.0.0.1:6379\n'),
    STATE_KEY_FILE: files.write('state-key', `${stateKey.toString('base64')}\n`),
    AUDIT_LOG: '/dev/null',
    AUDIT_KEY_FILE: files.write('audit', `${'a'.repeat(40)}\n`),
  });

  expect(config.sharedState?.redis.credentials).toEqual({ username: 'user', password: 's3cret' });
  expect(Buffer.from(config.sharedState?.stateKeys[0] ?? [])).toEqual(stateKey);
  expect(JSON.stringify(config.audit)).toContain('a'.repeat(40));
});

test('docs, .env.example and the schema for editors are those of the table and the definition', async () => {
  for (const { path, text } of [...(await makeSettingsFiles()), ...(await makeFiles())]) {
    expect(readFileSync(path, 'utf8'), `npm run generate writes ${path}`).toBe(text);
  }
});

test.each([
  ['an operator', {}, true],
  ['a member that is misspelt', { headrs: {} }, false],
  ['an unknown flow', { flow: '3-leged' }, false],
  ['a prefix without +', { prefixes: ['44'] }, false],
  ['a secret in the file', { client: { id: 'c', secret: 'hunter2' } }, false],
  ['a member of profiles', { reading: {} }, false],
])('the schema for editors checks %s', (_, members, isWell) => {
  const schema = z.fromJSONSchema(jsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);
  const file = { $schema: 'x', operators: [entryAt('https://operator.example', members)] };
  expect(schema.safeParse(file).success).toBe(isWell);
});
