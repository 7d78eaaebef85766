import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { PROFILES } from '../../profiles/index.ts';
import { readConfig, readUsageConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { operatorIdentityOf } from '../../src/operator/operatorSettings.ts';
import type { OperatorSettings } from '../../src/operator/operatorSettings.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { problemsOf as problemsIn } from './problems.ts';

const files = new TemporaryFiles();
files.write('secret', 's3cret-of-alpha\n');
files.write('two-lines', 'one\ntwo\n');
files.write('empty', '\n');
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
files.write('key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());

const BASIC = { id: 'client', secret: { file: 'secret' } };

/** An operator as short as it can be written. */
const ALPHA = {
  name: 'alpha',
  prefixes: ['default'],
  flow: '2-legged',
  authUrl: 'https://auth.example',
  simSwapUrl: 'https://api.example/sim-swap/v2',
  client: BASIC,
};

const BETA = { ...ALPHA, name: 'beta', prefixes: ['+44'] };

const withClient = (client: object) => ({ client });
const of = (profile: string, members?: object) => ({ profile, flow: undefined, ...members });

/** The settings that name a file with this text. */
function written(text: string, environment: Environment = {}): Environment {
  return { OPERATORS_FILE: files.write('operators.jsonc', text), ...environment };
}

/** Without the reader of its files. */
function operatorOf(entry: object, environment: Environment = {}): OperatorSettings {
  const settings = written(JSON.stringify({ operators: [entry] }), environment);
  const [found] = readConfig(settings).operators;
  if (found === undefined) throw new Error('no operator');
  const { fromFiles: _again, ...operator } = found;
  return operator;
}

/** The problems with a file of this text. */
function problemsWith(text: string, environment: Environment = {}): readonly string[] {
  return problemsIn(written(text, environment));
}

function problemsOf(...operators: readonly object[]): readonly string[] {
  return problemsWith(JSON.stringify({ operators })).map((problem) =>
    problem.replace(/^OPERATORS_FILE (?:\(line 1\): )?/, ''),
  );
}

describe('a file of operators', () => {
  test.each(['2-legged', '3-legged'])('equals the short form: %s', (flow) => {
    const [short] = readConfig({
      OPERATOR_FLOW: flow,
      OPERATOR_AUTH_URL: ALPHA.authUrl,
      OPERATOR_SIM_SWAP_URL: ALPHA.simSwapUrl,
      OPERATOR_CLIENT_ID: 'client',
      OPERATOR_CLIENT_SECRET: 's3cret-of-alpha',
    }).operators;

    const claims = expect.any(Function) as unknown;
    const { assertion, ...others } = short?.clientAuthentication ?? {};
    expect(operatorOf({ ...ALPHA, flow })).toEqual({
      ...short,
      name: 'alpha',
      variables: undefined,
      clientAuthentication: { ...others, assertion: { ...assertion, claims } },
    });
  });

  test('replaces the simulator, and may have comments, trailing commas and a byte order mark', () => {
    const text = `\uFEFF// two\n{ "$schema": "x", /* here */ "operators": [${JSON.stringify(ALPHA)}, ${JSON.stringify(BETA)},], }`;
    const { operators, simulator, directory } = readConfig(written(text, { NODE_ENV: '' }));

    expect(operators.map(({ name, prefixes }) => [name, prefixes])).toEqual([
      ['alpha', ['default']],
      ['beta', ['+44']],
    ]);
    expect([simulator, directory]).toEqual([undefined, undefined]);
  });

  test('has all the terms of a contract', () => {
    const asItStands = {
      prefixes: ['+44', 'default'],
      maxAgeHours: 168,
      dateMarginHours: 24,
      trustMonitoredPeriod: false,
      keepFactsSeconds: 5,
      oneCallPerNumber: true,
      limits: { timeoutMs: 1000, connections: 8, requestsPerSecond: 20 },
    };
    const operator = operatorOf({
      ...ALPHA,
      ...of('camara-jwt-bearer', asItStands),
      discovery: { issuer: 'https://auth.example/realm/' },
      authUrl: undefined,
      client: { id: 'client', key: { file: 'key.pem' }, kid: 'k1' },
      scopes: { check: 'sim-swap' },
      tokens: { use: 'per-number', dpop: true },
      purposes: ['dpv:FraudPreventionAndDetection'],
      operations: ['check'],
      echo: 'never',
      headers: { 'x-partner': 'Acme_Co', 'x-api-key': { file: 'secret' } },
    });

    expect(operator).toMatchObject({
      ...asItStands,
      profile: { name: 'camara-jwt-bearer' },
      authorization: {
        from: 'discovery',
        issuer: 'https://auth.example/realm/',
        documentUrl: 'https://auth.example/realm/.well-known/openid-configuration',
      },
      flow: '2-legged',
      clientAuthentication: { method: 'private_key_jwt', assertion: { alg: 'ES256', kid: 'k1' } },
      grant: { type: 'jwt-bearer', subject: 'tel:{number}' },
      scopes: {
        operations: { 'retrieve-date': 'sim-swap:retrieve-date', check: 'sim-swap' },
        openid: false,
        purpose: true,
      },
      tokens: { use: 'per-number', marginSeconds: 5, types: ['dpop'] },
      authentication: { dpop: true },
      purposes: ['dpv:FraudPreventionAndDetection'],
      operations: new Set(['check']),
      correlator: { header: 'x-correlator', form: 'traceable', echo: 'never' },
      headers: [
        { name: 'x-partner', value: 'Acme_Co' },
        { name: 'x-api-key', value: 's3cret-of-alpha' },
      ],
    });
  });

  test.each<[object, string]>([
    [{ secret: { file: 'secret' } }, 'basic'],
    [{ key: { file: 'key.pem' } }, 'private_key_jwt'],
    [{ secret: { file: 'secret' }, key: { file: 'key.pem' } }, 'both'],
  ])('authenticates with %j by %s', (members, method) => {
    const entry = { ...ALPHA, client: { id: 'client', ...members } };
    expect(operatorOf(entry).clientAuthentication.method).toBe(method);
  });

  test('has the names in stores that earlier versions gave it', () => {
    const key = { id: 'client', key: { file: 'key.pem' } };
    const names = [
      ALPHA,
      { ...ALPHA, flow: '3-legged' },
      { ...ALPHA, profile: 'camara-jwt-bearer', flow: undefined, client: key },
      { ...ALPHA, profile: 'telefonica', flow: undefined },
      { ...ALPHA, authUrl: undefined, discovery: { issuer: 'https://auth.example' } },
    ].map((entry) => operatorIdentityOf(operatorOf(entry)));
    const auth = 'https://auth.example';
    const places = `${auth}/openIDConnectCIBA/v1/bc-authorize ${auth}/openIDConnectCIBA/v1/token`;

    expect(names).toEqual([
      `alpha https://api.example client 2-legged ${places}`,
      `alpha https://api.example client 3-legged ${places}`,
      `alpha https://api.example client 2-legged ${places}`,
      `alpha https://api.example client 3-legged ${auth}/apigateway/bc-authorize ${auth}/apigateway/token`,
      `alpha https://api.example client 2-legged ${auth} ${auth}/.well-known/openid-configuration`,
    ]);
  });

  test.each([
    ['2-legged', undefined, undefined, 0],
    ['3-legged', undefined, undefined, 60],
    ['3-legged', undefined, '10', 10],
    ['2-legged', undefined, '10', 10],
    ['3-legged', 0, '10', 0],
  ])('%s, keeping facts for %s s, KEEP_FACTS_SECONDS=%s: %i s', (flow, own, all, kept) => {
    const entry = { ...ALPHA, flow, keepFactsSeconds: own };
    expect(operatorOf(entry, { KEEP_FACTS_SECONDS: all }).keepFactsSeconds).toBe(kept);
  });

  test('may name a directory of numbers', () => {
    const headers = { authorization: { file: 'secret' } };
    const directory = { url: 'https://numbers.example/', headers };
    const settings = written(JSON.stringify({ directory, operators: [ALPHA] }));
    expect(readConfig(settings).directory).toMatchObject({
      url: 'https://numbers.example',
      headers: { authorization: 's3cret-of-alpha' },
      timeoutMs: 1000,
      keepSeconds: 60,
      fallback: 'none',
    });
  });

  test('has prices, which are read without secrets', () => {
    const client = { ...BASIC, secret: { file: 'only-the-service-reads-it' } };
    const price = { currency: 'EUR', check: '0.0215' };
    const text = JSON.stringify({ operators: [{ ...ALPHA, client, price }, BETA] });
    const { priceOf, currency } = readUsageConfig(written(text));

    const microsPerLookup = { 'retrieve-date': 0, check: 21_500 };
    expect([currency, priceOf('beta')]).toEqual(['EUR', undefined]);
    expect(priceOf('alpha')).toEqual({ currency, microsPerLookup });
  });
});

describe('a problem with the file', () => {
  test('is reported with all others, each with its line and its path', () => {
    const text = `{
      "operators": [{
        "name": "alpha",
        "prefixes": ["+44"],
        "flow": "3-leged",
        "authUrl": "https://auth.example",
        "simSwapUrl": "http://api.example",
        "client": { "id": "client", "secret": "hunter2-hunter2" },
        "headrs": {}
      }]
    }`;
    expect(problemsWith(text)).toEqual([
      'OPERATORS_FILE (line 5): operators[0].flow must be one of "2-legged", "3-legged". Did you mean "3-legged"?',
      'OPERATORS_FILE (line 7): operators[0].simSwapUrl must be an address that starts with https://, as it is not on this machine.',
      'OPERATORS_FILE (line 8): operators[0].client.secret must say where the secret is, { "file": … } or { "variable": … }: secrets are not allowed in this file.',
      'OPERATORS_FILE (line 9): operators[0].headrs is not a known member. Did you mean headers?',
    ]);
  });

  test('is that it is too long, too deep, or cannot be read', () => {
    const deep = `{ "operators": ${'['.repeat(200_000)}${']'.repeat(200_000)} }`;
    expect(problemsWith(deep)).toEqual(['OPERATORS_FILE nests too many brackets.']);
    const long = 'OPERATORS_FILE must have 1000000 characters at most.';
    expect(problemsWith(' '.repeat(1_000_001))).toEqual([long]);
    const unreadable = 'OPERATORS_FILE names a file that cannot be read';
    for (const [OPERATORS_FILE, why] of [
      [files.folder, 'NO_REGULAR_FILE'],
      [`${files.folder}/missing.jsonc`, 'ENOENT'],
    ]) {
      expect(problemsIn({ OPERATORS_FILE }).join()).toContain(`${unreadable} (${why}).`);
    }
  });

  test.each([
    ['', 'is not JSON: value expected in line 1.'],
    ['{', 'is not JSON: close brace expected in line 1.'],
    ['{\n"operators": [1,,]}', 'is not JSON: value expected in line 2.'],
    ['{ operators: [] }', 'is not JSON: invalid symbol in line 1.'],
    ['[]', 'must be an object, in { }.'],
    ['{}', '(line 1): operators is missing.'],
    ['{ "operators": [] }', '(line 1): operators must not be empty.'],
    ['{ "operators": [null] }', '(line 1): operators[0] must be an object, in { }.'],
    ['{ "operators": [], "operators": [] }', '(line 1): operators is set twice.'],
    ['{ "operators": {}, "__proto__": {} }', '(line 1): __proto__ is not a known member.'],
  ])('%j: %s', (text, problem) => {
    expect(problemsWith(text)).toContain(`OPERATORS_FILE ${problem}`);
  });

  test('is a setting of the short form', () => {
    const text = JSON.stringify({ operators: [ALPHA] });
    const shortForm = { OPERATOR_FLOW: '2-legged', OPERATOR_PROFILE: 'kpn' };
    expect(problemsWith(text, shortForm)).toEqual([
      'OPERATOR_PROFILE is for one operator, and OPERATORS_FILE is set: set it in that file.',
      'OPERATOR_FLOW is for one operator, and OPERATORS_FILE is set: set it in that file.',
    ]);
  });

  test('names a header of the directory that is set twice, in whichever case', () => {
    const headers = { 'x-partner': 'abc', 'X-Partner': 'def' };
    const directory = { url: 'https://numbers.example', headers };
    expect(problemsWith(JSON.stringify({ directory, operators: [ALPHA] }))).toEqual([
      'OPERATORS_FILE (line 1): directory.headers["X-Partner"] is set twice.',
    ]);
  });

  test('quotes only names of members and operators', () => {
    const secret = 'hunter2';
    const text = JSON.stringify({
      directory: {
        url: `https://user:${secret}@numbers.example`,
        headers: { authorization: secret },
      },
      operators: [
        {
          ...ALPHA,
          authUrl: `https://auth.example?key=${secret}`,
          client: { ...BASIC, secret, id: [secret] },
          headers: { 'x-api-key': secret },
          scopes: { check: [secret], joinedBy: secret },
        },
      ],
    });
    const problems = problemsWith(text);
    expect(problems).toHaveLength(6);
    expect(problems.join('\n')).not.toContain(secret);
  });

  const NAMES = Object.keys(PROFILES).join(', ');
  const { id } = BASIC;

  // Of single members, and of some combinations: messages.txt.
  const PROBLEMS: Readonly<Record<string, object>> = {
    [`profile must be one of ${NAMES}, or the path of your own, such as ./our-operator.ts. Did you mean telefonica?`]:
      { profile: 'telefonca' },
    'client.key is missing: the profile orange authenticates by private_key_jwt.': of('orange'),
    'tls.certificate is missing: the profile camara authenticates by tls.': of('camara', {
      flow: '2-legged',
      client: { id, method: 'tls' },
    }),
    'options.realm does not fit: the realm of Keycloak.': of('aggregator-in', {
      options: { realm: '../x' },
    }),
    'headers.k.file refers to more than one line, or to characters that no header can have.': {
      headers: { k: { file: 'two-lines' } },
    },
    'headers["X-RapidAPI-Host"] is a header of the profile nokia already.': of('nokia', {
      headers: { 'X-RapidAPI-Host': 'a' },
    }),
    'headers.TransactionId is a header that this service sets itself.': of('mtn', {
      headers: { TransactionId: 'abc' },
    }),
    'headers.K.varable is not a known member. Did you mean variable?': {
      headers: { K: { file: 'partner', varable: 'X' } },
    },
    'headers.K is set twice.': { headers: { k: 'abc', K: 'def' } },
    'headers["x-api-key"] looks like a secret: put it into a file and write { "file": … }, or { "variable": … }.':
      { headers: { 'x-api-key': 'abc' } },
    // Every object of JavaScript has this member.
    'client.constructor is not a known member.': withClient({ ...BASIC, constructor: 'abc' }),
    'client.secret.file names a file that cannot be read, or is empty.': withClient({
      id,
      secret: { file: 'empty' },
    }),
    'maxAgeHours must be a whole number.': { maxAgeHours: 1.5 },
    'limits.requestsPerSecond must be 10000 or less.': { limits: { requestsPerSecond: 10_001 } },
  };

  test.each(Object.entries(PROBLEMS))('is that its %s', (problem, members) => {
    expect(problemsOf({ ...ALPHA, ...members })).toContain(`operators[0].${problem}`);
  });

  test('is what two operators have with each other', () => {
    const alpha = { ...ALPHA, others: ['beta', 'betta'], price: { currency: 'EUR' } };
    const beta = { prefixes: ['+44', 'default'], others: ['alpha'], price: { currency: 'GBP' } };
    expect(problemsOf(alpha, { ...BETA, ...beta })).toEqual([
      'operators[0].others[0] leads back to alpha, by the others of beta: a number would be looked up in circles.',
      'operators[0].others[1] is not the name of an operator in this file. Did you mean beta?',
      'operators[1].prefixes[1] is a prefix of alpha as well: a number belongs to one operator.',
      'operators[1].others[0] leads back to beta, by the others of alpha: a number would be looked up in circles.',
      'operators[1].price.currency must be the currency of all other prices in this file.',
    ]);
    expect(problemsOf(ALPHA, { ...BETA, formerly: ['gamma', 'alpha'] })).toEqual([
      'operators[1].formerly[1] is the name of an operator in this file.',
    ]);
    expect(problemsOf(ALPHA, { ...BETA, name: 'alpha' })).toEqual([
      'operators[1].name is the name of another operator as well.',
    ]);
  });
});
