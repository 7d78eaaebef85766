import { expect, it } from 'vitest';
import { answerJson, RecordingServer, type Answer } from '../wire/recordingServer.ts';
import { DEMO_ENTRY, OperatorsFile } from '../support/operatorsFile.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { Authority } from '../tls/authority.ts';
import { check, failed, rowsOf, verdicts } from './checked.ts';

const files = new TemporaryFiles();

/** An operator with a discovery document, and how its check ends. */
async function checkDiscovered(metadata: object, status = 200, authority?: Authority) {
  const answer: Answer = (received, response) => {
    if (received.path.startsWith('/.well-known')) {
      const named = { issuer: operator.url, token_endpoint: `${operator.url}/token` };
      answerJson(received, response, { ...named, ...metadata }, status);
    } else if (received.method === 'POST') {
      answerJson(received, response, { access_token: 'issued', token_type: 'Bearer' });
    } else {
      answerJson(received, response, {}, 405);
    }
  };
  await using operator = await RecordingServer.start(answer, authority?.issue());
  const file = new OperatorsFile([
    {
      name: 'discovered',
      prefixes: ['default'],
      flow: '2-legged',
      discovery: { issuer: operator.url },
      simSwapUrl: `${operator.url}/sim-swap/v2`,
      client: DEMO_ENTRY,
      ...(authority && { tls: { ca: { file: files.write('ca.pem', authority.pem) } } }),
    },
  ]);
  return await check({ OPERATORS_FILE: file.path });
}

it('an operator is found by its discovery document', async () => {
  const scopes_supported = ['retrieve-sim-swap-date', 'check-sim-swap'];
  const report = await checkDiscovered({ scopes_supported });
  expect(verdicts(report)).toMatchObject({ discovery: 'ok', credentials: 'ok', scopes: 'ok' });
  expect(rowsOf(report, 'tcp')).toHaveLength(1);
});

it('what the document does not name is reported', async () => {
  const named = { scopes_supported: ['check-sim-swap'], grant_types_supported: ['implicit'] };
  const report = await checkDiscovered(named);
  const found = 'does not name retrieve-sim-swap-date, client_credentials';
  expect(rowsOf(report, 'discovery')).toMatchObject([{ verdict: 'warning', found }]);
  expect(failed(report)).toEqual([]);
});

const ELSEWHERE = 'https://other.example';
it.each<[string, object, number, RegExp]>([
  ['of another issuer', { issuer: ELSEWHERE }, 200, /letter by letter/],
  ['without an endpoint', { token_endpoint: 7 }, 200, /lacks an endpoint/],
  ['with an endpoint elsewhere', { token_endpoint: ELSEWHERE }, 200, /discovery\.hosts/],
  ['that is not there', {}, 404, /cannot be read/],
])('a document %s', async (_, metadata, status, advice) => {
  const report = await checkDiscovered(metadata, status);
  expect(failed(report)).toEqual(['discovery']);
  expect(rowsOf(report, 'discovery')[0]?.advice).toMatch(advice);
  expect(verdicts(report)).toMatchObject({ credentials: 'not tried' });
});

it('a document whose certificate is not trusted fails, although tls.ca has its authority for the rest', async () => {
  const report = await checkDiscovered({}, 200, new Authority('Of the operator'));
  expect(failed(report)).toEqual(['tls']);
  expect(rowsOf(report, 'tls')[0]?.advice).toContain('EGRESS_CA_FILE');
  expect(verdicts(report)).toMatchObject({ credentials: 'not tried' });
});
