import { createHmac, createPublicKey, randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { CompactSign, decodeProtectedHeader, type JSONWebKeySet } from 'jose';
import { describe, expect, it } from 'vitest';
import { SigningKeys } from '../../src/caller/signingKeys.ts';
import { TokenVerifier } from '../../src/caller/tokenVerifier.ts';
import { SIGNING_ALGORITHMS } from '../../src/caller/caller.ts';
import { silentLog } from '../support/silentLog.ts';
import { START_MS, TestClock } from '../support/testClock.ts';
import {
  AUDIENCE,
  claimsAt,
  createKey,
  ISSUER,
  sign,
  USUAL_ALGORITHMS,
  type IssuerKey,
} from './testIssuer.ts';

const START_SECONDS = START_MS / 1000;

const keys = await Promise.all(USUAL_ALGORITHMS.map((alg) => createKey(alg)));
const stranger = await createKey('RS256');

/** A verifier of the issuer's tokens. */
class Verifying {
  readonly clock = new TestClock();
  selects = 0;
  published: readonly IssuerKey[] = keys;
  readonly signing = new SigningKeys({
    clock: this.clock,
    log: silentLog,
    fetch: (): Promise<JSONWebKeySet> =>
      Promise.resolve({ keys: this.published.map(({ publicJwk }) => publicJwk) }),
  });
  readonly verifier: TokenVerifier;

  constructor(maxBytes?: number) {
    const select = this.signing.select;
    this.selecting((...args) => {
      this.selects += 1;
      return select(...args);
    });
    this.verifier = new TokenVerifier({
      issuer: ISSUER,
      audience: AUDIENCE,
      keys: this.signing,
      clock: this.clock,
      maxBytes,
    });
  }

  selecting(select: SigningKeys['select']): void {
    Object.assign(this.signing, { select });
  }

  async verify(token: string | Promise<string>): ReturnType<TokenVerifier['verify']> {
    return this.verifier.verify(await token);
  }

  /** Publishes other keys, and waits until they are known. */
  async withdraw(): Promise<void> {
    this.published = [stranger];
    await this.clock.advance(600_001);
    const before = this.signing.published;
    this.signing.areCurrent();
    while (this.signing.published === before) await setImmediate();
  }
}

function rs256(): IssuerKey {
  const [key = stranger] = keys;
  return key;
}

const GOOD = claimsAt(START_MS);

describe('a good token', () => {
  it.each(SIGNING_ALGORITHMS)('may be signed with %s, and names its caller', async (alg) => {
    const verifying = new Verifying();
    const key = await createKey(alg);
    verifying.published = [key];
    const identity = { kind: 'token', issuer: ISSUER, subject: 'alice', client: 'app' };
    expect(await verifying.verify(sign(key, GOOD))).toMatchObject({ identity });
  });

  it('is signed as its key says: RS256 with the key of RS512 is refused', async () => {
    const verifying = new Verifying();
    verifying.published = keys.map((key) => ({
      ...key,
      publicJwk: { ...key.publicJwk, alg: key.alg.replace('256', '512') },
    }));
    for (const key of keys) expect(await verifying.verify(sign(key, GOOD))).toBe('invalid');
  });

  it.each(['at+jwt', 'application/at+jwt', 'JWT', undefined])('may be typed %s', async (typ) => {
    const judged = await new Verifying().verify(sign(rs256(), GOOD, { typ }));
    expect(judged).toMatchObject({ mayAskAboutAnyone: false });
  });

  it.each([
    ['is valid until 5 s after its end', { exp: START_SECONDS - 4 }, true],
    ['is not valid then', { exp: START_SECONDS - 5 }, false],
    ['may start 5 s early', { nbf: START_SECONDS + 5 }, true],
    ['may start no earlier', { nbf: START_SECONDS + 6 }, false],
    ['may be from long ago', { iat: 0 }, true],
    ['may be from 5 s ahead', { iat: START_SECONDS + 5 }, true],
    ['may not be from further ahead', { iat: START_SECONDS + 6 }, false],
    ['may be for several audiences', { aud: ['other', AUDIENCE] }, true],
  ])('%s', async (_what, claims, isGood) => {
    const judged = await new Verifying().verify(sign(rs256(), { ...GOOD, ...claims }));
    expect(judged !== 'invalid').toBe(isGood);
  });

  it.each(['"exp":1e999', '"exp":1e308', '"iat":1e999'])(
    'is refused where a time is not a date: %s',
    async (claim) => {
      const { alg, kid, privateKey } = rs256();
      const [name = ''] = claim.match(/\w+/) ?? [];
      const { [name]: _, ...claims } = GOOD;
      const text = JSON.stringify(claims).replace(/\}$/, `,${claim}}`);
      const signing = new CompactSign(Buffer.from(text)).setProtectedHeader({ alg, kid });
      expect(await new Verifying().verify(signing.sign(privateKey))).toBe('invalid');
    },
  );

  it('is valid until its end and the tolerance, and no longer, though it was seen before', async () => {
    const verifying = new Verifying();
    const token = await sign(rs256(), GOOD);
    await verifying.verify(token);
    await verifying.clock.advance(304_999);
    expect(await verifying.verify(token)).not.toBe('invalid');
    await verifying.clock.advance(1);
    expect(await verifying.verify(token)).toBe('invalid');
  });

  it('is verified once, however often it comes', async () => {
    const verifying = new Verifying();
    const token = await sign(rs256(), GOOD);
    for (let n = 0; n < 100; n += 1) await verifying.verify(token);
    expect(verifying.selects).toBe(1);
  });

  it('is refused once its key is withdrawn, though it was seen before', async () => {
    const verifying = new Verifying();
    const token = await sign(rs256(), { ...GOOD, exp: START_SECONDS + 3600 });
    await verifying.verify(token);
    await verifying.withdraw();
    expect(await verifying.verify(token)).toBe('invalid');
  });

  it('is refused once its key is withdrawn, though it was being verified at that time', async () => {
    const verifying = new Verifying();
    const { select } = verifying.signing;
    const selected = Promise.withResolvers<void>();
    const withdrawn = Promise.withResolvers<void>();
    verifying.selecting(async (...args) => {
      const key = await select(...args);
      selected.resolve();
      await withdrawn.promise;
      return key;
    });
    const token = await sign(rs256(), { ...GOOD, exp: START_SECONDS + 3600 });
    const inFlight = verifying.verify(token);
    await selected.promise;
    await verifying.withdraw();
    withdrawn.resolve();
    await inFlight;
    expect(await verifying.verify(token)).toBe('invalid');
  });

  it.each([
    ['whose keys have no ids', withoutId],
    ['that keeps the id of a key', (key: IssuerKey) => key],
  ])('is accepted once the key of an issuer %s is replaced', async (_, publishedAs) => {
    const verifying = new Verifying();
    const [former, latest] = [await createKey('ES256'), await createKey('ES256')];
    const signed = (key: IssuerKey) =>
      publishedAs === withoutId ? signWithoutId(key) : sign(key, GOOD);
    verifying.published = [former].map(publishedAs);
    expect(await verifying.verify(signed(former))).not.toBe('invalid');
    verifying.published = [latest].map(publishedAs);
    await verifying.clock.advance(1000);
    expect(await verifying.verify(signed(latest))).not.toBe('invalid');
    expect(await verifying.verify(signed(former))).toBe('invalid');
  });

  it('may be signed by any of several keys that have no id', async () => {
    const verifying = new Verifying();
    const others = await Promise.all([createKey('RS256'), createKey('RS256')]);
    verifying.published = [...others, rs256()].map(withoutId);
    for (const key of verifying.published) {
      expect(await verifying.verify(signWithoutId(key))).not.toBe('invalid');
    }
    expect(await verifying.verify(signWithoutId(stranger))).toBe('invalid');
    const expired = signWithoutId(rs256(), { exp: START_SECONDS - 60 });
    expect(await verifying.verify(expired)).toBe('invalid');
  });

  it('is tried with ten keys without an id at most', async () => {
    const verifying = new Verifying();
    const [other, owner] = await Promise.all([createKey('ES256'), createKey('ES256')]);
    verifying.published = [...Array.from({ length: 10 }, () => other), owner].map(withoutId);
    expect(await verifying.verify(signWithoutId(other))).not.toBe('invalid');
    expect(await verifying.verify(signWithoutId(owner))).toBe('invalid');
  });

  it('takes a bounded amount of memory with all others, and is verified again when they need it', async () => {
    const verifying = new Verifying(64 * 1024);
    const tokens = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        sign(rs256(), { ...GOOD, sub: `${n} ${'x'.repeat(4000)}`, purpose: 'y'.repeat(1000) }),
      ),
    );
    for (const token of [...tokens, tokens.at(-1) ?? '']) await verifying.verify(token);
    expect(verifying.selects).toBe(40);
    await verifying.verify(tokens[0] ?? '');
    expect(verifying.selects).toBe(41);
  });
});

