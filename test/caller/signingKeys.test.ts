import { generateKeyPairSync } from 'node:crypto';
import { errors, type JSONWebKeySet, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { keysFailure, KeysUnavailable, SigningKeys } from '../../src/caller/signingKeys.ts';
import { ConnectFailure } from '../../src/wire/connectFailure.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { silentLog } from '../support/silentLog.ts';
import { TestClock } from '../support/testClock.ts';
import { createKey, type IssuerKey } from './testIssuer.ts';

const TOKEN = { payload: '', signature: '' };

const [first, second] = await Promise.all([
  createKey('ES256', 'first'),
  createKey('ES256', 'second'),
]);

/** The keys of an issuer, which a test may change. */
class Published {
  fetches = 0;
  isAway = false;
  readonly log = new RecordedLog();
  keys: readonly Pick<IssuerKey, 'publicJwk'>[] = [first];
  readonly clock = new TestClock();
  readonly signing = new SigningKeys({
    clock: this.clock,
    log: this.log,
    fetch: (): Promise<JSONWebKeySet> => {
      this.fetches += 1;
      if (this.isAway) return Promise.reject(new Error('away'));
      return Promise.resolve({ keys: this.keys.map(({ publicJwk }) => publicJwk) });
    },
  });

  select(kid: string): Promise<unknown> {
    return this.signing.select({ alg: 'ES256', kid }, TOKEN);
  }
}

describe('signing keys', () => {
  it('are fetched when first needed, once for all that wait', async () => {
    const issuer = new Published();
    await Promise.all([issuer.select('first'), issuer.select('first'), issuer.select('first')]);
    await issuer.select('first');
    expect(issuer.fetches).toBe(1);
  });

  it('cost one fetch for 10,000 unknown key ids', async () => {
    const issuer = new Published();
    for (let n = 0; n < 10_000; n += 1) {
      await expect(issuer.select(`unknown ${n}`)).rejects.toThrow(errors.JWKSNoMatchingKey);
    }
    expect(issuer.fetches).toBe(1);
  });

  it('are not waited for where there is no room: it is not known whether the token is valid', async () => {
    const issuer = new Published();
    const wait = (kid: string) => issuer.signing.select({ alg: 'ES256', kid }, TOKEN, () => false);
    await wait('first');
    issuer.keys = [first, second];
    await issuer.clock.advance(1000);
    await expect(wait('second')).rejects.toThrow(KeysUnavailable);
    expect(issuer.fetches).toBe(1);
    await issuer.select('second');
    await wait('second');
  });

  it('are fetched for a new key once those that were fetched are a second old, once', async () => {
    const issuer = new Published();
    await issuer.select('first');
    issuer.keys = [first, second];
    await issuer.clock.advance(999);
    await expect(issuer.select('second')).rejects.toThrow(errors.JWKSNoMatchingKey);
    await issuer.clock.advance(1);
    await Promise.all([issuer.select('second'), issuer.select('second')]);
    await expect(issuer.select('third')).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(issuer.fetches).toBe(2);
  });

  it('are fetched once a second for unknown key ids, so that they delay a new key no longer', async () => {
    const issuer = new Published();
    await issuer.select('first');
    for (let turn = 0; turn < 1200; turn += 1) {
      await issuer.clock.advance(100);
      const refused = issuer.select(`unknown ${turn}`);
      await expect(refused).rejects.toThrow(errors.JWKSNoMatchingKey);
    }
    expect(issuer.fetches).toBe(1 + 120);
    issuer.keys = [second];
    await issuer.clock.advance(1000);
    await issuer.select('second');
  });

  it('are fetched for unknown key ids ever less often while the issuer refuses', async () => {
    const issuer = new Published();
    await issuer.select('first');
    issuer.isAway = true;
    for (let turn = 0; turn < 600; turn += 1) {
      await issuer.clock.advance(1000);
      await expect(issuer.select(`unknown ${turn}`)).rejects.toThrow(KeysUnavailable);
    }
    expect(issuer.fetches).toBeLessThan(45);
    issuer.isAway = false;
    issuer.keys = [second];
    await issuer.clock.advance(16_000);
    await issuer.select('second');
  });

  it.each([
    ['the issuer is away', (issuer: Published) => (issuer.isAway = true), 'Error'],
    ['its set is empty', (issuer: Published) => (issuer.keys = []), 'no usable keys'],
  ])('serve as before while %s, and an unknown key is in doubt', async (_why, breaks, reason) => {
    const issuer = new Published();
    await issuer.select('first');
    breaks(issuer);
    await issuer.clock.advance(1000);
    const inDoubt = { name: 'KeysUnavailable', reason: 'no-keys' };
    await expect(issuer.select('second')).rejects.toMatchObject(inDoubt);
    await expect(issuer.select('second')).rejects.toMatchObject(inDoubt);
    await issuer.select('first');
    expect(issuer.fetches).toBe(2);
    const message = 'The keys of JWT_JWKS_URL cannot be fetched.';
    expect(issuer.log.troubles).toEqual([{ level: 'error', message, reason }]);
    issuer.isAway = false;
    issuer.keys = [second];
    await issuer.clock.advance(1000);
    await issuer.select('second');
  });

  it('that are weak or malformed are ignored, and void no other', async () => {
    const issuer = new Published();
    const weak = [
      generateKeyPairSync('rsa', { modulusLength: 1024 }),
      generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }),
    ].map(({ publicKey }) => publicKey);
    const shared = { kty: 'oct', k: Buffer.alloc(32).toString('base64url') };
    const odd: readonly unknown[] = [null, 7, {}, { kty: 'EC', crv: 'P-256' }, shared];
    const ignored = [...weak.map((key) => key.export({ format: 'jwk' })), ...odd];
    issuer.keys = [...ignored.map((publicJwk) => ({ publicJwk: publicJwk as JWK })), first];
    await issuer.select('first');
    await expect(issuer.signing.select({ alg: 'RS256' }, TOKEN)).rejects.toThrow(
      errors.JWKSNoMatchingKey,
    );
    expect(issuer.log.troubles).toMatchObject([{ level: 'warn', ignored: 7 }]);
  });

  it('are used for an hour while the issuer is away, and no longer', async () => {
    const issuer = new Published();
    await issuer.select('first');
    issuer.isAway = true;
    await issuer.clock.advance(3_600_000);
    await issuer.select('first');
    await issuer.clock.advance(1);
    expect(issuer.signing.areCurrent()).toBe(false);
    await expect(issuer.select('first')).rejects.toThrow(KeysUnavailable);
  });

  it('are fetched once a second while there are none', async () => {
    const issuer = new Published();
    issuer.isAway = true;
    for (let n = 0; n < 100; n += 1) {
      await expect(issuer.select('first')).rejects.toThrow(KeysUnavailable);
    }
    expect(issuer.fetches).toBe(1);
    issuer.isAway = false;
    await issuer.clock.advance(1000);
    await issuer.select('first');
    expect(issuer.fetches).toBe(2);
  });

  it.each([[{ keys: [null, 7] }], [{ keys: {} }], [null]])(
    'are unavailable where the document holds something else: %j',
    async (document) => {
      const { clock } = new Published();
      const published = Promise.resolve(document);
      const signing = new SigningKeys({ clock, log: silentLog, fetch: () => published });
      const selected = signing.select({ alg: 'ES256' }, TOKEN);
      await expect(selected).rejects.toThrow(KeysUnavailable);
    },
  );
});

it('the reason of a fetch that failed names the stage of its connection', () => {
  const cause = new ConnectFailure('client-certificate', 'ERR_SSL_HANDSHAKE_FAILURE');
  const closed = new Error('other side closed', { cause });
  expect(keysFailure(closed)).toBe('client-certificate: ERR_SSL_HANDSHAKE_FAILURE');
});
