import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { init, parse } from 'es-module-lexer';

// `npm run pack [-- FOLDER]` makes the three tarballs in packed/, or FOLDER, each with its SBOM. All are of one
// build: a package is the files that its entries import, and its manifest names only what these import.

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** Programs that `bin/` starts by name, in processes of their own. */
const PROGRAMS = [
  'dist/src/main.js',
  'dist/src/requireNode.js',
  'dist/src/endWithParent.js',
  'dist/simulator/main.js',
  'dist/src/commands/devToken.js',
  'dist/src/commands/auditSearch.js',
  'dist/src/commands/usageReport.js',
  'dist/src/commands/operatorsCommand.js',
];

/**
 * The files of each package beyond its exports. Its manifest, without version and dependencies, and its README are in
 * packages/.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  service: ['bin/sim-swap-subgraph.js', ...PROGRAMS],
  library: [],
  mocks: ['dist/schema/bff.graphql', 'dist/schema/subgraph.graphql'],
};

/** Files that modules read, by the module that reads them. */
const READ_BY_MODULES: Readonly<Record<string, readonly string[]>> = {
  'dist/src/system/build.js': ['dist/package.json', 'dist/commit'],
  'dist/src/graphql/typeDefs.js': ['dist/schema/bff.graphql', 'dist/schema/subgraph.graphql'],
};

/** Only for tools: where it is missing, they say so when they need it. */
const OPTIONAL = ['@graphql-yoga/render-graphiql'];

/** How the lexer marks `import.meta` among the imports. */
const IMPORT_META = -2;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly private: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<
    Record<string, string | { readonly types: string; readonly default: string }>
  >;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

await init;
const whole = manifestAt(PROJECT);
const [, , target = 'packed'] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'sim-swap-pack-'));
try {
  const built = build(join(folder, 'built'));
  mkdirSync(target, { recursive: true });
  for (const [name, others] of Object.entries(PACKAGES)) {
    const staged = stage(built, name, others, join(folder, name));
    const packed: readonly { readonly filename: string }[] = JSON.parse(
      run('npm', ['pack', '--json', '--pack-destination', resolve(target)], staged),
    );
    const { filename = '' } = packed[0] ?? {};
    const sbom = run('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], staged);
    writeFileSync(join(target, filename.replace(/\.tgz$/, '.cdx.json')), sbom);
    process.stdout.write(`${relative(process.cwd(), join(target, filename))}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The whole project, compiled, as in a checkout. */
function build(to: string): string {
  const dist = join(to, 'dist');
  run('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', dist], PROJECT);
  cpSync(join(PROJECT, 'bin'), join(to, 'bin'), { recursive: true });
  cpSync(join(PROJECT, 'schema'), join(dist, 'schema'), { recursive: true });
  const { version } = whole;
  writeFileSync(
    join(dist, 'package.json'),
    `${JSON.stringify({ version, type: 'module' }, null, 2)}\n`,
  );
  writeFileSync(join(dist, 'commit'), commit());
  return to;
}

function commit(): string {
  try {
    return run('git', ['rev-parse', 'HEAD'], PROJECT);
  } catch {
    return 'unknown\n';
  }
}

/** Writes the contents of one tarball. Returns its folder. */
function stage(built: string, name: string, others: readonly string[], to: string): string {
  const described = join(PROJECT, 'packages', name);
  const template = manifestAt(described);
  const entries = Object.values(template.exports ?? {}).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry.types, entry.default],
  );
  const { files, packages } = closureOf(built, [...others, ...entries.map((path) => join(path))]);
  for (const file of files) cpSync(join(built, file), join(to, file));
  cpSync(join(described, 'README.md'), join(to, 'README.md'));
  cpSync(join(PROJECT, 'CHANGELOG.md'), join(to, 'CHANGELOG.md'));
  const { version, license } = whole;
  const manifest = {
    ...template,
    version,
    private: whole.private,
    license,
    type: 'module',
    dependencies: dependenciesOf(packages, template),
  };
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // For the SBOM: the versions that were tested. npm packs no lockfile.
  cpSync(join(PROJECT, 'package-lock.json'), join(to, 'package-lock.json'));
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], to);
  return to;
}

/** The files that the entries import, and the packages. Declarations import declarations. */
function closureOf(
  built: string,
  entries: readonly string[],
): { readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    if (!/\.(?:js|d\.ts)$/.test(file)) continue;
    open.push(...(READ_BY_MODULES[file] ?? []));
    for (const specifier of importedBy(readFileSync(join(built, file), 'utf8'))) {
      if (specifier.startsWith('.')) open.push(fileOf(join(dirname(file), specifier), file));
      else if (!specifier.startsWith('node:')) packages.add(packageOf(specifier));
    }
  }
  return { files, packages };
}

/** The modules that the code imports by name: a profile of your own is imported by the name in its entry. */
function importedBy(code: string): readonly string[] {
  return parse(code)[0].flatMap(({ s: start, e: end, d: dynamicAt }) => {
    if (dynamicAt === IMPORT_META) return [];
    const written = code.slice(start, end);
    return dynamicAt < 0 ? [written] : (/^['"](.*)['"]$/.exec(written)?.slice(1) ?? []);
  });
}

/** A declaration names its source. */
function fileOf(path: string, importer: string): string {
  return importer.endsWith('.d.ts') ? path.replace(/\.ts$/, '.d.ts') : path;
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function dependenciesOf(
  packages: ReadonlySet<string>,
  { name, peerDependencies = {} }: Manifest,
): Readonly<Record<string, string>> {
  const versions = { ...whole.peerDependencies, ...whole.dependencies };
  const named = [...packages].filter(
    (one) => !(one in peerDependencies) && !OPTIONAL.includes(one),
  );
  return Object.fromEntries(
    named.toSorted().map((one) => {
      const version = versions[one];
      if (version === undefined)
        throw new Error(`${name} imports ${one}, which package.json does not name.`);
      return [one, version];
    }),
  );
}

function manifestAt(path: string): Manifest {
  const manifest: Manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  return manifest;
}

function run(command: string, words: readonly string[], cwd: string): string {
  return execFileSync(command, words, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
