import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError, type Environment } from '../../src/config/environment.ts';
import { codeBlocksOf } from '../documents.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';

const files = new TemporaryFiles();
afterAll(() => files[Symbol.dispose]());
const FILE = files.write('file.pem', 'what it holds is judged where it is used');
const MISSING = `${files.folder}/missing.pem`;

const OPERATOR = {
  OPERATOR_AUTH_URL: 'https://auth.operator.example',
  OPERATOR_SIM_SWAP_URL: 'https://api.operator.example',
  OPERATOR_CLIENT_ID: 'client',
  OPERATOR_CLIENT_SECRET: 'client-secret',
};
function problemsWith(environment: Environment): string {
  try {
    readConfig(environment);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n');
    throw error;
  }
}

function withPrefix(prefix: string, settings: Environment): Environment {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [prefix + name, value]),
  );
}

const file = { kind: 'file', path: FILE };

describe('how connections are made', () => {
  it('is by nothing of its own where nothing is set', () => {
    const { operators } = readConfig(OPERATOR);
    expect(operators[0]).not.toHaveProperty('tls');
    expect(operators[0]).not.toHaveProperty('proxy');
  });

  it('is read from OPERATOR_TLS_… and OPERATOR_PROXY_…', () => {
    const { operators } = readConfig({
      ...OPERATOR,
      ...withPrefix('OPERATOR_', {
        TLS_CERTIFICATE_FILE: FILE,
        TLS_KEY_FILE: FILE,
        TLS_KEY_PASSPHRASE_FILE: FILE,
        TLS_CA_FILE: FILE,
        TLS_SERVER_NAME: 'api.operator.example',
        PROXY_URL: 'https://proxy.example:3129',
        PROXY_CREDENTIALS: 'user:password',
        PROXY_CA_FILE: FILE,
      }),
    });
    expect(operators[0]).toMatchObject({
      tls: {
        certificate: file,
        key: file,
        passphrase: file,
        ca: file,
        serverName: 'api.operator.example',
      },
      proxy: {
        url: 'https://proxy.example:3129',
        credentials: { kind: 'text', text: 'user:password' },
        ca: file,
      },
    });
  });

  it.each<[string, Environment, string]>([
    ['a certificate without its key', { TLS_CERTIFICATE_FILE: FILE }, 'TLS_KEY_FILE is missing'],
    ['a key without a certificate', { TLS_KEY_FILE: FILE }, 'TLS_CERTIFICATE_FILE is missing'],
    ['a passphrase without a key', { TLS_KEY_PASSPHRASE: 'word' }, 'TLS_KEY_FILE is missing'],
    ['a file that is not there', { TLS_CA_FILE: MISSING }, 'TLS_CA_FILE names a file that cannot'],
    [
      'a name with a scheme',
      { TLS_SERVER_NAME: 'https://api.example' },
      'TLS_SERVER_NAME must be the name of a host',
    ],
    ['an address as a name', { TLS_SERVER_NAME: '10.0.0.1' }, 'must be the name of a host'],
    ['a proxy that is no address', { PROXY_URL: 'proxy:3128' }, 'PROXY_URL must be the address'],
    ['a proxy of SOCKS', { PROXY_URL: 'socks5://proxy' }, 'PROXY_URL must be the address'],
    [
      'a proxy with a password',
      { PROXY_URL: 'http://user:hunter2hunter2@proxy' },
      'PROXY_URL must be without user and password',
    ],
    ['a proxy with a path', { PROXY_URL: 'http://proxy/a' }, 'PROXY_URL must be scheme, host'],
    ['credentials without a proxy', { PROXY_CREDENTIALS: 'a:b' }, 'PROXY_URL is missing'],
    [
      'authorities for a proxy without TLS',
      { PROXY_URL: 'http://proxy:3128', PROXY_CA_FILE: FILE },
      'PROXY_CA_FILE is for a proxy',
    ],
  ])('is refused with %s, and quotes no secret', (_, settings, problem) => {
    const problems = problemsWith({ ...OPERATOR, ...withPrefix('OPERATOR_', settings) });
    expect(problems).toContain(problem);
    expect(problems).not.toContain('hunter2');
  });

  it('is for addresses with https', () => {
    const problems = problemsWith({
      ...OPERATOR,
      OPERATOR_SIM_SWAP_URL: 'http://127.0.0.1:4011',
      OPERATOR_PROXY_URL: 'http://proxy:3128',
    });
    expect(problems).toContain('OPERATOR_PROXY_URL is for addresses that start with https://');
  });

  it('means that there is an operator', () => {
    const operator = problemsWith({ OPERATOR_PROXY_URL: 'http://proxy:3128' });
    expect(operator).toContain('OPERATOR_AUTH_URL is missing');
  });
});

