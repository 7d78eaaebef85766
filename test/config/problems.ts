import { randomUUID, type KeyPairKeyObjectResult } from 'node:crypto';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError, type Environment } from '../../src/config/environment.ts';
import type { TemporaryFiles } from '../support/temporary.ts';

/** An operator by the short form, and an issuer of tokens. */
export const OPERATOR = {
  OPERATOR_AUTH_URL: 'https://auth.example',
  OPERATOR_SIM_SWAP_URL: 'https://api.example/sim-swap/v2',
  OPERATOR_CLIENT_ID: 'client',
  OPERATOR_CLIENT_SECRET: 's3cret-value',
};
export const JWT = {
  JWT_JWKS_URL: 'https://issuer.example/jwks',
  JWT_ISSUER: 'https://issuer.example',
  JWT_AUDIENCE: 'sim-swap',
};
export const REDIS_URL = 'redis://user:hidden@127.0.0.1:6379';

/** The path of a file with the private key. */
export function keyFile(files: TemporaryFiles, { privateKey }: KeyPairKeyObjectResult): string {
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return files.write(`${randomUUID()}.pem`, pem);
}

/** The problems of these settings. */
export function problemsOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** The names of the settings with problems, each once, in alphabetical order. */
export function namesIn(environment: Environment): readonly string[] {
  const names = problemsOf(environment).map((problem) => problem.split(' ', 1).join(''));
  return [...new Set(names)].toSorted();
}
