import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** The pages of the site, by their paths in the project. */
export const SOURCES = [
  'docs/**/*.md',
  '{README,CONTRIBUTING,CHANGELOG,SECURITY}.md',
  'examples/*/README.md',
  'bench/{,results/}README.md',
  'monitoring/*.md',
];

const PAGES: ReadonlySet<string> = new Set(globSync(SOURCES, { cwd: PROJECT }));

/** Of the pages at the project's root, whose names are those of pages of docs but for their case. */
const OWN_ADDRESSES: Readonly<Record<string, string>> = {
  'README.md': 'project.md',
  'CONTRIBUTING.md': 'contributing.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'reporting.md',
};

/** Where a page is on the site: docs/ is its root, and a README is the page of its folder. */
export function addressOf(path: string): string {
  const own = OWN_ADDRESSES[path];
  if (own !== undefined) return own;
  return path.replace(/^docs\//, '').replace(/(?<=^|\/)README\.md$/, 'index.md');
}

/** What a link of a page leads to: a page of the site, or a file of the project that the site does not have. */
export type Target =
  | { readonly kind: 'page'; readonly address: string }
  | { readonly kind: 'file'; readonly path: string };

/** `undefined` where a link leaves the project. */
export function targetOf(page: string, link: string): Target | undefined {
  if (/^(?:[a-z][a-z0-9+.-]*:|#)/i.test(link)) return undefined;
  const [file = '', anchor] = decodeURIComponent(link).split('#');
  const path = normalize(join(dirname(page), file)).replace(/\/$/, '');
  const found = [path, `${path}/README.md`].find((one) => PAGES.has(one));
  if (found === undefined) return { kind: 'file', path };
  const hash = anchor === undefined ? '' : `#${anchor}`;
  return { kind: 'page', address: `/${addressOf(found)}${hash}` };
}

/** The anchor that forges give a heading. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\p{Mark}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** By what readers do. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ['docs/README.md', 'README.md', 'docs/adopting.md', 'docs/supergraph.md'],
  'Query it': [
    'docs/graph.md',
    'docs/errors.md',
    'docs/flows.md',
    'docs/testing.md',
    'docs/mobile-apps.md',
    'docs/library.md',
    'docs/api/schema.md',
  ],
  'Run it': [
    'docs/settings.md',
    'docs/deploying.md',
    'docs/operations.md',
    'monitoring/README.md',
    'docs/reliability.md',
    'docs/diagnostics.md',
    'docs/performance.md',
    'docs/compatibility.md',
    'docs/upgrading.md',
    'CHANGELOG.md',
  ],
  'Connect an operator': [
    'docs/operators.md',
    'docs/api/operators-file.md',
    'docs/operator-api.md',
  ],
  'Review it': ['docs/security.md', 'SECURITY.md'],
  'Change it': ['CONTRIBUTING.md', 'docs/design.md', 'docs/decisions/README.md'],
  Examples: globSync('examples/*/README.md', { cwd: PROJECT }).toSorted(),
};

export interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** @throws where a page of docs is in no group, or a group names a page that does not exist. */
export function sidebar(): readonly Group[] {
  const listed = Object.values(GROUPS).flat();
  const missing = globSync('docs/{,api/}*.md', { cwd: PROJECT }).filter(
    (path) => !listed.includes(path),
  );
  const gone = listed.filter((path) => !existsSync(join(PROJECT, path)));
  if (missing.length + gone.length > 0)
    throw new Error(
      `GROUPS of site/pages.ts leaves out [${missing.join(', ')}], and names [${gone.join(', ')}], which do not exist.`,
    );
  return Object.entries(GROUPS).map(([text, paths]) => ({
    text,
    items: paths.map((path) => ({ text: titleOf(path), link: `/${addressOf(path)}` })),
  }));
}

function titleOf(path: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(PROJECT, path), 'utf8'))?.[1] ?? path;
}