describe('how connections are made, in the file of operators', () => {
  const ALPHA = {
    name: 'alpha',
    prefixes: ['default'],
    flow: '2-legged',
    authUrl: 'https://auth.example',
    simSwapUrl: 'https://api.example',
    client: { method: 'basic', id: 'client', secret: { variable: 'SECRET' } },
  };
  const PEM = { file: 'file.pem' };

  function read(members: object) {
    const text = JSON.stringify({ operators: [{ ...ALPHA, ...members }] });
    const environment = {
      OPERATORS_FILE: files.write('operators.jsonc', text),
      SECRET: 'secret',
      PASSPHRASE: 'open it',
    };
    return { environment, problems: problemsWith(environment) };
  }

  it('is each operator’s own', () => {
    const way = {
      tls: { certificate: PEM, key: PEM, passphrase: { variable: 'PASSPHRASE' }, ca: PEM },
      proxy: { url: 'http://proxy:3128', credentials: PEM },
    };
    const expected = {
      tls: {
        certificate: file,
        key: file,
        passphrase: { kind: 'text', text: 'open it' },
        ca: file,
      },
      proxy: { url: 'http://proxy:3128', credentials: file },
    };
    const { environment, problems } = read(way);
    expect(problems).toBe('');
    const config = readConfig(environment);
    expect(config.operators[0]).toMatchObject(expected);
  });

  it('is as docs/operators.md shows it', () => {
    const [block] = codeBlocksOf('docs/operators.md').filter(({ text }) =>
      text.startsWith('"tls"'),
    );
    const text = block?.text ?? '';
    mkdirSync(join(files.folder, 'northern'), { recursive: true });
    for (const [, path = ''] of text.matchAll(/"file": "([^"]+)"/g)) files.write(path, 'there');
    const alpha = JSON.stringify(ALPHA).slice(0, -1);
    files.write('shown.jsonc', `{ "operators": [${alpha},\n${text}}] }`);
    const { operators } = readConfig({
      OPERATORS_FILE: join(files.folder, 'shown.jsonc'),
      SECRET: 'secret',
    });
    expect(operators[0]).toMatchObject({
      tls: { certificate: { kind: 'file', path: join(files.folder, 'northern/tls.crt') } },
      proxy: { url: 'http://egress.internal:3128' },
    });
  });

  it.each<[string, object, string]>([
    ['no key', { tls: { certificate: PEM } }, 'operators[0].tls.key is missing'],
    ['no certificate', { tls: { key: PEM } }, 'operators[0].tls.certificate is missing'],
    ['a key for no one', { tls: { passphrase: PEM } }, 'operators[0].tls.key is missing'],
    [
      'a file that is missing',
      { tls: { ca: { file: 'missing.pem' } } },
      'operators[0].tls.ca.file names a file that cannot be read',
    ],
    ['PEM in the file itself', { tls: { ca: 'MIIB' } }, 'must say where the secret is'],
    ['a name with a port', { tls: { serverName: 'a:443' } }, 'must be the name of a host'],
    ['a proxy with a user', { proxy: { url: 'http://u:p@proxy' } }, 'must be without user'],
    [
      'authorities for a proxy without TLS',
      { proxy: { url: 'http://proxy', ca: PEM } },
      'operators[0].proxy.ca is for a proxy whose url starts with https://',
    ],
    ['a typo', { tls: { certifcate: PEM } }, 'Did you mean certificate?'],
    [
      'plain text',
      { simSwapUrl: 'http://127.0.0.1', proxy: { url: 'http://proxy' } },
      'operators[0].proxy is for addresses with https://, and simSwapUrl has http://',
    ],
  ])('is refused with %s, by line and member', (_, members, problem) => {
    const { problems } = read(members);
    expect(problems).toContain(problem);
    expect(problems).toMatch(/\(line \d+\)/);
  });
});
