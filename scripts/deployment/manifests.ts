import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSecurityContext } from 'kubernetes-models/v1/PodSecurityContext';
import type { ISecurityContext } from 'kubernetes-models/v1/SecurityContext';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { INamespace } from 'kubernetes-models/v1/Namespace';
import type { IService } from 'kubernetes-models/v1/Service';
import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { INetworkPolicyEgressRule } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyEgressRule';
import type { INetworkPolicyPeer } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPeer';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import {
  METRICS_PORT,
  PORT,
  PRE_STOP_SECONDS,
  REDIS_COMMAND,
  REDIS_IMAGE,
  REDIS_PORT,
  SECRETS_PATH,
  SETTINGS_PATH,
  SIMULATOR_COMMAND,
  SIMULATOR_PORT,
  TERMINATION_SECONDS,
  type Peer,
  type Variant,
} from './variants.ts';

export type Manifest =
  | IConfigMap
  | IDeployment
  | IHorizontalPodAutoscaler
  | INamespace
  | INetworkPolicy
  | IPodDisruptionBudget
  | IService
  | IServiceAccount;

/** The user `node` of the image. */
const NODE_USER = 1000;

const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: NODE_USER,
  runAsGroup: NODE_USER,
  fsGroup: NODE_USER,
  seccompProfile: { type: 'RuntimeDefault' },
} as const satisfies IPodSecurityContext;

const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} satisfies ISecurityContext;

/** A volume, and where it stands in the container. */
interface Mount {
  readonly volume: IVolume;
  readonly path: string;
}

function mountsOf({ name, stage }: Variant): readonly Mount[] {
  const tmp = { volume: { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }, path: '/tmp' };
  switch (stage) {
    case 'production':
      return [
        { volume: { name: 'settings', configMap: { name } }, path: SETTINGS_PATH },
        {
          // Whole, not by subPath: a file of a subPath is not renewed.
          volume: { name: 'secrets', secret: { secretName: name, defaultMode: 0o440 } },
          path: SECRETS_PATH,
        },
        tmp,
      ];
    case 'rehearsal':
      return [tmp];
  }
}

/** The objects of a variant, in the order in which a cluster wants them. Pure. */
export function manifestsOf(
  variant: Variant,
  image: string,
  settingsFiles: Readonly<Record<string, string>>,
): readonly Manifest[] {
  const { name, namespace } = variant;
  const labels = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'sim-swap' };
  const metadata = { name, namespace, labels };
  const selector = { matchLabels: { 'app.kubernetes.io/name': name } };
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
      },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
    ...settings(variant, metadata, settingsFiles),
    deployment(variant, image, metadata),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        selector: selector.matchLabels,
        ports: [{ name: 'http', port: PORT, targetPort: 'http' }],
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { selector, maxUnavailable: 1 },
    },
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: 2,
        maxReplicas: 10,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
          },
        ],
      },
    },
    networkPolicy(variant, metadata),
    ...companions(variant, image),
  ];
}

/** The operators' file, and what else stands beside it. */
function settings(
  { stage }: Variant,
  metadata: Metadata,
  files: Readonly<Record<string, string>>,
): readonly Manifest[] {
  switch (stage) {
    case 'production':
      return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { ...files } }];
    case 'rehearsal':
      return [];
  }
}

/** What a rehearsal brings along. */
function companions({ stage, namespace }: Variant, image: string): readonly Manifest[] {
  switch (stage) {
    case 'production':
      return [];
    case 'rehearsal':
      return [
        ...companion('simulator', namespace, image, SIMULATOR_COMMAND, SIMULATOR_PORT),
        ...companion('redis', namespace, REDIS_IMAGE, REDIS_COMMAND, REDIS_PORT),
      ];
  }
}

/** One container behind a Service, with no rights and nothing to keep. */
function companion(
  name: string,
  namespace: string,
  image: string,
  command: readonly string[],
  port: number,
): readonly Manifest[] {
  const labels = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'sim-swap' };
  const metadata = { name, namespace, labels };
  const selector = { matchLabels: { 'app.kubernetes.io/name': name } };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 1,
        selector,
        template: {
          metadata: { labels },
          spec: {
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            securityContext: POD_SECURITY,
            containers: [
              {
                name,
                image,
                command: [...command],
                ports: [{ name: 'tcp', containerPort: port }],
                readinessProbe: { tcpSocket: { port: 'tcp' }, periodSeconds: 2 },
                resources: {
                  requests: { cpu: '100m', memory: '128Mi' },
                  limits: { memory: '256Mi' },
                },
                securityContext: CONTAINER_SECURITY,
                volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
              },
            ],
            volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: selector.matchLabels, ports: [{ name: 'tcp', port, targetPort: 'tcp' }] },
    },
  ];
}

