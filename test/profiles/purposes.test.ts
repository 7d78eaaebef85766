import { expect, it } from 'vitest';
import { told } from '../endToEnd/answers.ts';
import { startServiceOf } from '../support/operatorsFile.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { readFileSync } from 'node:fs';
import { camaraPapers, PLAYED, SECRETS, type CamaraRecord } from './papers.ts';
import { StrictOperator } from './strictOperator.ts';

const files = new TemporaryFiles();
let audits = 0;
const PURPOSES =
  'fraud=dpv:FraudPreventionAndDetection,scams=dpv:FraudPreventionAndDetection,id=dpv:IdentityVerification,plain';
const [NUMBER, OTHER] = ['+447700900004', '+447700900006'] as const;

async function start(flow: 'camara' | 'camara, 2-legged', members: object = {}) {
  const record: CamaraRecord = { prompts: [], scopes: [] };
  const operator = await StrictOperator.start(camaraPapers(record));
  const entry = { ...PLAYED[flow].entry(operator.url, 'PLAYED'), ...members };
  const auditLog = files.write(`audit-${(audits += 1)}.jsonl`, '');
  const service = await startServiceOf([{ name: 'theirs', prefixes: ['+44'], ...entry }], {
    ...SECRETS,
    PURPOSES,
    AUDIT_KEY: 'k'.repeat(32),
    AUDIT_LOG: auditLog,
  });
  return {
    ...record,
    service,
    operator,
    async ask(purpose: string, number: string = NUMBER) {
      const query = `{ phoneNumber(e164: "${number}") { simSwappedWithin(maxAgeHours: 24) } }`;
      return Object.values(told(await service.ask(query, {}, { 'x-purpose': purpose })))[0];
    },
    audited: () =>
      readFileSync(auditLog, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    async [Symbol.asyncDispose]() {
      await service.stop();
      await operator[Symbol.asyncDispose]();
      expect(operator.refused).toEqual([]);
    },
  };
}

it('owners are prompted for the purpose of the caller: once for each, and once for two names of one', async () => {
  await using stated = await start('camara');
  for (const purpose of ['fraud', 'id', 'scams', 'id']) {
    expect(await stated.ask(purpose)).toBe(false);
  }
  expect(stated.prompts).toEqual([
    [NUMBER, 'dpv:FraudPreventionAndDetection'],
    [NUMBER, 'dpv:IdentityVerification'],
  ]);
  const lines = stated.audited().filter(({ audit }) => audit === 'before' || audit === 'kept');
  expect(
    lines.map(({ event, audit, purpose, sentPurpose }) => [event, audit, purpose, sentPurpose]),
  ).toEqual([
    ['consent-request', 'before', 'fraud', 'dpv:FraudPreventionAndDetection'],
    ['lookup', 'before', 'fraud', 'dpv:FraudPreventionAndDetection'],
    ['consent-request', 'before', 'id', 'dpv:IdentityVerification'],
    ['lookup', 'before', 'id', 'dpv:IdentityVerification'],
    ['lookup', 'kept', 'scams', 'dpv:FraudPreventionAndDetection'],
    ['lookup', 'kept', 'id', 'dpv:IdentityVerification'],
  ]);
});

it('a token for any number serves its own purpose only, and both names of it', async () => {
  await using stated = await start('camara, 2-legged', { tokens: { use: 'any-number' } });
  for (const purpose of ['fraud', 'id', 'scams', 'id']) {
    for (const number of [NUMBER, OTHER]) expect(await stated.ask(purpose, number)).toBe(false);
  }
  expect(stated.scopes).toEqual([
    'dpv:FraudPreventionAndDetection sim-swap:check',
    'dpv:IdentityVerification sim-swap:check',
  ]);
  expect(stated.operator.answered.lookup).toBe(8);
});

it.each<[string, object, readonly string[]]>([
  ['that is mapped to none', {}, ['plain']],
  [
    'that the contract does not allow',
    { purposes: ['dpv:IdentityVerification'] },
    ['fraud', 'scams', 'plain'],
  ],
])(
  'a purpose %s is refused before anything is sent, with a warning at the start',
  async (_, members, refused) => {
    await using stated = await start('camara', members);
    expect(stated.service.logged.join('\n')).toContain(`"${refused.join(', ')}"`);
    for (const purpose of refused) expect(await stated.ask(purpose)).toBe('OPERATOR_REFUSED');
    expect(stated.operator.answered).toMatchObject({ prompt: 0, token: 0, lookup: 0 });
    expect(await stated.ask('id')).toBe(false);
  },
);
