import type { SchemaChange } from './schemaChanges.ts';

/** What a release changes for those who use the last one (Semantic Versioning 2.0.0). */
export const RELEASE_KINDS = ['major', 'minor', 'patch'] as const;

export type ReleaseKind = (typeof RELEASE_KINDS)[number];

/** What is to be released, as it stands. */
export interface ReleaseState {
  /** Files that differ from the last commit, or are not in it. */
  readonly uncommitted: readonly string[];
  readonly branch: string;
  readonly tags: readonly string[];
  readonly version: string;
  readonly changelog: string;
  /** Since the last release. */
  readonly schemaChanges: readonly SchemaChange[];
}

const BRANCH = 'main';
const UNRELEASED = '## Unreleased';

/** The version after a release of a kind. Pure. */
export function nextVersion(version: string, kind: ReleaseKind): string {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  switch (kind) {
    case 'major':
      return `${major + 1}.0.0`;
    case 'minor':
      return `${major}.${minor + 1}.0`;
    case 'patch':
      return `${major}.${minor}.${patch + 1}`;
  }
}

/** Why it cannot be released, all of it at once, each a sentence that says what to do. Pure. */
export function releaseProblems(state: ReleaseState, kind: ReleaseKind): readonly string[] {
  const { uncommitted, branch, tags, version, changelog, schemaChanges } = state;
  const tag = `v${nextVersion(version, kind)}`;
  const breaking = schemaChanges.filter(({ level }) => level === 'breaking');
  return [
    ...(uncommitted.length === 0
      ? []
      : [`Commit or put aside what is not committed: ${uncommitted.join(', ')}.`]),
    ...(branch === BRANCH ? [] : [`Release from ${BRANCH}; this is ${branch || 'no branch'}.`]),
    ...(tags.includes(tag) ? [`The tag ${tag} is there already: see what it names.`] : []),
    ...(entriesOf(changelog) === ''
      ? [`Write into CHANGELOG.md, below "${UNRELEASED}", what changes for those who upgrade.`]
      : []),
    ...(kind === 'major'
      ? []
      : breaking.map(({ message }) => `Only a major version may break clients: ${message}`)),
  ];
}

/** The changelog with what was unreleased below the version, and nothing unreleased. Pure. */
export function releasedChangelog(changelog: string, version: string, day: string): string {
  return changelog.replace(UNRELEASED, () => `${UNRELEASED}\n\n## ${version} (${day})`);
}

/** What stands below the heading of what is unreleased, up to the next version. */
function entriesOf(changelog: string): string {
  const [, after = ''] = changelog.split(`\n${UNRELEASED}\n`);
  const [entries = ''] = after.split(/^## /m, 1);
  return entries.replaceAll(/^#.*$/gm, '').trim();
}
