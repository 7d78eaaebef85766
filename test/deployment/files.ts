import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

/** An object of Kubernetes. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** The part of a container that tests read. */
export interface Container {
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: object;
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

/** The part of a Deployment's pods that tests read. */
export interface Pods {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly terminationGracePeriodSeconds: number;
    readonly securityContext: object;
    readonly containers: readonly [Container];
  };
}

export const VARIANTS = ['subgraph', 'bff', 'rehearsal'] as const;

export type Variant = (typeof VARIANTS)[number];

/** Why overlays cannot be built here, or undefined. */
export const NO_KUBECTL = reasonWithout();

function reasonWithout(): string | undefined {
  try {
    execFileSync('kubectl', ['kustomize', '--help'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'There is no kubectl with kustomize: scripts/installKubectl.sh';
  }
}

/** What `kubectl kustomize` makes of an overlay; nothing where there is none. */
export function manifestsOf(variant: Variant): readonly Manifest[] {
  return BUILT[variant];
}

function built(variant: Variant): readonly Manifest[] {
  if (NO_KUBECTL !== undefined) return [];
  const overlay = fileURLToPath(new URL(`../../deploy/kubernetes/${variant}`, import.meta.url));
  const text = execFileSync('kubectl', ['kustomize', overlay], { encoding: 'utf8' });
  return parsed(text, variant) as readonly Manifest[];
}

const BUILT = { subgraph: built('subgraph'), bff: built('bff'), rehearsal: built('rehearsal') };

/** The pods of the service; in a rehearsal then those of the simulator and of Redis. */
export function podsOf(variant: Variant): readonly [Pods, ...Pods[]] {
  const deployments = manifestsOf(variant)
    .filter(({ kind }) => kind === 'Deployment')
    // Kustomize orders them by name.
    .toSorted((one, other) => isService(other) - isService(one));
  return deployments.map(({ spec }) => (spec as { template: Pods }).template) as [Pods, ...Pods[]];
}

function isService({ metadata }: Manifest): number {
  return Number(metadata.name === 'sim-swap');
}

/** The settings of a container. */
export function settingsOf({ env }: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

/** The documents of a YAML file in deploy/. */
export function documentsIn(file: string): readonly unknown[] {
  const text = readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');
  return parsed(text, file);
}

function parsed(text: string, file: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join(', ')}`);
    return document.toJS() as unknown;
  });
}
