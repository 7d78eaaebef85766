import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { publishedSdl, releasedFile, ROLES } from './publishedSdl.ts';

// `npm version` runs it before it sets the version, and again between that and its commit: docs/upgrading.md. Once the image
// is pushed, `scripts/node scripts/release.ts digest sha256:…` names it by its digest in the overlays of deploy/kubernetes.

const OVERLAYS = ['bff', 'rehearsal', 'subgraph'].map(
  (name) => `deploy/kubernetes/${name}/kustomization.yaml`,
);

const { npm_lifecycle_event: step, npm_old_version: before, npm_new_version: after } = process.env;
const changelog = readFileSync('CHANGELOG.md', 'utf8');

const [, , word, digest = ''] = process.argv;
if (word === 'digest') {
  if (!/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error('Give the digest of the image: sha256:…');
  for (const overlay of OVERLAYS) rewrite(overlay, /(?:newTag|digest): \S+/, `digest: ${digest}`);
} else if (step === 'preversion') {
  const [, unreleased = ''] = /^## Unreleased\n(.*?)(?=^## |$(?![^]))/ms.exec(changelog) ?? [];
  if (unreleased.replaceAll(/^#.*$/gm, '').trim() === '') {
    throw new Error('Write what changes into CHANGELOG.md, below "## Unreleased".');
  }
  if (execFileSync('git', ['tag', '--list', `v${after}`]).length > 0) {
    throw new Error(`The tag v${after} already exists.`);
  }
} else {
  const day = new Date().toISOString().slice(0, 'yyyy-mm-dd'.length);
  const heading = `## Unreleased\n\n## ${after} (${day})\n`;
  writeFileSync('CHANGELOG.md', changelog.replace('## Unreleased\n', heading));
  mkdirSync('schema/released', { recursive: true });
  for (const role of ROLES) writeFileSync(releasedFile(role), publishedSdl(role));
  rewrite('deploy/compose.yaml', `subgraph:${before}`, `subgraph:${after}`);
  rewrite('Dockerfile', /(image\.version=)"[^"]+"/, `$1"${after}"`);
  for (const overlay of OVERLAYS) rewrite(overlay, /(?:newTag|digest): \S+/, `newTag: ${after}`);
  execFileSync('git', ['add', 'CHANGELOG.md', 'Dockerfile', 'schema/released', 'deploy']);
}

/** @throws Error when the file has nothing to replace */
function rewrite(file: string, old: string | RegExp, now: string): void {
  const text = readFileSync(file, 'utf8');
  const rewritten = text.replaceAll(typeof old === 'string' ? old : new RegExp(old, 'g'), now);
  if (rewritten === text) throw new Error(`${file} names no version to replace.`);
  writeFileSync(file, rewritten);
}
