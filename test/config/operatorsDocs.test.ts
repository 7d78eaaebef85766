import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROFILES } from '../../profiles/index.ts';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/environment.ts';
import { settingNames } from '../settingNames.ts';

const DOCS = readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'operators-docs-'));
  writeFileSync(
    join(folder, 'operators.jsonc'),
    /```jsonc\n(\{\n {2}"\$schema"[^]*?)```/.exec(DOCS)?.[1] ?? '',
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function read(environment: object = {}) {
  return readConfig({ OPERATORS_FILE: join(folder, 'operators.jsonc'), ...environment });
}

function messageOf(broken: () => unknown): string {
  try {
    broken();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  return 'no problem';
}

describe('docs/operators.md', () => {
  test('shows what is said about its example before the secrets are there', () => {
    expect(DOCS).toContain(messageOf(() => read()));
  });

  test('has an example that can be started', () => {
    writeFileSync(join(folder, 'northern.secret'), 'demo-secret\n');
    const { operators } = read({ SOUTHERN_SECRET: 'demo-secret' });
    expect(operators.map(({ name, flow, prefixes }) => [name, flow, prefixes])).toEqual([
      ['northern', '2-legged', ['+44']],
      ['southern', '3-legged', ['+44770090005']],
    ]);
  });

  test('lists each profile, in the order of the table', () => {
    const listed = Array.from(
      DOCS.matchAll(/^- \[([\w-]+)\]\(\.\.\/profiles\/\1\.ts\), /gm),
      ([, name]) => name,
    );
    expect(listed).toEqual(Object.keys(PROFILES));
  });

  test.each(settingNames().filter((name) => name.startsWith('OPERATOR_')))(
    'says where %s stands in the file',
    (name) => {
      expect(DOCS).toContain(`\`${name}\``);
    },
  );
});
