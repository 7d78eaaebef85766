import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { preview } from 'vite';
import { build } from 'vitepress';
import { brokenIn } from './broken.ts';
import { writeRedirects } from './redirects.ts';

// `npm run docs`: builds the site, checks its links, and serves it on this machine; with --check it only builds.
const SITE = fileURLToPath(new URL('.', import.meta.url));
const BUILT = `${SITE}.vitepress/dist`;

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    base: { type: 'string', default: '/' },
    port: { type: 'string', default: '4173' },
  },
});

await build(SITE, { base: values.base });
writeRedirects(BUILT, values.base);
const broken = brokenIn(BUILT, values.base);
if (broken.length > 0) {
  process.stderr.write(`Links without a target:\n  ${broken.join('\n  ')}\n`);
  process.exit(1);
}
if (values.check) {
  process.stdout.write(`The site is in ${BUILT}; each of its links has a target.\n`);
} else {
  const server = await preview({
    root: SITE,
    base: values.base,
    configFile: false,
    appType: 'mpa',
    logLevel: 'error',
    build: { outDir: BUILT },
    preview: { host: '127.0.0.1', port: Number(values.port) },
  });
  const [address = ''] = server.resolvedUrls?.local ?? [];
  process.stdout.write(`\nThe documents are at ${address} (Ctrl-C ends it).\n`);
}
