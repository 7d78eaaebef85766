import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { publishedSdl, releasedFile, ROLES } from './publishedSdl.ts';
import {
  nextVersion,
  RELEASE_KINDS,
  releasedChangelog,
  releaseProblems,
  type ReleaseKind,
  type ReleaseState,
} from './releasePlan.ts';
import { schemaChanges } from './schemaChanges.ts';

/*
 * `npm run release -- major|minor|patch [--dry-run]`: makes the commit and the tag of a release, here alone. It pushes and
 * publishes nothing.
 */

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const USAGE = `npm run release -- ${RELEASE_KINDS.join('|')} [--dry-run]
  major      something breaks for clients, settings or programs that import the package
  minor      something is new, and nothing breaks
  patch      something is mended
  --dry-run  says what would be done, and changes nothing
`;

const { kind, isDryRun } = readArguments();
const state = await readState();
const version = nextVersion(state.version, kind);
const tag = `v${version}`;

const problems = releaseProblems(state, kind);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) {
  process.stderr.write(`${tag} was not released, and nothing has changed.\n`);
  process.exitCode = 1;
} else if (isDryRun) {
  say(`${tag} could be released: a commit, with`);
  say(`  package.json, package-lock.json  ${state.version} becomes ${version}`);
  say('  CHANGELOG.md                     what is unreleased stands below the version');
  say(
    `  schema/released/                 ${state.schemaChanges.length} change(s) since the last release`,
  );
  say(`and the tag ${tag}. Nothing has changed.`);
} else {
  release();
  say(`${tag} is committed and tagged, here alone. What is left to do:`);
  say(`  git push --atomic origin main ${tag}`);
  say('  npm pack, and what is to become of the tarball; the image (docs/container.md)');
}

function readArguments(): { readonly kind: ReleaseKind; readonly isDryRun: boolean } {
  try {
    const { values, positionals } = parseArgs({
      options: { 'dry-run': { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const wanted = RELEASE_KINDS.find((one) => one === positionals[0]);
    if (wanted !== undefined && positionals.length === 1) {
      return { kind: wanted, isDryRun: values['dry-run'] };
    }
  } catch {
    // What is wrong with them, the usage says as well.
  }
  process.stderr.write(USAGE);
  process.exit(1);
}

async function readState(): Promise<ReleaseState> {
  const changes = await Promise.all(
    ROLES.map((role) =>
      schemaChanges(readFileSync(releasedFile(role), 'utf8'), publishedSdl(role)),
    ),
  );
  return {
    uncommitted: lines(git('status', '--porcelain')).map((line) => line.slice(3)),
    branch: git('branch', '--show-current').trim(),
    tags: lines(git('tag', '--list')),
    version: /"version": "([^"]+)"/.exec(read('package.json'))?.[1] ?? '',
    changelog: read('CHANGELOG.md'),
    schemaChanges: changes.flat(),
  };
}

function release(): void {
  for (const name of ['package.json', 'package-lock.json']) {
    write(name, withVersion(read(name)));
  }
  const day = new Date().toISOString().slice(0, 'yyyy-mm-dd'.length);
  write('CHANGELOG.md', releasedChangelog(state.changelog, version, day));
  for (const role of ROLES) writeFileSync(releasedFile(role), publishedSdl(role));
  git('commit', '--quiet', '--all', '--message', `chore(release): ${tag}`);
  git('tag', '--annotate', '--message', tag, tag);
}

/** The package's own version stands first in its manifest; in the lockfile twice, above all others. */
function withVersion(manifest: string): string {
  const own = `"version": "${state.version}"`;
  const [head = '', ...others] = manifest.split('"node_modules/');
  return [head.replaceAll(own, () => `"version": "${version}"`), ...others].join('"node_modules/');
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { cwd: PROJECT, encoding: 'utf8' });
}

function lines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

function read(name: string): string {
  return readFileSync(`${PROJECT}${name}`, 'utf8');
}

function write(name: string, text: string): void {
  writeFileSync(`${PROJECT}${name}`, text);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
