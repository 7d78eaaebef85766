import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import project from '../../package.json' with { type: 'json' };
import { pretty, type MadeFile } from '../madeFile.ts';
import { composition, prometheusSettings } from './compose.ts';
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
  return Promise.all([
    ...VARIANTS.map(async (variant) => manifestFile(variant)),
    made(
      'deploy/compose.yaml',
      'A rehearsal on one machine: the service, the operator simulator, a Redis and a Prometheus. Every answer is invented.',
      [composition(IMAGE)],
    ),
    made('deploy/prometheus.yml', 'What Prometheus reads in compose.yaml.', [prometheusSettings()]),
  ]);
}

function manifestFile(variant: Variant): Promise<MadeFile> {
  const manifests = manifestsOf(variant, IMAGE, settingsFiles(variant));
  return made(`deploy/kubernetes/${variant.file}.yaml`, variant.purpose, manifests);
}

async function made(
  file: string,
  purpose: string,
  documents: readonly unknown[],
): Promise<MadeFile> {
  const path = fileURLToPath(new URL(file, TOP));
  const texts = documents.map((document) =>
    // No anchors: kubectl reads them, and people do not.
    stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 }),
  );
  const head = `# ${purpose}\n# Made by npm run generate from scripts/deployment; how to use it: docs/kubernetes.md, docs/container.md.\n`;
  return { path, text: await pretty(head + texts.join('---\n'), path) };
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
