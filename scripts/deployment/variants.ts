import type { VariableName } from '../../src/config/settings.ts';

/** Pods that a NetworkPolicy lets through: by the name of their namespace and their `app.kubernetes.io/name`. */
export interface Peer {
  readonly namespace: string;
  readonly name: string;
}

/** Settings, by their names: one that does not exist does not compile. */
export type Environment = Readonly<Partial<Record<VariableName, string>>>;

/** One way to run the service in a cluster. What is the same in all of them stands in manifests.ts. */
export interface Variant {
  /** Of the file, without its end. */
  readonly file: string;
  /** What it is for; stands at the top of the file. */
  readonly purpose: string;
  /** Of every object, and of the Secret that its files come from. */
  readonly name: string;
  readonly namespace: string;
  readonly environment: Environment;
  /** Production takes operators and secrets from files; a rehearsal needs neither, and runs its own Redis and simulator. */
  readonly stage: 'production' | 'rehearsal';
  /** Who may ask it; beside them Prometheus alone gets in, and `kubectl port-forward`, which no policy keeps out. */
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
export const SIMULATOR_PORT = 4010;

export const REDIS_IMAGE = 'docker.io/library/redis:7.4';
/** In memory alone, and never a consent thrown away to make room. */
export const REDIS_COMMAND = ['redis-server', '--save', '', '--maxmemory-policy', 'noeviction'];

/** The simulator of the image. It listens to other containers. */
export const SIMULATOR_COMMAND = [
  'node',
  '--disallow-code-generation-from-strings',
  'src/simulator/main.ts',
  '--host',
  '0.0.0.0',
  '--port',
  String(SIMULATOR_PORT),
];

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
  // A Secret or a ConfigMap that changes is taken over by itself.
  RELOAD_ON_CHANGE: 'true',
} as const;

const REHEARSAL_NAMESPACE = 'sim-swap-rehearsal';

/**
 * Settings of a rehearsal, whose every answer is the simulator's invention. Its keys are no secrets: they
 * guard invented numbers, and DEV_TOKENS keeps the service from starting with an operator.
 */
export function rehearsalEnvironment(simulatorUrl: string, redisUrl: string): Environment {
  return {
    ROLE: 'bff',
    METRICS_PORT: String(METRICS_PORT),
    SIMULATOR: simulatorUrl,
    DEV_TOKENS: 'true',
    AUDIT_KEY: 'rehearsal-only-rehearsal-only-rehearsal-only',
    REDIS_URL: redisUrl,
    STATE_KEY: Buffer.from('rehearsal-only-rehearsal-only-re').toString('base64'),
  };
}

export const VARIANTS: readonly Variant[] = [
  {
    file: 'rehearsal',
    purpose:
      'A rehearsal: the BFF with the operator simulator and a Redis of its own. Every answer is invented.',
    name: 'sim-swap',
    namespace: REHEARSAL_NAMESPACE,
    stage: 'rehearsal',
    environment: rehearsalEnvironment(
      `http://simulator:${SIMULATOR_PORT}`,
      `redis://redis:${REDIS_PORT}`,
    ),
    callers: [],
    redis: { namespace: REHEARSAL_NAMESPACE, name: 'redis' },
  },
  {
    file: 'subgraph',
    purpose:
      'The subgraph behind a router: the router alone asks it, and proves itself by a secret.',
    name: 'sim-swap-subgraph',
    namespace: 'sim-swap',
    stage: 'production',
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
    stage: 'production',
    environment: {
      ...PRODUCTION,
      ROLE: 'bff',
      TRUSTED_DOCUMENTS: `${SETTINGS_PATH}/persisted-documents.json`,
    },
    callers: [{ namespace: 'ingress-nginx', name: 'ingress-nginx' }],
    redis: REDIS,
  },
];
