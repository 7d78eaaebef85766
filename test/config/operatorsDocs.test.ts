import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PROFILES } from '../../profiles/index.ts';
import { readConfig } from '../../src/config/config.ts';
import { VARIABLE_NAMES } from '../../src/config/settings.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { problemsOf } from './problems.ts';

const DOCS = readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8');

const files = new TemporaryFiles();
const EXAMPLE = /```jsonc\n(\{\n {2}"\$schema"[^]*?)```/.exec(DOCS)?.[1] ?? '';
const OPERATORS_FILE = files.write('operators.jsonc', EXAMPLE);

describe('docs/operators.md', () => {
  test('shows the problems of its example without the secrets', () => {
    const problems = problemsOf({ OPERATORS_FILE });
    expect(problems).not.toEqual([]);
    const message = [`${problems.length} settings need attention:`, ...problems].join('\n  ');
    expect(DOCS).toContain(message);
  });

  test('has an example that starts', () => {
    files.write('northern.secret', 'demo-secret\n');
    const { operators } = readConfig({ OPERATORS_FILE, SOUTHERN_SECRET: 'demo-secret' });
    expect(operators.map(({ name, flow, prefixes }) => [name, flow, prefixes])).toEqual([
      ['northern', '2-legged', ['+44']],
      ['southern', '3-legged', ['+44770090005']],
    ]);
  });

  test('lists each profile, in the order of the table', () => {
    const listed = DOCS.matchAll(/^- \[([\w-]+)\]\(\.\.\/profiles\/\1\.ts\), /gm);
    expect(Array.from(listed, ([, name]) => name)).toEqual(Object.keys(PROFILES));
  });

  test('names the place of each setting of the short form', () => {
    const names = [...VARIABLE_NAMES].filter((name) => name.startsWith('OPERATOR_'));
    expect(names.filter((name) => !DOCS.includes(`\`${name}\``))).toEqual([]);
  });
});
