import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK } from 'jose';
import { describe, expect, test } from 'vitest';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { startService, startSimulated } from '../service.ts';

const DATE_AND_WINDOWS =
  'e164 lastSimSwap day: simSwappedWithin(maxAgeHours: 24) tenDays: simSwappedWithin ' +
  'all: simSwappedWithin(maxAgeHours: 2400)';
const WINDOWS =
  'e164 day: simSwappedWithin(maxAgeHours: 24) tenDays: simSwappedWithin ' +
  'all: simSwappedWithin(maxAgeHours: 2400)';

/** So many lines that never swapped. */
function neverSwapped(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `+447700900${500 + index}`);
}

function aboutAll(fields: string): string {
  return `query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { ${fields} } }`;
}

describe('what a query costs, 2-legged', () => {
  test.each([
    ['50 numbers, the date and three windows', neverSwapped(50), DATE_AND_WINDOWS, 50],
    [
      'one number fifty times',
      Array.from({ length: 50 }, () => '+447700900500'),
      DATE_AND_WINDOWS,
      1,
    ],
    ['20 numbers, three windows', neverSwapped(20), WINDOWS, 20],
    [
      'one number in five spellings',
      [
        '+447700900500',
        'tel:+447700900500',
        '+44 7700 900500',
        '+44-7700-900500',
        'tel:+44 7700-900500',
      ],
      WINDOWS,
      1,
    ],
  ])('%s', async (_name, numbers, fields, lookups) => {
    await using service = await startSimulated();

    const { data, errors } = (await service.ask(aboutAll(fields), { numbers })).body;

    expect(errors).toBeUndefined();
    const answered = data?.['phoneNumbers'] as readonly Record<string, unknown>[];
    expect(answered).toHaveLength(numbers.length);
    for (const one of answered) {
      expect(one).toMatchObject({ day: false, tenDays: false, all: false });
    }
    expect(service.stats()).toMatchObject({
      lookups,
      tokens: lookups,
      refusedLookups: 0,
      reusedTokens: 0,
      misusedTokens: 0,
    });
  });

  test('twenty numbers with three windows, 3-legged: a prompt, a token and a lookup each', async () => {
    await using service = await startSimulated({ OPERATOR_FLOW: '3-legged' });

    const { errors } = (await service.ask(aboutAll(WINDOWS), { numbers: neverSwapped(20) })).body;

    expect(errors).toBeUndefined();
    expect(service.stats()).toMatchObject({ lookups: 20, tokens: 20, prompts: 20 });
  });
});

type Alg = 'ES256' | 'PS256' | 'RS256';

function keyPair(alg: Alg): { publicKey: KeyObject; privateKey: KeyObject } {
  return alg === 'ES256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** A simulator that takes this client authentication, and the settings of a service that shows it. */
async function clientKnownBy(method: 'private_key_jwt' | 'both', alg: Alg) {
  const { publicKey, privateKey } = keyPair(alg);
  const folder = await mkdtemp(join(tmpdir(), 'assertion-key-'));
  const keyFile = join(folder, 'key.pem');
  await writeFile(keyFile, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const jwk = { ...(await exportJWK(publicKey)), kid: 'key-1', alg };
  const simulator = await startSimulator({
    port: 0,
    clientAuthentication: method,
    jwks: { keys: [jwk] },
  });
  const settings = {
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_AUTH: method,
    OPERATOR_ASSERTION_KEY_FILE: keyFile,
    OPERATOR_ASSERTION_ALG: alg,
    OPERATOR_ASSERTION_KID: 'key-1',
    OPERATOR_ASSERTION_AUDIENCE: simulator.authUrl,
  };
  return { simulator, settings, removeKey: () => rm(folder, { recursive: true }) };
}

const METHODS: readonly ['private_key_jwt' | 'both', Alg][] = [
  ['private_key_jwt', 'ES256'],
  ['private_key_jwt', 'PS256'],
  ['private_key_jwt', 'RS256'],
  ['both', 'ES256'],
  ['both', 'PS256'],
  ['both', 'RS256'],
];

describe('client authentication, taken by an operator that checks it', () => {
  test.each(METHODS)('%s with %s', async (method, alg) => {
    const { simulator, settings, removeKey } = await clientKnownBy(method, alg);
    try {
      // No secret where none is needed.
      const secret = method === 'both' ? DEMO_CLIENT.clientSecret : '';
      await using service = await startService(simulator.authUrl, {
        ...settings,
        OPERATOR_CLIENT_SECRET: secret,
      });

      // Each assertion counts once, so three tokens take three.
      const { body } = await service.ask(aboutAll(WINDOWS), { numbers: neverSwapped(3) });

      expect(body.errors).toBeUndefined();
      expect(served(simulator)).toEqual({ tokens: 3, lookups: 3, refusedClients: 0 });
    } finally {
      await simulator.close();
      await removeKey();
    }
  });

  test('a key that the operator does not know is ours to mend: OPERATOR_REFUSED, and no lookup', async () => {
    const { simulator, settings, removeKey } = await clientKnownBy('private_key_jwt', 'ES256');
    const stranger = await clientKnownBy('private_key_jwt', 'ES256');
    try {
      await using service = await startService(simulator.authUrl, {
        ...settings,
        OPERATOR_ASSERTION_KEY_FILE: stranger.settings.OPERATOR_ASSERTION_KEY_FILE,
      });

      const { errors } = await service.ask(aboutAll('simSwappedWithin'), {
        numbers: neverSwapped(1),
      });

      expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(['OPERATOR_REFUSED']);
      expect(served(simulator)).toEqual({ tokens: 0, lookups: 0, refusedClients: 1 });
    } finally {
      await simulator.close();
      await stranger.simulator.close();
      await removeKey();
      await stranger.removeKey();
    }
  });
});

function served(simulator: Simulator) {
  const { tokens, lookups, refusedClients } = simulator.stats();
  return { tokens, lookups, refusedClients };
}
