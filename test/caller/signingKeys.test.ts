import { errors, type JSONWebKeySet } from 'jose';
import { describe, expect, it } from 'vitest';
import { keysFailure, KeysUnavailable, SigningKeys } from '../../src/caller/signingKeys.ts';
import { ConnectFailure } from '../../src/http/connectFailure.ts';
import { silentLog } from '../silentLog.ts';
import { TestClock } from '../testClock.ts';
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
  keys: readonly IssuerKey[] = [first];
  readonly clock = new TestClock();
  readonly signing = new SigningKeys({
    clock: this.clock,
    log: silentLog,
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

  it('are fetched for an unknown key id after 30 s, once', async () => {
    const issuer = new Published();
    await issuer.select('first');
    issuer.keys = [first, second];
    await issuer.clock.advance(29_999);
    await expect(issuer.select('second')).rejects.toThrow(errors.JWKSNoMatchingKey);
    await issuer.clock.advance(1);
    await Promise.all([issuer.select('second'), issuer.select('second')]);
    await expect(issuer.select('third')).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(issuer.fetches).toBe(2);
  });

  it('are not fetched for 30 s after a fetch that failed', async () => {
    const issuer = new Published();
    await issuer.select('first');
    issuer.isAway = true;
    await issuer.clock.advance(30_000);
    for (let n = 0; n < 100; n += 1) {
      await expect(issuer.select('second')).rejects.toThrow(errors.JWKSNoMatchingKey);
    }
    expect(issuer.fetches).toBe(2);
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

  it('are unavailable where the document holds something else', async () => {
    const { clock } = new Published();
    const published = Promise.resolve({ keys: [null, 7] });
    const signing = new SigningKeys({ clock, log: silentLog, fetch: () => published });
    await expect(signing.select({ alg: 'ES256' }, TOKEN)).rejects.toThrow(KeysUnavailable);
  });
});

it('the reason of a fetch that failed names the stage of its connection', () => {
  const cause = new ConnectFailure('client-certificate', 'ERR_SSL_HANDSHAKE_FAILURE');
  const closed = new Error('other side closed', { cause });
  expect(keysFailure(closed)).toBe('client-certificate: ERR_SSL_HANDSHAKE_FAILURE');
});