type Metadata = NonNullable<IDeployment['metadata']>;

function deployment(variant: Variant, image: string, metadata: Metadata): IDeployment {
  const { name } = variant;
  const mounts = mountsOf(variant);
  const selector = { matchLabels: { 'app.kubernetes.io/name': name } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      // How many is the autoscaler's word.
      selector,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: {
          labels: metadata.labels ?? {},
          annotations: {
            'prometheus.io/scrape': 'true',
            'prometheus.io/port': String(METRICS_PORT),
          },
        },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: false,
          // The variables of other services would stand among ours, and some look like settings.
          enableServiceLinks: false,
          terminationGracePeriodSeconds: TERMINATION_SECONDS,
          securityContext: POD_SECURITY,
          topologySpreadConstraints: (
            ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'] as const
          ).map((topologyKey) => ({
            maxSkew: 1,
            topologyKey,
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: selector,
          })),
          containers: [container(variant, image, mounts)],
          volumes: mounts.map(({ volume }) => volume),
        },
      },
    },
  };
}

function container(
  { name, environment }: Variant,
  image: string,
  mounts: readonly Mount[],
): IContainer {
  return {
    name,
    image,
    env: Object.entries(environment).map(([variable, value]) => ({ name: variable, value })),
    ports: [
      { name: 'http', containerPort: PORT },
      { name: 'metrics', containerPort: METRICS_PORT },
    ],
    startupProbe: probe('/livez', { periodSeconds: 1, failureThreshold: 60 }),
    livenessProbe: probe('/livez', { periodSeconds: 10, failureThreshold: 3 }),
    readinessProbe: probe('/readyz', { periodSeconds: 5, failureThreshold: 1 }),
    lifecycle: { preStop: { sleep: { seconds: PRE_STOP_SECONDS } } },
    // A lookup is CPU: a limit on it would make answers late in bursts.
    resources: { requests: { cpu: '500m', memory: '256Mi' }, limits: { memory: '512Mi' } },
    securityContext: CONTAINER_SECURITY,
    volumeMounts: mounts.map(({ volume, path }) => ({
      name: volume.name,
      mountPath: path,
      ...(volume.emptyDir === undefined ? { readOnly: true } : {}),
    })),
  };
}

function probe(path: string, rhythm: { periodSeconds: number; failureThreshold: number }) {
  return { httpGet: { path, port: 'http' }, timeoutSeconds: 3, ...rhythm };
}

/** Lets in who asks and Prometheus, and out to names, the shared state, operators and the issuer. */
function networkPolicy(
  { name, callers, redis, stage }: Variant,
  metadata: Metadata,
): INetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata,
    spec: {
      podSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        // An empty list would admit everyone.
        ...(callers.length === 0 ? [] : [{ from: callers.map(peer), ports: [tcp(PORT)] }]),
        {
          from: [peer({ namespace: 'monitoring', name: 'prometheus' })],
          ports: [tcp(METRICS_PORT)],
        },
      ],
      egress: [
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
              podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
            },
          ],
          ports: [{ protocol: 'UDP', port: 53 }, tcp(53)],
        },
        { to: [peer(redis)], ports: [tcp(REDIS_PORT)] },
        operatorsOf(stage, redis.namespace),
      ],
    },
  };
}

/** Where operators are, and the issuer. */
function operatorsOf(stage: Variant['stage'], namespace: string): INetworkPolicyEgressRule {
  switch (stage) {
    case 'production':
      // Wherever they are, but for the cloud's own metadata service.
      return {
        to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } }],
        ports: [tcp(443)],
      };
    case 'rehearsal':
      return { to: [peer({ namespace, name: 'simulator' })], ports: [tcp(SIMULATOR_PORT)] };
  }
}

function peer({ namespace, name }: Peer): INetworkPolicyPeer {
  return {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
  };
}

function tcp(port: number) {
  return { protocol: 'TCP', port } as const;
}