/** As it is published by an issuer whose keys have no ids. */
function withoutId(key: IssuerKey): IssuerKey {
  const { kid: _, ...publicJwk } = key.publicJwk;
  return { ...key, publicJwk };
}

function signWithoutId(key: IssuerKey, claims: object = {}): Promise<string> {
  return sign(key, { ...GOOD, ...claims }, { kid: undefined });
}

describe('a forged token', () => {
  it('is refused, in more than 500 forms', async () => {
    const forgeries = await forge();
    expect(new Set(forgeries.map(([, token]) => token)).size).toBeGreaterThanOrEqual(500);
    const { verifier } = new Verifying();
    // Seen before, so that a forgery may be taken for it.
    const good = await sign(rs256(), GOOD);
    expect(await verifier.verify(good)).not.toBe('invalid');
    const accepted: string[] = [];
    for (const [what, token] of forgeries) {
      if (token !== good && (await verifier.verify(token)) !== 'invalid') accepted.push(what);
    }
    expect(accepted).toEqual([]);
  });
});

type Forgery = readonly [what: string, token: string];

async function forge(): Promise<readonly Forgery[]> {
  const good = await sign(rs256(), GOOD);
  const parts = good.split('.');
  const signed = keys.flatMap((key) => [
    ...each(WRONG_CLAIMS).map((claim) => named(key, claim, sign(key, { ...GOOD, ...claim }))),
    ...each(WRONG_HEADERS).map((header) => named(key, header, sign(key, GOOD, header))),
  ]);
  return [
    ...(await Promise.all(signed)),
    ...rewrittenHeaders(parts),
    ...(await withPublicKeyAsSecret()),
    ...mutilated(good, parts),
    ...(await byStrangers()),
  ];
}

