import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIENCE, claimsAt, createKey, ISSUER, sign } from '../../caller/testIssuer.ts';
import { listen } from '../../listening.ts';
import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { inTurn, number, within } from '../values.ts';

export const keysWithoutKid: Attack = {
  name: 'keys-without-kid',
  tries: 'to lock everyone out, or be let in, where the issuer publishes keys without ids',
  holds: "tokens of each published key are let in, another's are not",
  async run(stage) {
    const keys = await Promise.all(['a', 'b', 'thief'].map((kid) => createKey('ES256', kid)));
    const [one, two, thief] = keys;
    if (one === undefined || two === undefined || thief === undefined) throw new Error('No keys.');
    const published = [one, two].map(({ publicJwk: { kid: _kid, ...jwk } }) => jwk);
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: published }));
    });
    const url = await listen(server);
    stage.onEnd(async () => server.close());
    const target = await stage.serve(await stage.operator({}), {
      JWT_JWKS_URL: `${url}/jwks`,
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      AUDIT_KEY,
    });
    const statusWith = async (key: typeof one, header: Readonly<Record<string, unknown>>) =>
      (await target.ask('{ __typename }', { token: await sign(key, claimsAt(Date.now()), header) }))
        .status;
    stage.equals('the first key', await statusWith(one, { kid: undefined }), 200);
    stage.equals('the second key', await statusWith(two, { kid: undefined }), 200);
    stage.equals("another's key", await statusWith(thief, { kid: undefined }), 401);
    stage.equals("another's key with an id", await statusWith(thief, { kid: 'a' }), 401);
  },
};

/** Keys are fetched at most so often, whatever tokens say. */
const COOLDOWN_MS = 30_500;
const TOKENS = 1000;

export const withdrawnKey: Attack = {
  name: 'withdrawn-key',
  tries: 'to be let in by tokens of a withdrawn key that are under way while the keys are fetched',
  holds: 'once the new keys are there, none of them is let in',
  async run(stage) {
    const { issuer, target, token: first } = await stage.callers();
    const old = issuer.key('RS256');
    await target.ask(within(number(4)), { token: first });
    const tokens = await Promise.all(
      Array.from({ length: TOKENS }, (_, index) =>
        sign(old, claimsAt(Date.now(), { jti: String(index) })),
      ),
    );
    const fresh = await createKey('RS256', 'fresh');
    const withFresh = await sign(fresh, claimsAt(Date.now()));
    issuer.keys.splice(issuer.keys.indexOf(old), 1, fresh);
    await sleep(COOLDOWN_MS);

    const [{ status }] = await Promise.all([
      target.ask('{ __typename }', { token: withFresh }),
      inTurn(tokens, 100, (token) => target.ask('{ __typename }', { token })),
    ]);
    stage.equals('a token of the new key', status, 200);
    const fetches = issuer.fetches;
    let letIn = 0;
    await inTurn(tokens, 16, async (token) => {
      if ((await target.ask('{ __typename }', { token })).status !== 401) letIn += 1;
    });
    stage.equals('tokens of the withdrawn key let in', letIn, 0);
    stage.atMost('fetches of the keys', fetches, 2);
  },
};
