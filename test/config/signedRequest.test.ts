import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

const OPERATOR = {
  OPERATOR_AUTH_URL: 'https://operator.example',
  OPERATOR_SIM_SWAP_URL: 'https://operator.example/sim-swap/v1',
  OPERATOR_CLIENT_ID: 'client',
  OPERATOR_CLIENT_SECRET: 'secret',
  OPERATOR_FLOW: '3-legged',
};

let folder: string;
let KEY: Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signed-request-'));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const path = join(folder, 'key.pem');
  writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  KEY = {
    OPERATOR_ASSERTION_KEY_FILE: path,
    OPERATOR_ASSERTION_AUDIENCE: 'https://operator.example',
  };
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function readWithoutKey(): void {
  readConfig({ ...OPERATOR, OPERATOR_CLIENT_AUTH: 'both', OPERATOR_SIGNED_REQUEST: 'on' });
}

describe('OPERATOR_SIGNED_REQUEST', () => {
  it('is off by default', () => {
    expect(readConfig({ ...OPERATOR, ...KEY }).operators[0]?.signedRequest).toBeUndefined();
  });

  it.each(['basic', 'private_key_jwt', 'both'])(
    'is signed with the one key beside %s',
    (method) => {
      const settings = { ...OPERATOR, ...KEY, OPERATOR_CLIENT_AUTH: method };
      const strict = readConfig({ ...settings, OPERATOR_SIGNED_REQUEST: 'strict' }).operators[0];
      expect(strict?.clientAuthentication.method).toBe(method);
      expect(strict?.signedRequest).toMatchObject({
        isStrict: true,
        assertion: {
          alg: 'ES256',
          audience: { backchannelAuthentication: 'https://operator.example' },
        },
      });
      const on = readConfig({ ...settings, OPERATOR_SIGNED_REQUEST: 'on' }).operators[0];
      expect(on?.signedRequest?.isStrict).toBe(false);
    },
  );

  it('needs a key and an audience, and says so once', () => {
    const needs = 'is missing: OPERATOR_SIGNED_REQUEST=on needs it';
    expect(readWithoutKey).toThrow(`2 problem(s)`);
    expect(readWithoutKey).toThrow(`OPERATOR_ASSERTION_KEY_FILE ${needs}`);
    expect(readWithoutKey).toThrow(`OPERATOR_ASSERTION_AUDIENCE ${needs}`);
  });
});