/** The issuer signed each of them; `undefined` leaves a claim out. */
const WRONG_CLAIMS: Readonly<Record<string, readonly unknown[]>> = {
  iss: [undefined, `${ISSUER}/`, ISSUER.toUpperCase(), `${ISSUER}.evil`, '', [ISSUER, 'x'], 7],
  aud: [undefined, 'other', '', [], ['other'], `${AUDIENCE} `, 'SIM-SWAP', { x: AUDIENCE }, 7],
  exp: [undefined, 0, -1, START_SECONDS - 5, `${START_SECONDS + 9}`, null, {}],
  nbf: [START_SECONDS + 6, START_SECONDS + 3600, 'now', {}],
  iat: ['yesterday', {}],
  sub: [undefined, '', 7, null, ['alice'], {}],
  cnf: [{ jkt: 'x' }],
};

const WRONG_HEADERS = {
  typ: ['id+jwt', 'logout+jwt', 'dpop+jwt', 'secevent+jwt', 'JOSE', '', 'at+jwt ', 'jwt2'],
  kid: ['unknown', '', '../RS256', 'rs256', 'RS256 '],
};

function each(wrong: Readonly<Record<string, readonly unknown[]>>): Record<string, unknown>[] {
  return Object.entries(wrong).flatMap(([name, values]) => values.map((one) => ({ [name]: one })));
}

async function named(key: IssuerKey, wrong: object, token: Promise<string>): Promise<Forgery> {
  return [`${key.alg} ${inspect(wrong)}`, await token];
}

