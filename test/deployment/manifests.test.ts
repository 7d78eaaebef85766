import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { makeDeploymentFiles } from '../../scripts/deployment/files.ts';
import { problemsOf } from './kubernetesSchemas.ts';

type Document = Record<string, unknown>;

async function manifestsOf(file: string): Promise<readonly Document[]> {
  const files = await makeDeploymentFiles();
  const made = files.find(({ path }) => path.endsWith(`/kubernetes/${file}.yaml`));
  return parseAllDocuments(made?.text ?? '').map((document) => document.toJS() as Document);
}

test('the files are those of the definition', async () => {
  for (const { path, text } of await makeDeploymentFiles()) {
    expect(readFileSync(path, 'utf8'), `npm run generate writes ${path}`).toBe(text);
  }
});

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

describe.each([
  ['subgraph', KINDS],
  ['bff', KINDS],
  ['rehearsal', [...KINDS.filter((kind) => kind !== 'ConfigMap'), ...COMPANIONS]],
])('deploy/kubernetes/%s.yaml', (file, kinds) => {
  it('holds against the schemas of Kubernetes, without a field that these do not know', async () => {
    const manifests = await manifestsOf(file);
    expect(manifests.map(({ kind }) => kind)).toEqual(kinds);
    expect(manifests.flatMap(problemsOf)).toEqual([]);
  });

  it.runIf(file !== 'rehearsal')('has no secret in it', async () => {
    const manifests = await manifestsOf(file);
    expect(manifests.map(({ kind }) => kind)).not.toContain('Secret');
    const variables = environmentIn(manifests).map(({ name }) => name);
    expect(variables.filter((name) => /SECRET$|KEY$|^REDIS_URL$/.test(name))).toEqual([]);
  });
});

it('a rehearsal lets in Prometheus alone', async () => {
  const policy = (await manifestsOf('rehearsal')).find(({ kind }) => kind === 'NetworkPolicy');
  const { spec } = policy as unknown as { spec: { ingress: readonly { from: unknown }[] } };
  expect(spec.ingress).toHaveLength(1);
  expect(JSON.stringify(spec.ingress)).toContain('"prometheus"');
});

it.each([
  ['a misspelt field', 'readinessProbe', 'readynessProbe'],
  ['a misspelt field deep inside', 'periodSeconds', 'periodSecond'],
  ['a field of another object', 'enableServiceLinks', 'maxUnavailable'],
])('%s would be found', async (_, right, wrong) => {
  const deployment = (await manifestsOf('subgraph')).find(({ kind }) => kind === 'Deployment');
  const text = JSON.stringify(deployment).replace(`"${right}"`, `"${wrong}"`);
  const problems = problemsOf(JSON.parse(text) as Document);
  expect(problems).toEqual([
    expect.stringContaining(`/${wrong} is no field of apps/v1 Deployment`),
  ]);
});

it.each([
  ['a text for a number', '"containerPort":4000', '"containerPort":"4000"'],
  ['no selector', '"selector":{"matchLabels":', '"selectors":{"matchLabels":'],
])('%s would be found', async (_, right, wrong) => {
  const deployment = (await manifestsOf('subgraph')).find(({ kind }) => kind === 'Deployment');
  expect(
    problemsOf(JSON.parse(JSON.stringify(deployment).replace(right, wrong)) as Document),
  ).not.toEqual([]);
});

function environmentIn(manifests: readonly Document[]): readonly { name: string }[] {
  const deployment = manifests.find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: { spec: { containers: [{ env: readonly { name: string }[] }] } } };
  };
  return deployment.spec.template.spec.containers[0].env;
}
