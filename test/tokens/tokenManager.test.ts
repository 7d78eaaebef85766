import { expect, it } from 'vitest';
import type { ClientAuthentication } from '../../src/tokens/clientAuthentication.ts';
import { answerJson } from '../wire/recordingServer.ts';
import { ALICE } from '../support/values.ts';
import { issuing, TestTokens, tokenOf } from './testTokens.ts';

const CHECK = { number: ALICE, operation: 'check', purpose: '' } as const;
const CONSENTED = { flow: '3-legged' } as const;

it('each attempt has a client proof of its own, in the form', async () => {
  let made = 0;
  const authenticate: ClientAuthentication = () => {
    made += 1;
    return Promise.resolve({ headers: [], form: `client_assertion=jwt-${made}` });
  };
  await using test = await TestTokens.start(
    (received, response) => {
      if (made > 1) issuing()(received, response);
      else answerJson(received, response, { error: 'server_error' }, 500);
    },
    {},
    authenticate,
  );
  expect((await test.acquire(ALICE, 'check')).kind).toBe('acquired');
  const forms = test.server.received.map(({ body }) => new URLSearchParams(body));
  expect(forms.map((form) => form.get('client_assertion'))).toEqual(['jwt-1', 'jwt-2']);
  expect(test.server.received[0]?.headers).not.toHaveProperty('authorization');
});

it('an auth_req_id is encoded, whatever characters it has', async () => {
  await using test = await TestTokens.start(issuing(), CONSENTED);
  const polled = await test.tokens.poll('request 1/+&', CHECK, test.context());
  expect(test.server.received.map(({ body }) => body)).toEqual([
    'grant_type=urn%3Aopenid%3Aparams%3Amc%3Agrant-type%3Aciba&auth_req_id=request+1%2F%2B%26',
  ]);
  if (polled.kind !== 'issued') throw new Error('No token was issued.');
  expect(test.tokens.rightTo(CHECK, polled.issued).token.spend(CHECK)).toBe('token-1');
});

it('a token expires by the monotonic clock, counted from sending', async () => {
  await using test = await TestTokens.start((received, response) => {
    void test.clock.advance(2_000).then(() => issuing({ expires_in: 5 })(received, response));
  });
  const sentAtMs = test.clock.monotonicMs();
  const token = tokenOf(await test.acquire(ALICE, 'check'));
  test.clock.setWall(0);
  expect(token.isExpired(sentAtMs + 4_999)).toBe(false);
  expect(token.isExpired(sentAtMs + 5_000)).toBe(true);
});

it('a failed poll is not retried: the next one follows after its interval', async () => {
  await using test = await TestTokens.start(
    (received, response) => answerJson(received, response, { error: 'server_error' }, 500),
    CONSENTED,
  );
  const polled = await test.tokens.poll('request-1', CHECK, test.context());
  expect(polled).toEqual({ kind: 'go-on', goOn: 'no_reply' });
  expect(test.server.received).toHaveLength(1);
});

it('a token that is bound to a key is held only by the process that polled for it', async () => {
  const bound = { ...CONSENTED, authentication: { dpop: true } };
  await using one = await TestTokens.start(issuing(), bound);
  await using other = await TestTokens.start(issuing(), bound);
  const polled = await one.tokens.poll('request-1', CHECK, one.context());
  if (polled.kind !== 'issued') throw new Error('No token was issued.');
  expect([one, other].map(({ tokens }) => tokens.holds(polled.issued))).toEqual([true, false]);
});
