import type { VariableName } from '../../src/config/settings.ts';

/** Pods that a NetworkPolicy lets through: by the name of their namespace and their `app.kubernetes.io/name`. */
export interface Peer {
  readonly namespace: string;
  readonly name: string;
}

/** One way to run the service in a cluster. What is the same in all of them stands in manifests.ts. */
export interface Variant {
  /** Of the file, without its end. */
  readonly file: string;
  /** What it is for; stands at the top of the file. */
  readonly purpose: string;
  /** Of every object, and of the Secret that its files come from. */
  readonly name: string;
  readonly namespace: string;
  readonly environment: Readonly<Partial<Record<VariableName, string>>>;
  /** Who may ask it; beside them Prometheus alone gets in. */
  readonly callers: readonly Peer[];
  /** Where its shared state lies, inside of the cluster. */
  readonly redis: Peer;
}

/** Where the files of the Secret stand in the container. */
export const SECRETS_PATH = '/run/secrets/sim-swap';

/** Where the ConfigMap stands in the container. */
export const SETTINGS_PATH = '/etc/sim-swap';

export const PORT = 4000;
export const METRICS_PORT = 9464;
export const REDIS_PORT = 6379;

/** Time for routers and proxies to notice that a pod is going, in which it still serves. */
export const PRE_STOP_SECONDS = 5;

/** The longest that a pod may take to end: a test holds it against what a drain may take. */
export const TERMINATION_SECONDS = 60;

const REDIS: Peer = { namespace: 'data', name: 'redis' };

/** Settings of production: callers are known, secrets are files, several replicas share one state. */
const PRODUCTION = {
  METRICS_PORT: String(METRICS_PORT),
  JWT_JWKS_URL: 'https://issuer.example/.well-known/jwks.json',
  JWT_ISSUER: 'https://issuer.example',
  JWT_AUDIENCE: 'sim-swap',
  AUDIT_KEY_FILE: `${SECRETS_PATH}/audit-key`,
  OPERATORS_FILE: `${SETTINGS_PATH}/operators.jsonc`,
  REDIS_URL_FILE: `${SECRETS_PATH}/redis-url`,
  STATE_KEY_FILE: `${SECRETS_PATH}/state-key`,
} as const;

export const VARIANTS: readonly Variant[] = [
  {
    file: 'subgraph',
    purpose:
      'The subgraph behind a router: the router alone asks it, and proves itself by a secret.',
    name: 'sim-swap-subgraph',
    namespace: 'sim-swap',
    environment: {
      ...PRODUCTION,
      ROLE: 'subgraph',
      ROUTER_SECRET_FILE: `${SECRETS_PATH}/router-secret`,
    },
    callers: [{ namespace: 'graph', name: 'router' }],
    redis: REDIS,
  },
  {
    file: 'bff',
    purpose:
      'The BFF of a mobile app, behind an ingress controller: it serves the documents of the app alone.',
    name: 'sim-swap-bff',
    namespace: 'sim-swap',
    environment: {
      ...PRODUCTION,
      ROLE: 'bff',
      TRUSTED_DOCUMENTS: `${SETTINGS_PATH}/persisted-documents.json`,
    },
    callers: [{ namespace: 'ingress-nginx', name: 'ingress-nginx' }],
    redis: REDIS,
  },
];
