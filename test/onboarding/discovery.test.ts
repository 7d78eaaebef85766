import { expect, it } from 'vitest';
import { answerJson, RecordingServer } from '../http/recordingServer.ts';
import { DEMO_ENTRY, OperatorsFile } from '../operatorsFile.ts';
import { check, failed, rowsOf, verdicts } from './checked.ts';

interface Published {
  readonly metadata?: object;
  readonly status?: number;
}

/** An operator with a discovery document, and how its check ends. */
async function checkDiscovered({ metadata = {}, status = 200 }: Published) {
  await using operator = await RecordingServer.start((received, response) => {
    if (received.path.startsWith('/.well-known')) {
      const document = {
        issuer: operator.url,
        token_endpoint: `${operator.url}/token`,
        ...metadata,
      };
      answerJson(received, response, document, status);
    } else if (received.method === 'POST') {
      answerJson(received, response, { access_token: 'issued', token_type: 'Bearer' });
    } else {
      answerJson(received, response, {}, 405);
    }
  });
  using file = new OperatorsFile([
    {
      name: 'discovered',
      prefixes: ['default'],
      flow: '2-legged',
      discovery: { issuer: operator.url },
      simSwapUrl: `${operator.url}/sim-swap/v2`,
      client: DEMO_ENTRY,
    },
  ]);
  return await check({ OPERATORS_FILE: file.path });
}

it('an operator is found by its discovery document', async () => {
  const report = await checkDiscovered({
    metadata: { scopes_supported: ['retrieve-sim-swap-date', 'check-sim-swap'] },
  });
  expect(verdicts(report)).toMatchObject({ discovery: 'ok', credentials: 'ok', scopes: 'ok' });
  expect(rowsOf(report, 'tcp')).toHaveLength(1);
});

it('what the document does not name is reported', async () => {
  const report = await checkDiscovered({
    metadata: { scopes_supported: ['check-sim-swap'], grant_types_supported: ['implicit'] },
  });
  expect(rowsOf(report, 'discovery')).toMatchObject([
    { verdict: 'warning', found: 'does not name retrieve-sim-swap-date, client_credentials' },
  ]);
  expect(failed(report)).toEqual([]);
});

it.each([
  ['of another issuer', { metadata: { issuer: 'https://other.example' } }, /letter by letter/],
  ['without an endpoint', { metadata: { token_endpoint: 7 } }, /lacks an endpoint/],
  [
    'with an endpoint elsewhere',
    { metadata: { token_endpoint: 'https://other.example/token' } },
    /discovery\.hosts/,
  ],
  ['that is not there', { status: 404 }, /cannot be read/],
])('a document %s', async (_, published, advice) => {
  const report = await checkDiscovered(published);
  expect(failed(report)).toEqual(['discovery']);
  expect(rowsOf(report, 'discovery')[0]?.advice).toMatch(advice);
  expect(verdicts(report)).toMatchObject({ credentials: 'not tried' });
});
