import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, textOf } from '../support/documents.ts';

const text = textOf('docs/security.md');
const threats = text.slice(text.indexOf('## Threats'), text.indexOf('## The audit log'));

test('docs/security.md names tests that exist', () => {
  const files = Array.from(threats.matchAll(/`([\w/]+\.test\.ts)`/g), ([, file]) => file ?? '');
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !existsSync(join(ROOT, 'test', file)))).toEqual([]);
});

test('docs/security.md names every attack, and no other', () => {
  const named = Array.from(threats.matchAll(/attacks? ((?:`[a-z-]+`(?:, )?)+)/g), ([, list]) =>
    Array.from((list ?? '').matchAll(/`([a-z-]+)`/g), ([, name]) => name),
  ).flat();
  const made = globSync('test/attack/*.test.ts', { cwd: ROOT }).flatMap((file) =>
    Array.from(textOf(file).matchAll(/^attack\('([a-z-]+)'/gm), ([, name]) => name),
  );
  expect(named).toHaveLength(made.length);
  expect(new Set(named)).toEqual(new Set(made));
});
