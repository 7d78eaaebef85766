import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { Program, type Run } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n- Something is new.\n\n## 1.4.2 (2026-01-02)\n\n- Before.\n';

const COPIED = [
  'scripts',
  'schema',
  'deploy',
  'Dockerfile',
  'package.json',
  'package-lock.json',
  'src/requireNode.js',
  'src/endWithParent.js',
];
const OVERLAYS = ['bff', 'rehearsal', 'subgraph'].map(
  (name) => `deploy/kubernetes/${name}/kustomization.yaml`,
);
const MANIFESTS = ['Dockerfile', 'deploy/compose.yaml', ...OVERLAYS];

class Repository {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  git(...words: readonly string[]): string {
    const name = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    return execFileSync('git', [...name, ...words], { cwd: this.folder, encoding: 'utf8' }).trim();
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  commit(path: string, text: string): void {
    this.write(path, text);
    this.git('commit', '--quiet', '--all', '--message', 'change');
  }

  release(...words: readonly string[]): Promise<Run> {
    return Program.run(
      'npm',
      ['run', 'release', '--', ...words],
      {
        PATH: process.env['PATH'] ?? '',
        GIT_AUTHOR_NAME: 'Test',
        GIT_AUTHOR_EMAIL: 'test@example.com',
        GIT_COMMITTER_NAME: 'Test',
        GIT_COMMITTER_EMAIL: 'test@example.com',
      },
      { folder: this.folder },
    );
  }
}

let template: string;
beforeAll(() => {
  template = temporaryFolder();
  for (const path of COPIED) {
    cpSync(join(PROJECT, path), join(template, path), { recursive: true });
  }
  const repository = new Repository(template);
  for (const path of ['package.json', 'package-lock.json']) {
    repository.write(
      path,
      repository
        .read(path)
        .replaceAll(/("name": "sim-swap-subgraph",\n *"version": )"[^"]+"/g, '$1"1.4.2"')
        // Types, lint and tarballs take the sources.
        .replace(/"check": "[^"]*"/, '"check": "npm run schema:check"')
        .replace(/"pack": "[^"]*"/, '"pack": "echo packed"'),
    );
  }
  for (const path of MANIFESTS) {
    repository.write(
      path,
      repository
        .read(path)
        .replaceAll(/(subgraph:|newTag: |image\.version=")[\d.]+(?="|$)/gm, '$11.4.2'),
    );
  }
  mkdirSync(join(template, 'schema/released'));
  for (const role of ['bff', 'subgraph']) {
    const sdl = repository.read(`schema/${role}.graphql`);
    repository.write(`schema/released/${role}.graphql`, sdl);
  }
  repository.write('CHANGELOG.md', CHANGELOG);
  repository.write('.gitignore', 'node_modules\n');
  repository.git('init', '--quiet', '--initial-branch=main');
  repository.git('add', '--all');
  repository.git('commit', '--quiet', '--message', 'all of it');
});

function repositoryOf(change: (repository: Repository) => void = () => undefined): Repository {
  const folder = temporaryFolder();
  cpSync(template, folder, { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  const repository = new Repository(folder);
  change(repository);
  return repository;
}

const withoutField = (repository: Repository): void => {
  const sdl = repository.read('schema/bff.graphql');
  repository.commit(
    'schema/bff.graphql',
    sdl.replace(/^ {2}lastSimSwap: DateTime$/m, '  lastSwap: DateTime'),
  );
};

describe('a release', () => {
  test.concurrent.each([
    ['major', '2.0.0'],
    ['patch', '1.4.3'],
    ['2.0.0-rc.1', '2.0.0-rc.1'],
  ])('%s: commits and tags %s', async (kind, version) => {
    const repository = repositoryOf();
    const before = repository.git('rev-parse', 'HEAD');

    expect(await repository.release(kind)).toMatchObject({ code: 0 });

    expect(repository.git('rev-parse', 'HEAD~1')).toBe(before);
    expect(repository.git('describe', '--exact-match')).toBe(`v${version}`);
    expect(repository.git('log', '-1', '--format=%s')).toBe(`chore(release): v${version}`);
    expect(repository.git('status', '--porcelain')).toBe('');
    expect(JSON.parse(repository.read('package-lock.json'))).toMatchObject({
      version,
      packages: { '': { version } },
    });
    const day = new Date().toISOString().slice(0, 10);
    expect(repository.read('CHANGELOG.md')).toBe(
      CHANGELOG.replace('## Unreleased\n', `## Unreleased\n\n## ${version} (${day})\n`),
    );
    for (const path of MANIFESTS) {
      expect(repository.read(path)).toMatch(
        new RegExp(`(?:sim-swap-subgraph:|newTag: |image\\.version=")${version}(?:"|$)`, 'm'),
      );
    }
    // Nothing else has changed.
    expect(repository.git('diff', '--name-only', 'HEAD~1').split('\n')).toEqual([
      'CHANGELOG.md',
      ...MANIFESTS,
      'package-lock.json',
      'package.json',
    ]);
  });

  test('of a schema that breaks clients is a major one, and keeps it as released', async () => {
    const repository = repositoryOf(withoutField);
    expect(await repository.release('major')).toMatchObject({ code: 0 });
    expect(repository.read('schema/released/bff.graphql')).toContain('  lastSwap: DateTime\n');
  });
});

test('a pre-release of all of it, in a clone: tag, changelog, tarballs with their SBOMs', async () => {
  const folder = join(temporaryFolder(), 'clone');
  execFileSync('git', ['clone', '--quiet', PROJECT, folder]);
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  const repository = new Repository(folder);
  repository.commit('.gitignore', `${repository.read('.gitignore')}/node_modules\n`);
  const manifest = repository.read('package.json');
  repository.commit('package.json', manifest.replace(/"check": "[^"]*"/, '"check": "true"'));

  const { code, err } = await repository.release('1.0.0-rc.1');

  expect({ code, err }).toMatchObject({ code: 0 });
  expect(repository.git('describe', '--exact-match')).toBe('v1.0.0-rc.1');
  expect(repository.read('CHANGELOG.md')).toMatch(/^## Unreleased\n\n## 1\.0\.0-rc\.1 \(/m);
  expect(repository.read('schema/released/bff.graphql')).toBe(
    repository.read('schema/bff.graphql'),
  );
  const names = ['sim-swap-subgraph', 'sim-swap-subgraph-mocks', 'sim-swap-subgraph-service'];
  expect(readdirSync(join(folder, 'packed')).toSorted()).toEqual(
    names.flatMap((name) => [`${name}-1.0.0-rc.1.cdx.json`, `${name}-1.0.0-rc.1.tgz`]).toSorted(),
  );
  expect(repository.git('status', '--porcelain')).toBe('');
});

test('once the image is pushed, the overlays name it by its digest', async () => {
  const repository = repositoryOf();
  const digest = `sha256:${'0a'.repeat(32)}`;
  const run = (given: string): Promise<Run> =>
    Program.run('node', ['scripts/release.ts', 'digest', given], {}, { folder: repository.folder });

  expect(await run('latest')).toMatchObject({ code: 1 });
  expect(await run(digest)).toMatchObject({ code: 0 });

  for (const path of OVERLAYS) expect(repository.read(path)).toContain(`    digest: ${digest}\n`);
  // The next release names its own.
  repository.git('commit', '--quiet', '--all', '--message', 'digest');
  expect(await repository.release('patch')).toMatchObject({ code: 0 });
  for (const path of OVERLAYS) expect(repository.read(path)).toContain('    newTag: 1.4.3\n');
});

test.concurrent.each<[string, string, (repository: Repository) => void, string]>([
  [
    'a changed file',
    'minor',
    (one) => one.write('CHANGELOG.md', `${CHANGELOG}\n`),
    'Git working directory not clean',
  ],
  [
    'only headings',
    'patch',
    (one) => one.commit('CHANGELOG.md', CHANGELOG.replace('- Something is new.', '### Added')),
    'Write what changes into CHANGELOG.md',
  ],
  [
    'no heading',
    'patch',
    (one) => one.commit('CHANGELOG.md', CHANGELOG.replace('## Unreleased', '## Next')),
    'Write what changes into CHANGELOG.md',
  ],
  ['a breaking schema', 'minor', withoutField, "Field 'lastSimSwap' was removed"],
  ['a tag that is there', 'minor', (one) => one.git('tag', 'v1.5.0'), 'v1.5.0 already exists'],
])('no release with %s (%s), and nothing has changed', async (_what, kind, change, problem) => {
  const repository = repositoryOf(change);
  const state = (): readonly string[] => [
    repository.git('rev-parse', 'HEAD'),
    repository.git('tag', '--list'),
    repository.git('diff'),
  ];
  const before = state();

  const { code, out, err } = await repository.release(kind);

  expect(code).toBe(1);
  expect(out + err).toContain(problem);
  expect(state()).toEqual(before);
});
