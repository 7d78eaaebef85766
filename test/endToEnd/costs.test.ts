import { generateKeyPairSync } from 'node:crypto';
import { exportJWK } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEMO_CLIENT, startSimulator } from '../../simulator/simulator.ts';
import { startService, startSimulated } from '../service.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';

const WINDOWS =
  'e164 day: simSwappedWithin(maxAgeHours: 24) tenDays: simSwappedWithin ' +
  'all: simSwappedWithin(maxAgeHours: 2400)';
const DATE_AND_WINDOWS = `lastSimSwap ${WINDOWS}`;

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
    ['one number fifty times', Array<string>(50).fill('+447700900500'), DATE_AND_WINDOWS, 1],
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

    const { data, errors } = await service.ask(aboutAll(fields), { numbers });

    expect(errors).toEqual([]);
    const never = { day: false, tenDays: false, all: false };
    expect(data.phoneNumbers).toMatchObject(numbers.map(() => never));
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

    const { codes } = await service.ask(aboutAll(WINDOWS), { numbers: neverSwapped(20) });

    expect(codes).toEqual([]);
    expect(service.stats()).toMatchObject({ lookups: 20, tokens: 20, prompts: 20 });
  });
});

type Alg = 'ES256' | 'PS256';
type Method = 'private_key_jwt' | 'both';

/** A simulator that takes this client authentication, and the settings of a service that shows it. */
async function clientKnownBy(method: Method, alg: Alg) {
  const { publicKey, privateKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'key-1', alg };
  const jwks = { keys: [jwk] };
  const simulator = await startSimulator({ port: 0, clientAuthentication: method, jwks });
  const files = new TemporaryFiles();
  onTestFinished(async () => {
    files[Symbol.dispose]();
    await simulator.close();
  });
  const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const settings = {
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_AUTH: method,
    // No secret where none is needed.
    OPERATOR_CLIENT_SECRET: method === 'both' ? DEMO_CLIENT.clientSecret : '',
    OPERATOR_ASSERTION_KEY_FILE: files.write('key.pem', pem),
    OPERATOR_ASSERTION_ALG: alg,
    OPERATOR_ASSERTION_KID: 'key-1',
    OPERATOR_ASSERTION_AUDIENCE: simulator.authUrl,
  };
  return { simulator, settings };
}

describe('client authentication, taken by an operator that checks it', () => {
  test.each<[Method, Alg]>([
    ['private_key_jwt', 'ES256'],
    ['both', 'PS256'],
  ])('%s with %s', async (method, alg) => {
    const { simulator, settings } = await clientKnownBy(method, alg);
    await using service = await startService(simulator.authUrl, settings);

    // Each assertion counts once, so three tokens take three.
    const { codes } = await service.ask(aboutAll(WINDOWS), { numbers: neverSwapped(3) });

    expect(codes).toEqual([]);
    expect(simulator.stats()).toMatchObject({ tokens: 3, lookups: 3, refusedClients: 0 });
  });
});
