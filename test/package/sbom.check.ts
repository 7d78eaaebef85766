import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import lockfile from '../../package-lock.json' with { type: 'json' };
import { Program } from '../program.ts';
import { FOR_NPM } from './ask.ts';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly (
    { readonly license: { readonly id?: string } } | { readonly expression: string }
  )[];
}

/** What may be shipped: permissive licences, which require only their notice. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
];

let components: readonly Component[];
beforeAll(async () => {
  const { code, err } = await Program.run('npm', ['run', '-s', 'sbom'], FOR_NPM);
  if (code !== 0) throw new Error(err);
  const file = new URL('../../sbom/sbom.cdx.json', import.meta.url);
  const sbom = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly components: readonly Component[];
  };
  ({ components } = sbom);
});

test('the SBOM names what production has, and nothing of development', () => {
  const shipped = Object.entries(lockfile.packages).filter(
    ([path, one]) => path !== '' && !('dev' in one || 'devOptional' in one || 'optional' in one),
  );
  const names = shipped.map(([path, { version }]) => {
    return `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`;
  });
  expect(new Set(components.map(({ name, version }) => `${name}@${version}`))).toEqual(
    new Set(names),
  );
});

test('every package of production has a licence that is allowed', () => {
  const refused = components.filter(({ licenses = [] }) => {
    const ids = licenses.flatMap((one) =>
      // With AND all of them must be allowed; none has an OR.
      'license' in one ? one.license.id : one.expression.replaceAll(/[()]/g, '').split(' AND '),
    );
    return ids.length === 0 || ids.some((id) => !ALLOWED.includes(id ?? ''));
  });
  expect(refused.map(({ name, licenses }) => `${name}: ${JSON.stringify(licenses)}`)).toEqual([]);
});
