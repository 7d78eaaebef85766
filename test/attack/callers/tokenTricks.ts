import { createHmac, createPublicKey } from 'node:crypto';
import { createKey, claimsAt, sign } from '../../caller/testIssuer.ts';
import { RecordingServer } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { number, within } from '../values.ts';

export const tokenTricks: Attack = {
  name: 'token-tricks',
  tries: 'to be let in by a token that the issuer has not signed for this service',
  holds: 'each is 401, nothing is looked up, and no address that a token names is fetched',
  async run(stage) {
    const { issuer, operator, target, token: good } = await stage.callers();
    const thief = await createKey('RS256', 'RS256');
    const thiefs = await RecordingServer.start((_received, response) => {
      response.end(JSON.stringify({ keys: [thief.publicJwk] }));
    });
    stage.onEnd(() => thiefs[Symbol.asyncDispose]());

    const key = issuer.key();
    const all = { scope: 'sim-swap:read' };
    const claims = claimsAt(Date.now(), all);
    const [head = '', payload = '', signature = ''] = good.split('.');
    const pem = createPublicKey({ key: key.publicJwk, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });
    const confused = `${encoded({ alg: 'HS256', kid: key.kid, typ: 'at+jwt' })}.${encoded(claims)}`;
    const tokens: Readonly<Record<string, string>> = {
      'alg none': `${encoded({ alg: 'none', typ: 'at+jwt' })}.${encoded(claims)}.`,
      'alg None': `${encoded({ alg: 'None', kid: key.kid })}.${encoded(claims)}.${signature}`,
      'no signature': `${head}.${payload}.`,
      'HS256 under the public key': `${confused}.${createHmac('sha256', pem).update(confused).digest('base64url')}`,
      "another's key under the same kid": await sign(thief, claims),
      'a key of its own (jwk)': await sign(thief, claims, { jwk: thief.publicJwk }),
      'an address for keys (jku)': await sign(thief, claims, { jku: `${thiefs.url}/jwks` }),
      'an address for certificates (x5u)': await sign(thief, claims, { x5u: `${thiefs.url}/x5u` }),
      'no kid': await sign(thief, claims, { kid: undefined }),
      'a kid that is a path': await sign(thief, claims, { kid: '../../../dev/null' }),
      'another audience': await issuer.token({ ...all, aud: 'other' }),
      'another issuer': await issuer.token({ ...all, iss: 'https://other.example' }),
      'an issuer in a list': await issuer.token({
        ...all,
        iss: [claims.iss ?? ''] as unknown as string,
      }),
      expired: await issuer.token({ ...all, exp: Math.floor(Date.now() / 1000) - 60 }),
      'exp as text': await issuer.token({ ...all, exp: String(claims.exp) as unknown as number }),
      'no exp': await sign(key, { iss: claims.iss ?? '', aud: claims.aud ?? '', sub: 'alice' }),
      'not yet': await issuer.token({ ...all, nbf: Math.floor(Date.now() / 1000) + 600 }),
      'an identity token': await sign(key, claims, { typ: 'id_token+jwt' }),
      'a logout token': await sign(key, claims, { typ: 'logout+jwt' }),
      'bound to a key': await issuer.token({ ...all, cnf: { jkt: 'x' } }),
      'other claims under the signature': `${head}.${encoded({ ...claims, sub: 'mallory' })}.${signature}`,
      'crit unknown': await sign(key, claims, { crit: ['x'], x: 1 }).catch(() => 'x.y.z'),
      'nothing of a token': 'x',
      long: `${head}.${payload}${'A'.repeat(7000)}.${signature}`,
    };
    for (const [name, token] of Object.entries(tokens)) {
      const { status } = await target.ask(within(number(4)), { token });
      if (status !== 401) stage.equals(name, status, 401);
    }
    const twice = await target.ask(within(number(4)), {
      headers: { authorization: `Bearer ${good}, Bearer x` },
    });
    if (twice.status !== 401) stage.equals('two tokens in one header', twice.status, 401);
    stage.holds('tokens tried', true, Object.keys(tokens).length + 1);
    stage.equals('lookups', operator.count('lookups'), 0);
    stage.equals('fetches of what tokens name', thiefs.received.length, 0);
    const { status } = await target.ask(within(number(4)), { token: good });
    stage.equals('a good token', status, 200);
  },
};

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
