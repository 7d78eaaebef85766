import { describe, expect, it } from 'vitest';
import type { ClientAuthentication } from '../../src/tokens/clientAuthentication.ts';
import { answerJson, deadUrl, RecordingServer, type Answer } from '../http/recordingServer.ts';
import { ALICE } from '../values.ts';
import { issuing, TestTokens, tokenOf } from './testTokens.ts';

const CHECK = { number: ALICE, operation: 'check' } as const;
const CONSENTED = { flow: '3-legged' } as const;

/** Refuses with an OAuth error the first times, then issues tokens. */
function issuingAfter(times: number, status: number, error: string): Answer {
  let count = 0;
  const issue = issuing();
  return (received, response) => {
    count += 1;
    if (count > times) issue(received, response);
    else answerJson(received, response, { error }, status);
  };
}

it('the proof of the client goes into the form, and each attempt has its own', async () => {
  let made = 0;
  const authenticate: ClientAuthentication = () => {
    made += 1;
    return Promise.resolve({ headers: [], form: `client_assertion=jwt-${made}` });
  };
  await using server = await RecordingServer.start(issuingAfter(1, 500, 'server_error'));
  await using test = new TestTokens(server.url, {}, authenticate);
  await test.acquire(ALICE, 'check');
  const forms = server.received.map(({ body }) => new URLSearchParams(body));
  expect(forms.map((form) => form.get('client_assertion'))).toEqual(['jwt-1', 'jwt-2']);
  expect(server.received[0]?.headers).not.toHaveProperty('authorization');
});

it('an id of a consent is polled with whatever characters it has', async () => {
  await using server = await RecordingServer.start(issuing());
  await using test = new TestTokens(server.url, CONSENTED);
  const polled = await test.tokens.poll('request 1/+&', CHECK, test.context());
  expect(server.received.map(({ body }) => body)).toEqual([
    'grant_type=urn%3Aopenid%3Aparams%3Amc%3Agrant-type%3Aciba&auth_req_id=request+1%2F%2B%26',
  ]);
  expect(tokenOf(polled).spend(CHECK)).toBe('token-1');
});

it('a token expires by the monotonic clock, counted from sending', async () => {
  await using server = await RecordingServer.start((received, response) => {
    void test.clock.advance(2_000).then(() => issuing({ expires_in: 5 })(received, response));
  });
  await using test = new TestTokens(server.url);
  const sentAtMs = test.clock.monotonicMs();
  const token = tokenOf(await test.acquire(ALICE, 'check'));
  test.clock.setWall(0);
  expect(token.isExpired(sentAtMs + 4_999)).toBe(false);
  expect(token.isExpired(sentAtMs + 5_000)).toBe(true);
});

describe('trouble', () => {
  it('2-legged, 500: is tried once more, with a correlator of its own', async () => {
    await using server = await RecordingServer.start(issuingAfter(1, 500, 'server_error'));
    await using test = new TestTokens(server.url);
    expect(await test.acquire(ALICE, 'check')).toHaveProperty('token');
    expect(server.received.map(({ correlator }) => correlator.at(-1))).toEqual(['1', '2']);
  });

  it('2-legged, 401: is our trouble, and is not tried again', async () => {
    await using server = await RecordingServer.start(issuingAfter(9, 401, 'invalid_client'));
    await using test = new TestTokens(server.url);
    const failure = { code: 'OPERATOR_REFUSED', reach: 'number' };
    expect(await test.acquire(ALICE, 'check')).toEqual({ kind: 'failed', failure });
    expect(server.received).toHaveLength(1);
  });

  it.each<[string, Answer, object]>([
    ['a reset', (_, { socket }) => socket?.resetAndDestroy(), { kind: 'reply-lost' }],
    [
      '500',
      issuingAfter(9, 500, 'server_error'),
      { kind: 'failed', failure: { code: 'OPERATOR_UNAVAILABLE' }, mayHavePrompted: true },
    ],
  ])('bc-authorize, after %s: no owner is prompted twice', async (_, answer, judged) => {
    await using server = await RecordingServer.start(answer);
    await using test = new TestTokens(server.url, CONSENTED);
    const asked = await test.tokens.requestConsent(CHECK, test.context());
    expect(asked).toMatchObject({ judged, attempts: 1 });
    expect(server.received).toHaveLength(1);
  });

  it.each([
    [500, 'server_error', 'no_reply'],
    [400, 'authorization_pending', 'authorization_pending'],
  ])('a poll, %d %s: is one poll, and the next is a matter of its interval', async (...row) => {
    const [status, error, goOn] = row;
    await using server = await RecordingServer.start(issuingAfter(9, status, error));
    await using test = new TestTokens(server.url, CONSENTED);
    const polled = await test.tokens.poll('request-1', CHECK, test.context());
    expect(polled).toEqual({ kind: 'go-on', goOn });
    expect(server.received).toHaveLength(1);
  });

  it('no server listens: nothing was sent, and no method rejects', async () => {
    const url = await deadUrl();
    await using direct = new TestTokens(url);
    await using consented = new TestTokens(url, CONSENTED);
    const { tokens } = consented;
    const failure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
    expect(await direct.acquire(ALICE, 'check')).toEqual({ kind: 'failed', failure });
    expect(await tokens.requestConsent(CHECK, consented.context())).toMatchObject({
      judged: { kind: 'failed', failure, mayHavePrompted: false },
      attempts: 0,
    });
    const polled = await tokens.poll('request-1', CHECK, consented.context());
    expect(polled).toEqual({ kind: 'go-on', goOn: 'no_reply' });
  });
});
