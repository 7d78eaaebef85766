import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// `npm pack` calls this before and after. The packed manifest omits what only a checkout needs: above
// all its Node, which would take precedence over the Node of whoever installs the package.

const MANIFEST = fileURLToPath(new URL('../package.json', import.meta.url));
const WHOLE = fileURLToPath(new URL('../node_modules/.package.json.whole', import.meta.url));

const OF_A_CHECKOUT = [
  'scripts',
  'devDependencies',
  'optionalDependencies',
  'overrides',
  'allowScripts',
];

const [, , step] = process.argv;
switch (step) {
  case 'trim': {
    // An earlier pack was cut off.
    if (existsSync(WHOLE)) renameSync(WHOLE, MANIFEST);
    copyFileSync(MANIFEST, WHOLE);
    const packed = JSON.stringify(
      JSON.parse(readFileSync(MANIFEST, 'utf8')),
      (key, value: unknown) => (OF_A_CHECKOUT.includes(key) ? undefined : value),
      2,
    );
    writeFileSync(MANIFEST, `${packed}\n`);
    break;
  }
  case 'restore':
    renameSync(WHOLE, MANIFEST);
    break;
  default:
    process.stderr.write('node scripts/packedManifest.ts trim|restore\n');
    process.exitCode = 1;
}
