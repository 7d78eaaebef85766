import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import lockfile from '../../package-lock.json' with { type: 'json' };

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

const file = inject('tarballs').service.replace(/\.tgz$/, '.cdx.json');
const { components } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly components: readonly Component[];
};

test('the SBOM of the service names what production has, and nothing of development', () => {
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
