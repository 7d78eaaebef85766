import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { VARIABLE_NAMES } from '../../src/config/settings.ts';
import { manifestsOf, NO_KUBECTL, podsOf, settingsOf, type Manifest } from './files.ts';
import { problemsOf } from './kubernetesSchemas.ts';

const KINDS = [
  'Namespace',
  'ServiceAccount',
  'ConfigMap',
  'Deployment',
  'Service',
  'PodDisruptionBudget',
  'HorizontalPodAutoscaler',
  'NetworkPolicy',
];

/** The simulator and the Redis, each behind a Service. */
const COMPANIONS = ['Deployment', 'Service', 'Deployment', 'Service'];

describe.skipIf(NO_KUBECTL !== undefined).each([
  ['subgraph', KINDS],
  ['bff', KINDS],
  ['rehearsal', [...KINDS.filter((kind) => kind !== 'ConfigMap'), ...COMPANIONS]],
] as const)('deploy/kubernetes/%s', (variant, kinds) => {
  const manifests = manifestsOf(variant);

  it('is valid by the schemas of Kubernetes, without unknown fields', () => {
    expect(manifests.map(({ kind }) => kind)).toEqual(expect.arrayContaining([...kinds]));
    expect(manifests).toHaveLength(kinds.length);
    expect(manifests.flatMap(problemsOf)).toEqual([]);
  });

  it('has the image of this version, the port of its metrics, and known settings without secrets', () => {
    const [pods] = podsOf(variant);
    const [container] = pods.spec.containers;
    expect(container.image).toBe(`sim-swap-subgraph:${project.version}`);
    const port = settingsOf(container)['METRICS_PORT'];
    expect(pods.metadata.annotations['prometheus.io/port']).toBe(port);
    expect(container.ports.map(({ containerPort }) => String(containerPort))).toContain(port);
    const known: ReadonlySet<string> = VARIABLE_NAMES;
    const names = container.env.map(({ name }) => name);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    const secrets = names.filter((name) => /SECRET$|KEY$|^REDIS_URL$/.test(name));
    expect(variant === 'rehearsal' ? [] : secrets).toEqual([]);
    expect(kinds).not.toContain('Secret');
  });

  it('gives all containers the same rights', () => {
    const [pods, ...companions] = podsOf(variant);
    const [container] = pods.spec.containers;
    for (const { spec } of companions) {
      expect(spec.securityContext).toEqual(pods.spec.securityContext);
      expect(spec.containers[0].securityContext).toEqual(container.securityContext);
    }
  });
});

describe.skipIf(NO_KUBECTL !== undefined)('the variants', () => {
  it('in production share their settings, except for role and documents', () => {
    const [subgraph, bff] = (['subgraph', 'bff'] as const).map((variant) => {
      const settings = settingsOf(podsOf(variant)[0].spec.containers[0]);
      const { ROLE, ROUTER_SECRET_FILE, TRUSTED_DOCUMENTS, ...others } = settings;
      return { own: { ROLE, ROUTER_SECRET_FILE, TRUSTED_DOCUMENTS }, others };
    });
    expect(bff?.others).toEqual(subgraph?.others);
    expect([subgraph?.own, bff?.own]).toEqual([
      { ROLE: 'subgraph', ROUTER_SECRET_FILE: '/run/secrets/sim-swap/router-secret' },
      { ROLE: 'bff', TRUSTED_DOCUMENTS: '/etc/sim-swap/persisted-documents.json' },
    ]);
  });

  it('share the operators, and the bff has the documents of the mobile example', () => {
    const [subgraph, bff] = (['subgraph', 'bff'] as const).map(
      (variant) => manifestsOf(variant).find(({ kind }) => kind === 'ConfigMap')?.['data'],
    ) as readonly Readonly<Record<string, string>>[];
    expect(bff?.['operators.jsonc']).toBe(subgraph?.['operators.jsonc']);
    const example = new URL(
      '../../examples/mobile-bff/generated/persisted-documents.json',
      import.meta.url,
    );
    expect(JSON.parse(bff?.['persisted-documents.json'] ?? '')).toEqual(
      JSON.parse(readFileSync(example, 'utf8')),
    );
  });
});

it.skipIf(NO_KUBECTL !== undefined)('a rehearsal lets in only Prometheus', () => {
  const policy = manifestsOf('rehearsal').find(({ kind }) => kind === 'NetworkPolicy');
  const spec = policy?.['spec'] as { readonly ingress: readonly unknown[] } | undefined;
  expect(spec?.ingress).toHaveLength(1);
  expect(JSON.stringify(spec?.ingress)).toContain('"prometheus"');
});

/** The subgraph's Deployment, with a flaw. */
function flawed(right: string, wrong: string): Manifest {
  const deployment = manifestsOf('subgraph').find(({ kind }) => kind === 'Deployment');
  return JSON.parse(JSON.stringify(deployment).replace(right, wrong)) as Manifest;
}

it.skipIf(NO_KUBECTL !== undefined).each([
  ['a misspelt field', '"periodSeconds"', '"periodSecond"', /\/periodSecond is not a field/],
  ["another object's", '"enableServiceLinks"', '"maxUnavailable"', /\/maxUnavailable is not a/],
  ['a text for a number', '"containerPort":4000', '"containerPort":"4000"', /containerPort: type/],
  ['no selector', '"selector":{"matchLabels":', '"selectors":{"matchLabels":', /required/],
])('finds %s', (_, right, wrong, problem) => {
  expect(problemsOf(flawed(right, wrong))).toContainEqual(expect.stringMatching(problem));
});
