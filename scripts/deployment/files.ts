import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import project from '../../package.json' with { type: 'json' };
import { pretty, type MadeFile } from '../madeFile.ts';
import { manifestsOf } from './manifests.ts';
import { SECRETS_PATH, SETTINGS_PATH, VARIANTS, type Variant } from './variants.ts';

const TOP = new URL('../../', import.meta.url);

const IMAGE = `sim-swap-subgraph:${project.version}`;

/** What has to be changed before the first `kubectl apply`: an operator and its addresses. */
const OPERATORS = `{
  // Your operators: docs/operators.md
  "operators": [
    {
      "name": "northern",
      "prefixes": ["+44"],
      "flow": "2-legged",
      "authUrl": "https://auth.operator.example",
      "simSwapUrl": "https://api.operator.example/sim-swap/v2",
      "client": {
        "method": "basic",
        "id": "your-client-id",
        "secret": { "file": "${SECRETS_PATH}/northern-client-secret" },
      },
    },
  ],
}
`;

/** Makes the manifests of all variants. */
export async function makeDeploymentFiles(): Promise<readonly MadeFile[]> {
  return Promise.all(VARIANTS.map(async (variant) => manifestFile(variant)));
}

async function manifestFile(variant: Variant): Promise<MadeFile> {
  const path = fileURLToPath(new URL(`deploy/kubernetes/${variant.file}.yaml`, TOP));
  const documents = manifestsOf(variant, IMAGE, settingsFiles(variant)).map((manifest) =>
    // No anchors: kubectl reads them, and people do not.
    stringify(manifest, { aliasDuplicateObjects: false, lineWidth: 0 }),
  );
  const head = `# ${variant.purpose}\n# Made by npm run generate from scripts/deployment; what to change first: docs/kubernetes.md.\n`;
  return { path, text: await pretty(head + documents.join('---\n'), path) };
}

function settingsFiles({ environment }: Variant): Readonly<Record<string, string>> {
  const documents = environment.TRUSTED_DOCUMENTS;
  return {
    'operators.jsonc': OPERATORS,
    ...(documents === undefined ? {} : { [nameIn(documents)]: exampleDocuments() }),
  };
}

function nameIn(path: string): string {
  return path.slice(SETTINGS_PATH.length + 1);
}

/** The manifest of the mobile example: replace it by that of your app. */
function exampleDocuments(): string {
  return read('examples/mobile-bff/generated/persisted-documents.json');
}

function read(path: string): string {
  return readFileSync(new URL(path, TOP), 'utf8');
}
