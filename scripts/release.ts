import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { publishedSdl, releasedFile, ROLES } from './publishedSdl.ts';

// `npm version` runs it before it sets the version, and again between that and its commit: docs/upgrading.md.

const { npm_lifecycle_event: step, npm_old_version: before, npm_new_version: after } = process.env;
const changelog = readFileSync('CHANGELOG.md', 'utf8');

if (step === 'preversion') {
  const [, unreleased = ''] = /^## Unreleased\n(.*?)(?=^## |$(?![^]))/ms.exec(changelog) ?? [];
  if (unreleased.replaceAll(/^#.*$/gm, '').trim() === '') {
    throw new Error('Write into CHANGELOG.md, below "## Unreleased", what changes.');
  }
  if (execFileSync('git', ['tag', '--list', `v${after}`]).length > 0) {
    throw new Error(`The tag v${after} is there already.`);
  }
} else {
  const day = new Date().toISOString().slice(0, 'yyyy-mm-dd'.length);
  const heading = `## Unreleased\n\n## ${after} (${day})\n`;
  writeFileSync('CHANGELOG.md', changelog.replace('## Unreleased\n', heading));
  for (const role of ROLES) writeFileSync(releasedFile(role), publishedSdl(role));
  const manifests = ['kubernetes/bff', 'kubernetes/rehearsal', 'kubernetes/subgraph', 'compose'];
  for (const file of manifests.map((name) => `deploy/${name}.yaml`)) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(`subgraph:${before}`, `subgraph:${after}`));
  }
  execFileSync('git', ['add', 'CHANGELOG.md', 'schema/released', 'deploy']);
}
