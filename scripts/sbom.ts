import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import * as z from 'zod';
import { notAllowed, type LicensedPackage } from './licences.ts';

/*
 * `npm run sbom -- [--out FOLDER]`: what is shipped, as a CycloneDX SBOM, and the licences of all of it. Ends with 1 where
 * a package may not be shipped.
 *
 * `npm sbom --omit dev` leaves out packages that production has in common with development, graphql among them. So the
 * packages are installed once more, without those of development, and those that are there are listed.
 */

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const OF_A_CHECKOUT = ['devDependencies', 'optionalDependencies'];
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const run = promisify(execFile);

const lockfile = z.object({ packages: z.record(z.string(), z.object({ version: z.string() })) });
const manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
});
const sbom = z.object({
  components: z.array(z.object({ name: z.string(), version: z.string() })),
});

const { values } = parseArgs({ options: { out: { type: 'string', default: 'sbom' } } });
const out = resolve(values.out);
const copy = await mkdtemp(join(tmpdir(), 'sbom-'));
try {
  const installed = await install();
  const bill = await billOf(installed);
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'sbom.cdx.json'), bill);
  await writeFile(join(out, 'licences.txt'), await licencesOf(installed));
  process.stdout.write(`${installed.length} packages: ${out}/sbom.cdx.json, licences.txt\n`);
  const problems = notAllowed(installed);
  if (problems.length > 0) {
    process.stderr.write(`Licences that scripts/licences.ts does not allow:\n`);
    for (const problem of problems) process.stderr.write(`  ${problem}\n`);
    process.exitCode = 1;
  }
} finally {
  await rm(copy, { recursive: true, force: true });
}

interface InstalledPackage extends LicensedPackage {
  readonly folder: string;
}

/** Installs what production has, and reads what each package says of itself. */
async function install(): Promise<readonly InstalledPackage[]> {
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await cp(join(PROJECT, file), join(copy, file));
  }
  const omit = ['--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['ci', ...omit], { cwd: copy });
  const text = await readFile(join(copy, 'node_modules/.package-lock.json'), 'utf8');
  const { packages } = lockfile.parse(JSON.parse(text));
  return Promise.all(
    Object.keys(packages)
      .toSorted()
      .map(async (path) => {
        const folder = join(copy, path);
        const own = await readFile(join(folder, 'package.json'), 'utf8');
        const { name, version, license } = manifest.parse(JSON.parse(own));
        return { name, version, licence: license, folder };
      }),
  );
}

/** @throws {Error} where it lacks a package that is installed */
async function billOf(installed: readonly InstalledPackage[]): Promise<string> {
  const file = join(copy, 'package.json');
  const whole: unknown = JSON.parse(await readFile(file, 'utf8'));
  // What it names and is not installed would be a problem to npm.
  const shipped = JSON.stringify(whole, (key, value: unknown) =>
    OF_A_CHECKOUT.includes(key) ? undefined : value,
  );
  await writeFile(file, shipped);
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const { stdout } = await run('npm', words, { cwd: copy, maxBuffer: MAX_OUTPUT_BYTES });
  const { components } = sbom.parse(JSON.parse(stdout));
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const missing = installed.filter(({ name, version }) => !listed.has(`${name}@${version}`));
  if (missing.length > 0) {
    throw new Error(`The SBOM lacks ${missing.map(({ name }) => name).join(', ')}.`);
  }
  return stdout;
}

/** Each package with its licence, and the texts that have to go with it. */
async function licencesOf(installed: readonly InstalledPackage[]): Promise<string> {
  const parts = await Promise.all(
    installed.map(async ({ name, version, licence, folder }) => {
      const files = await readdir(folder);
      const texts = await Promise.all(
        files
          .filter((file) => /^(?:licen[cs]e|notice|copying)(?:[.-]|$)/i.test(file))
          .map((file) => readFile(join(folder, file), 'utf8')),
      );
      return [`${name}@${version}: ${licence ?? 'no licence'}`, ...texts].join('\n\n');
    }),
  );
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