/** A signer refuses to write these: they are written over the signature of something else, or over none. */
function rewrittenHeaders([header, payload, signature]: readonly string[]): Forgery[] {
  const algs = ['none', 'None', 'NONE', 'nOnE', 'HS256', 'HS384', 'HS512', 'RS1', 'RS384', 'RS512'];
  const others = ['PS256', 'ES256', 'EdDSA', 'ES512', 'RSA-OAEP', '', null, 7, ['RS256'], {}];
  const b64 = { b64: false, crit: ['b64'] };
  const more = [{}, { crit: ['exp'] }, b64, { jku: 'https://evil.example' }];
  const rewritten = [...algs, ...others].flatMap((alg) =>
    more.map((one) => encode({ alg, kid: 'RS256', ...one })),
  );
  const tokens = [
    ...rewritten.map((head) => `${head}.${payload}.${signature}`),
    ...['none', 'None', 'NONE'].flatMap((alg) => {
      const head = encode({ alg, typ: 'JWT' });
      return [`${head}.${payload}.`, `${head}.${payload}`, `${head}.${payload}.${signature}`];
    }),
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${header}..${signature}`,
  ];
  return tokens.map((token) => [`header ${token.split('.')[0]}`, token]);
}

/** The public key is public: an HMAC under it proves nothing. */
async function withPublicKeyAsSecret(): Promise<Forgery[]> {
  const forgeries: Forgery[] = [];
  for (const { alg, publicJwk, kid } of keys) {
    const publicKey = createPublicKey({ key: publicJwk, format: 'jwk' });
    const spki = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const der = publicKey.export({ type: 'spki', format: 'der' });
    const bare = publicJwk.n ?? publicJwk.x ?? '';
    for (const secret of [spki, spki.trim(), der, JSON.stringify(publicJwk), bare]) {
      for (const hmac of ['HS256', 'HS384', 'HS512']) {
        const signed = `${encode({ alg: hmac, kid, typ: 'JWT' })}.${encode(GOOD)}`;
        const mac = createHmac(hmac.replace('HS', 'sha'), secret).update(signed);
        forgeries.push([`${hmac} under ${alg}`, `${signed}.${mac.digest('base64url')}`]);
      }
    }
  }
  return forgeries;
}

function mutilated(good: string, [header, payload, signature]: readonly string[]): Forgery[] {
  const cuts = Array.from({ length: 60 }, (_, n) =>
    good.slice(0, Math.floor((good.length * n) / 60)),
  );
  const flips = Array.from({ length: 240 }, (_, n) => {
    // The last character of a part may hold bits without a meaning.
    const at = Math.floor(((good.length - 2) * n) / 240);
    return good.slice(0, at) + (good[at] === 'A' ? 'B' : 'A') + good.slice(at + 1);
  });
  const claims = ['sub', 'scope', 'phone_number', 'aud'].map((name) => {
    const changed = encode({ ...GOOD, scope: 'sim-swap:read', [name]: 'x' });
    return `${header}.${changed}.${signature}`;
  });
  const signatures = [Buffer.alloc(256), randomBytes(256)].map(
    (bytes) => `${header}.${payload}.${bytes.toString('base64url')}`,
  );
  const shapes = ['', '.', '..', '...', `${good}.`, `.${good}`, good.replaceAll('.', '..')];
  const longer = [`${good}.${signature}`, `${good}.${payload}.${signature}.x`];
  const bare = [encode(GOOD), JSON.stringify(GOOD)];
  const huge = [`${good}${'A'.repeat(8192)}`, 'A'.repeat(1_000_000)];
  const padded = `${header}.${encode({ ...GOOD, more: 'x'.repeat(20_000) })}.${signature}`;
  const whole = [...shapes, ...longer, ...bare, ...huge, padded];
  const all = [...cuts, ...flips, ...claims, ...signatures, ...whole];
  return all.map((token, n) => [`mutilated ${n}`, token]);
}

async function byStrangers(): Promise<Forgery[]> {
  const others = await Promise.all(USUAL_ALGORITHMS.map((alg) => createKey(alg)));
  const embedded = { jwk: stranger.publicJwk };
  const tokens = await Promise.all([
    ...others.flatMap((key) => [sign(key, GOOD), sign({ ...key, kid: 'other' }, GOOD)]),
    sign(stranger, GOOD, embedded),
    sign(stranger, GOOD, { jku: 'http://127.0.0.1:9/jwks' }),
    sign(stranger, GOOD, { x5u: 'http://127.0.0.1:9/x5u' }),
    sign(stranger, GOOD, { kid: undefined, ...embedded }),
  ]);
  return tokens.map((token) => [JSON.stringify(decodeProtectedHeader(token)), token]);
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
