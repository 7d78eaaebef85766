import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makePublicApi } from '../../scripts/publicApi.ts';

describe('what is public', async () => {
  const files = await makePublicApi();

  test.each(files)('$path is what the sources declare: npm run generate', ({ path, text }) => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test.each(files)('$path names nothing inside the package', ({ text }) => {
    const imported = Array.from(text.matchAll(/^[^*\n]*from '([^']+)'/gm), ([, from]) => from);
    expect(imported.filter((from) => !/^(?:graphql|\.\/client\.ts)$/.test(from ?? ''))).toEqual([]);
  });
});
