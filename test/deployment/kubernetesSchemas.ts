import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap';
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment';
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget';
import { validate as autoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler';
import { validate as namespace } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Namespace';
import { validate as networkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy';
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service';
import { validate as serviceAccount } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ServiceAccount';

type Validate = ((data: unknown) => boolean) & {
  readonly errors?: readonly { instancePath: string; keyword: string; params: unknown }[] | null;
};

const SCHEMAS: Readonly<Record<string, Validate>> = {
  'v1 ConfigMap': configMap,
  'v1 Namespace': namespace,
  'v1 Service': service,
  'v1 ServiceAccount': serviceAccount,
  'apps/v1 Deployment': deployment,
  'autoscaling/v2 HorizontalPodAutoscaler': autoscaler,
  'networking.k8s.io/v1 NetworkPolicy': networkPolicy,
  'policy/v1 PodDisruptionBudget': disruptionBudget,
};

/** The problems of a manifest by Kubernetes' own schema. */
export function problemsOf(manifest: Readonly<Record<string, unknown>>): readonly string[] {
  const kind = `${String(manifest['apiVersion'])} ${String(manifest['kind'])}`;
  const validate = SCHEMAS[kind];
  if (validate === undefined) return [`${kind} is not among the schemas`];
  const reading = new Reading();
  const isValid = validate(reading.follow(manifest, ''));
  const errors = isValid ? [] : (validate.errors ?? []);
  return [
    ...errors.map(({ instancePath, keyword, params }) => {
      return `${instancePath}: ${keyword} ${JSON.stringify(params)}`;
    }),
    ...reading.unread(manifest, '').map((path) => `${path} is not a field of ${kind}`),
  ];
}

/** What a validator reads. Kubernetes' schemas allow unknown, and so misspelt, fields: no validator reads those. */
class Reading {
  readonly #read = new Set<string>();
  /** Maps, whose names are free. */
  readonly #enumerated = new Set<string>();

  follow<T>(value: T, path: string): T {
    if (typeof value !== 'object' || value === null) return value;
    return new Proxy(value, {
      get: (target, name, receiver) => {
        const inner = `${path}/${String(name)}`;
        this.#read.add(inner);
        return this.follow(Reflect.get(target, name, receiver), inner);
      },
      ownKeys: (target) => {
        this.#enumerated.add(path);
        return Reflect.ownKeys(target);
      },
    });
  }

  unread(value: unknown, path: string): readonly string[] {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) => {
      const innerPath = `${path}/${name}`;
      const isKnown = this.#read.has(innerPath) || this.#enumerated.has(path);
      return isKnown ? this.unread(inner, innerPath) : [innerPath];
    });
  }
}
