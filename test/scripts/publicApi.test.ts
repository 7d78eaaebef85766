import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CompileError, makePublicApi } from '../../scripts/publicApi.ts';
import { temporaryFolder } from '../support/temporary.ts';

describe('what is public', async () => {
  // Whether it compiles is checked by `npm run check`.
  const files = await makePublicApi(undefined, ['--noCheck', '--singleThreaded']);

  test.each(files)('$path is what the sources declare: npm run generate', ({ path, text }) => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test.each(files)('$path names nothing inside the package', ({ text }) => {
    const imported = Array.from(text.matchAll(/^[^*\n]*from '([^']+)'/gm), ([, from]) => from);
    expect(imported.filter((from) => !/^(?:graphql|\.\/client\.ts)$/.test(from ?? ''))).toEqual([]);
  });
});

test('sources that do not compile are reported with the messages of the compiler', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'wrong.ts'), "export const windowHours: number = '240';\n");
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{ "compilerOptions": { "declaration": true, "lib": ["es5"], "types": [] }, "files": ["wrong.ts"] }\n',
  );

  const made = makePublicApi(join(folder, 'tsconfig.json'));

  await expect(made).rejects.toThrow(CompileError);
  await expect(made).rejects.toThrow(/wrong\.ts\(1,14\): error TS2322: /);
});
