import { createServer } from 'node:http';
import { AUDIENCE, claimsAt, createKey, ISSUER, sign } from '../../caller/testIssuer.ts';
import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { listen } from '../../listening.ts';

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
