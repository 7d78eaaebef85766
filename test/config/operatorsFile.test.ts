import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig, readUsageConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { OperatorSettings } from '../../src/operator/operatorSettings.ts';
import { problemsOf as problemsIn } from './problems.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'operators-file-'));
  writeFileSync(join(folder, 'secret'), 's3cret-of-alpha\n');
  writeFileSync(join(folder, 'two-lines'), 'one\ntwo\n');
  writeFileSync(join(folder, 'empty'), '\n');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const BASIC = { method: 'basic', id: 'client', secret: { file: 'secret' } };
const KEY = { key: { file: 'key.pem' }, audience: 'https://auth.example' };

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

/** The settings that name a file with this text. */
function written(text: string, environment: Environment): Environment {
  const path = join(folder, 'operators.jsonc');
  writeFileSync(path, text);
  return { OPERATORS_FILE: path, ...environment };
}

function read(text: string, environment: Environment = {}) {
  return readConfig(written(text, environment));
}

/** Without what reads its files again. */
function operatorOf(entry: object, environment: Environment = {}): OperatorSettings {
  const [found] = read(JSON.stringify({ operators: [entry] }), environment).operators;
  if (found === undefined) throw new Error('no operator');
  const { fromFiles: _again, ...operator } = found;
  return operator;
}

/** The problems with a file, without the words that begin each. */
function problemsWith(text: string, environment: Environment = {}): readonly string[] {
  return problemsIn(written(text, environment));
}

function problemsOf(...operators: readonly object[]): readonly string[] {
  return problemsWith(JSON.stringify({ operators })).map((problem) =>
    problem.replace(/^OPERATORS_FILE (?:\(line 1\): )?/, ''),
  );
}

describe('a file of operators', () => {
  test('comes to what the short form comes to, where it says no more', () => {
    const [short] = readConfig({
      OPERATOR_AUTH_URL: ALPHA.authUrl,
      OPERATOR_SIM_SWAP_URL: ALPHA.simSwapUrl,
      OPERATOR_CLIENT_ID: 'client',
      OPERATOR_CLIENT_SECRET: 's3cret-of-alpha',
    }).operators;

    expect(operatorOf(ALPHA)).toEqual({ ...short, name: 'alpha' });
  });

  test('comes to what the short form comes to in the 3-legged flow, too', () => {
    const [short] = readConfig({
      OPERATOR_FLOW: '3-legged',
      OPERATOR_AUTH_URL: ALPHA.authUrl,
      OPERATOR_SIM_SWAP_URL: ALPHA.simSwapUrl,
      OPERATOR_CLIENT_ID: 'client',
      OPERATOR_CLIENT_SECRET: 's3cret-of-alpha',
    }).operators;

    expect(operatorOf({ ...ALPHA, flow: '3-legged' })).toEqual({ ...short, name: 'alpha' });
    expect(operatorOf({ ...ALPHA, flow: '3-legged', grant: { type: 'ciba' } })).toEqual({
      ...short,
      name: 'alpha',
    });
  });

  test('replaces the simulator, and may have comments, last commas and a byte order mark', () => {
    const text = `\uFEFF// two\n{ "$schema": "x", /* here */ "operators": [${JSON.stringify(ALPHA)}, ${JSON.stringify(BETA)},], }`;
    const { operators, simulator, directory } = read(text, { NODE_ENV: '' });

    expect(operators.map(({ name, prefixes }) => [name, prefixes])).toEqual([
      ['alpha', ['default']],
      ['beta', ['+44']],
    ]);
    expect([simulator, directory]).toEqual([undefined, undefined]);
  });

  test('may send one header to two endpoints, each with a value of its own', () => {
    const headers = [
      { name: 'x-partner', value: 'abc', endpoints: ['check'] },
      { name: 'X-Partner', value: 'def', endpoints: ['token', 'retrieveDate'] },
    ];
    const correlator = { header: 'X-Correlator' };
    expect(problemsOf({ ...ALPHA, headers, correlator })).toEqual([]);
  });

  test('says everything in which operators differ', () => {
    const operator = operatorOf(
      {
        ...ALPHA,
        prefixes: ['+44', 'default'],
        discovery: { issuer: 'https://auth.example/realm/' },
        authUrl: undefined,
        client: {
          method: 'headers',
          id: 'client',
          headers: { 'X-Client-Id': 'us', 'X-Client-Secret': { variable: 'ALPHA_SECRET' } },
          assertion: { ...KEY, kid: 'k1', lifetimeSeconds: 120 },
        },
        grant: { type: 'jwt-bearer', subject: '{digits}' },
        scopes: { check: 'sim-swap', openid: true, purpose: 'dpv:FraudPrevention', joinedBy: '#' },
        tokens: { use: 'per-number' },
        operations: ['check'],
        maxAgeHours: 168,
        keepFactsSeconds: 5,
        phoneNumber: { header: 'x-phone-number', form: 'digits' },
        reading: {
          members: { swapped: 'simSwapped' },
          maxAgeUnit: 'seconds',
          nullMeans: { noSwapWithinDays: 90 },
          sentinelDates: ['1900-01-01', 'never'],
        },
        oneCallPerNumber: true,
        errors: {
          wordAt: ['/error/errorCode'],
          rules: [
            { status: 409, word: 'CONFLICT', code: 'OPERATOR_UNAVAILABLE', retryAfterSeconds: 1 },
          ],
        },
        correlator: { header: 'X-Correlation-Id', form: 'uuid', echo: 'never' },
        headers: [
          { name: 'vf_ext_bp_id', value: 'Acme_Co' },
          { name: 'x-time', value: { generated: 'timestamp' }, endpoints: ['check'] },
          { name: 'x-api-key', value: { file: 'secret' }, endpoints: ['check'] },
        ],
        limits: { timeoutMs: 1000, requestsPerSecond: 20 },
      },
      { ALPHA_SECRET: 'from-a-variable' },
    );

    const assertion = {
      alg: 'ES256',
      kid: 'k1',
      lifetimeSeconds: 120,
      audience: {
        token: 'https://auth.example',
        backchannelAuthentication: 'https://auth.example',
        cibaToken: 'https://auth.example',
      },
    };
    expect(operator).toMatchObject({
      authorization: {
        from: 'discovery',
        issuer: 'https://auth.example/realm/',
        documentUrl: 'https://auth.example/realm/.well-known/openid-configuration',
      },
      clientAuthentication: {
        method: 'headers',
        headers: { 'X-Client-Id': 'us', 'X-Client-Secret': 'from-a-variable' },
      },
      flow: '2-legged',
      grant: {
        type: 'jwt-bearer',
        assertion,
        subject: { before: '', form: 'digits', after: '' },
      },
      scopes: {
        operations: { 'retrieve-date': 'retrieve-sim-swap-date', check: 'sim-swap' },
        openid: true,
        purpose: 'dpv:FraudPrevention',
        joinedBy: '#',
      },
      tokens: { use: 'per-number', marginSeconds: 5 },
      operations: new Set(['check']),
      maxAgeHours: 168,
      keepFactsSeconds: 5,
      phoneNumber: {
        send: 'auto',
        place: { in: 'header', name: 'x-phone-number' },
        form: 'digits',
      },
      reading: {
        members: { swapped: 'simSwapped', maxAge: 'maxAge' },
        maxAgeUnit: 'seconds',
        nullMeans: { kind: 'no-swap-within', days: 90 },
        sentinelDates: ['1900-01-01', 'never'],
      },
      oneCallPerNumber: true,
      errors: {
        wordAt: [['error', 'errorCode']],
        rules: [
          {
            status: 409,
            word: 'CONFLICT',
            code: 'OPERATOR_UNAVAILABLE',
            reach: 'number',
            retryAfterSeconds: 1,
          },
        ],
      },
      correlator: { header: 'x-correlation-id', form: 'uuid', echo: 'never' },
      headers: [
        { name: 'vf_ext_bp_id', value: { kind: 'fixed', text: 'Acme_Co' } },
        { value: { kind: 'generated', generator: 'timestamp' }, endpoints: new Set(['check']) },
        { value: { kind: 'fixed', text: 's3cret-of-alpha' } },
      ],
      limits: { timeoutMs: 1000, permits: 256, requestsPerSecond: 20 },
    });
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
    const directory = {
      url: 'https://numbers.example/',
      headers: { authorization: { file: 'secret' } },
    };
    expect(read(JSON.stringify({ directory, operators: [ALPHA] })).directory).toMatchObject({
      url: 'https://numbers.example',
      headers: { authorization: 's3cret-of-alpha' },
      timeoutMs: 1000,
      keepSeconds: 60,
      fallback: 'none',
    });
  });
});

describe('the prices of a file of operators', () => {
  test('are read without its secrets', () => {
    const path = join(folder, 'prices.jsonc');
    const client = { ...BASIC, secret: { file: 'only-the-service-reads-it' } };
    const price = { currency: 'EUR', check: '0.0215' };
    writeFileSync(path, JSON.stringify({ operators: [{ ...ALPHA, client, price }, BETA] }));
    const { priceOf, currency } = readUsageConfig({ OPERATORS_FILE: path });

    expect(currency).toBe('EUR');
    expect(priceOf('alpha')).toEqual({
      currency: 'EUR',
      microsPerLookup: { 'retrieve-date': 0, check: 21_500 },
    });
    expect(priceOf('beta')).toBeUndefined();
  });
});

describe('a problem with the file', () => {
  test('is told with all others, each with its line and its path', () => {
    const text = `{
      "operators": [{
        "name": "alpha",
        "prefixes": ["+44"],
        "flow": "3-leged",
        "authUrl": "https://auth.example",
        "simSwapUrl": "http://api.example",
        "client": { "method": "basic", "id": "client", "secret": "hunter2-hunter2" },
        "headrs": []
      }]
    }`;
    expect(problemsWith(text)).toEqual([
      'OPERATORS_FILE (line 5): operators[0].flow must be one of "2-legged", "3-legged". Did you mean "3-legged"?',
      'OPERATORS_FILE (line 7): operators[0].simSwapUrl must be an address that starts with https://, as it is not on this machine.',
      'OPERATORS_FILE (line 8): operators[0].client.secret must say where the secret is, { "file": … } or { "variable": … }: no secret stands in this file.',
      'OPERATORS_FILE (line 9): operators[0].headrs is not a known member. Did you mean headers?',
    ]);
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
    ['{ "operators": [], "operators": [] }', '(line 1): operators stands twice.'],
    ['{ "operators": {}, "__proto__": {} }', '(line 1): __proto__ is not a known member.'],
  ])('%j: %s', (text, problem) => {
    expect(problemsWith(text)).toContain(`OPERATORS_FILE ${problem}`);
  });

  test('is that it goes too deep', () => {
    const deep = `{ "operators": ${'['.repeat(200_000)}${']'.repeat(200_000)} }`;
    expect(problemsWith(deep)).toEqual(['OPERATORS_FILE has too many brackets in each other.']);
  });

  test('is that it cannot be read', () => {
    const missing = { OPERATORS_FILE: join(folder, 'missing.jsonc') };
    expect(() => readConfig(missing)).toThrow('OPERATORS_FILE names a file that cannot be read.');
    expect(() => readConfig({ OPERATORS_FILE: folder })).toThrow('cannot be read');
  });

  test('is a setting of the short form beside it', () => {
    const text = JSON.stringify({ operators: [ALPHA] });
    const shortForm = { OPERATOR_FLOW: '2-legged', OPERATOR_ASSERTION_KID: 'k1' };
    expect(problemsWith(text, shortForm)).toEqual([
      'OPERATOR_FLOW is for one operator, and OPERATORS_FILE is set: say it in that file.',
      'OPERATOR_ASSERTION_KID is for one operator, and OPERATORS_FILE is set: say it in that file.',
    ]);
  });

  test('quotes nothing that stands in the file but names of members and operators', () => {
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
          headers: [{ name: 'x-api-key', value: secret }],
          scopes: { check: [secret], joinedBy: secret },
        },
      ],
    });
    const problems = problemsWith(text);
    expect(problems).toHaveLength(8);
    expect(problems.join('\n')).not.toContain(secret);
  });

  test.each<[string, readonly object[], string]>([
    [
      'a name twice',
      [ALPHA, { ...BETA, name: 'alpha' }],
      'operators[1].name is the name of another operator as well.',
    ],
    [
      'a name with capitals',
      [{ ...ALPHA, name: 'Alpha' }],
      'operators[0].name must be up to 32 small letters, digits and hyphens.',
    ],
    [
      'one prefix for two',
      [ALPHA, { ...BETA, prefixes: ['+44', 'default'] }],
      'operators[1].prefixes[1] is a prefix of alpha as well: a number is asked about at one operator.',
    ],
    [
      'one prefix twice',
      [{ ...ALPHA, prefixes: ['+44', '+44'] }],
      'operators[0].prefixes[1] is a prefix of alpha as well: a number is asked about at one operator.',
    ],
    [
      'a prefix without +',
      [{ ...ALPHA, prefixes: ['44'] }],
      'operators[0].prefixes[0] must be "default", or + and 1 to 14 digits such as "+44".',
    ],
    ['no prefix', [{ ...ALPHA, prefixes: [] }], 'operators[0].prefixes must not be empty.'],
    [
      'itself among the others',
      [{ ...ALPHA, others: ['alpha'] }],
      'operators[0].others[0] is the operator itself.',
    ],
    [
      'an unknown one among the others',
      [{ ...ALPHA, others: ['betta'] }, BETA],
      'operators[0].others[0] is not the name of an operator in this file. Did you mean beta?',
    ],
    [
      'a circle of others',
      [
        { ...ALPHA, others: ['beta'] },
        { ...BETA, others: ['alpha'] },
      ],
      'operators[0].others[0] leads back to alpha, by the others of beta: a number would be asked about in circles.',
    ],
    [
      'no address',
      [{ ...ALPHA, authUrl: undefined }],
      'operators[0].authUrl is missing, and so is discovery in its place.',
    ],
    [
      'two sources of addresses',
      [{ ...ALPHA, discovery: { issuer: 'https://auth.example' } }],
      'operators[0].authUrl stands beside discovery: one of them names the endpoints.',
    ],
    [
      'a path that discovery names',
      [
        {
          ...ALPHA,
          authUrl: undefined,
          discovery: { issuer: 'https://a.example' },
          paths: { token: '/t' },
        },
      ],
      'operators[0].paths.token is below authUrl: discovery names this endpoint.',
    ],
    [
      'a path without a slash',
      [{ ...ALPHA, paths: { check: 'check' } }],
      'operators[0].paths.check must be a path that starts with a slash, without query and fragment.',
    ],
    [
      'CIBA in the 2-legged flow',
      [{ ...ALPHA, grant: { type: 'ciba' } }],
      'operators[0].grant.type is for the 3-legged flow, and this is the 2-legged.',
    ],
    [
      'client credentials in the 3-legged flow',
      [{ ...ALPHA, flow: '3-legged', grant: { type: 'client_credentials' } }],
      'operators[0].grant.type is for the 2-legged flow, and this is the 3-legged.',
    ],
    [
      'a member of another grant',
      [{ ...ALPHA, grant: { type: 'client_credentials', loginHint: 'tel:{number}' } }],
      'operators[0].grant.loginHint is for "type": "ciba".',
    ],
    [
      'a member of another method',
      [{ ...ALPHA, client: { ...BASIC, headers: {} } }],
      'operators[0].client.headers is for "method": "headers".',
    ],
    [
      'a method that is none',
      [{ ...ALPHA, client: { ...BASIC, method: 'basc' } }],
      'operators[0].client.method must be one of "basic", "private_key_jwt", "both", "bearer_jwt", "headers". Did you mean "basic"?',
    ],
    [
      'no method',
      [{ ...ALPHA, client: { id: 'client' } }],
      'operators[0].client.method is missing.',
    ],
    [
      'no key for the grant',
      [{ ...ALPHA, grant: { type: 'jwt-bearer' } }],
      'operators[0].client.assertion is missing: it signs the assertion of the grant jwt-bearer.',
    ],
    [
      'no key for the request',
      [{ ...ALPHA, flow: '3-legged', client: { ...BASIC, signedRequest: 'on' } }],
      'operators[0].client.assertion is missing: it signs the request of bc-authorize.',
    ],
    [
      'a signed request that is never sent',
      [{ ...ALPHA, client: { ...BASIC, assertion: KEY, signedRequest: 'strict' } }],
      'operators[0].client.signedRequest is for the 3-legged flow alone.',
    ],
    [
      'a key of another algorithm',
      [
        {
          ...ALPHA,
          client: { method: 'private_key_jwt', id: 'c', assertion: { ...KEY, alg: 'RS256' } },
        },
      ],
      'operators[0].client.assertion.key must be a private key for RS256 in PEM.',
    ],
    [
      'a key that is none',
      [
        {
          ...ALPHA,
          client: {
            method: 'private_key_jwt',
            id: 'c',
            assertion: { ...KEY, key: { file: 'secret' } },
          },
        },
      ],
      'operators[0].client.assertion.key must be a private key for ES256 in PEM.',
    ],
    [
      'a file that is not there',
      [{ ...ALPHA, client: { ...BASIC, secret: { file: 'none' } } }],
      'operators[0].client.secret.file names a file that cannot be read, or is empty.',
    ],
    [
      'an empty file',
      [{ ...ALPHA, client: { ...BASIC, secret: { file: 'empty' } } }],
      'operators[0].client.secret.file names a file that cannot be read, or is empty.',
    ],
    [
      'a variable that is not set',
      [{ ...ALPHA, client: { ...BASIC, secret: { variable: 'NOT_SET_HERE' } } }],
      'operators[0].client.secret.variable names a variable that is not set.',
    ],
    [
      'two lines for a header',
      [{ ...ALPHA, headers: [{ name: 'x-key', value: { file: 'two-lines' } }] }],
      'operators[0].headers[0].value.file leads to more than one line, or to what no header carries.',
    ],
    [
      'a token of one number for all',
      [{ ...ALPHA, tokens: { use: 'any-number' } }],
      'operators[0].tokens.use would answer about another number: tokens of this grant hold theirs. Write "grant": { "type": "client_credentials", "username": null }, or "per-number".',
    ],
    [
      'a number that stands nowhere',
      [
        {
          ...ALPHA,
          grant: { type: 'client_credentials', username: null },
          phoneNumber: { send: 'never' },
        },
      ],
      'operators[0].phoneNumber.send leaves the number out, and the token does not hold it either.',
    ],
    [
      'a real date for a sentinel',
      [{ ...ALPHA, reading: { sentinelDates: ['2020-01-01'] } }],
      'operators[0].reading.sentinelDates[0] must have a year before 1991, or after 2200: a real date is not read as null.',
    ],
    [
      'the start of any date for a sentinel',
      [{ ...ALPHA, reading: { sentinelDates: ['01-01-'] } }],
      'operators[0].reading.sentinelDates[0] must have a year before 1991, or after 2200: a real date is not read as null.',
    ],
    [
      'a template without a number',
      [{ ...ALPHA, grant: { type: 'client_credentials', username: 'tel:' } }],
      'operators[0].grant.username must have {number} (with its +) or {digits} (without) in it, once.',
    ],
    [
      'a success among the errors',
      [{ ...ALPHA, errors: { rules: [{ status: 200, code: 'OPERATOR_REFUSED' }] } }],
      'operators[0].errors.rules[0].status must be 400 or more.',
    ],
    [
      'a reach that a code has not',
      [
        {
          ...ALPHA,
          errors: { rules: [{ status: 404, code: 'NUMBER_NOT_SERVED', reach: 'question' }] },
        },
      ],
      'operators[0].errors.rules[0].reach must be left out: NUMBER_NOT_SERVED speaks for the number.',
    ],
    [
      'a consent where none is asked for',
      [{ ...ALPHA, errors: { rules: [{ status: 403, code: 'CONSENT_DENIED' }] } }],
      'operators[0].errors.rules[0].code is for the 3-legged flow: no owner is asked here.',
    ],
    [
      'a header of ours',
      [{ ...ALPHA, headers: [{ name: 'Authorization', value: { file: 'secret' } }] }],
      'operators[0].headers[0].name is a header that this service sets itself.',
    ],
    [
      'the token’s header for the correlator',
      [{ ...ALPHA, correlator: { header: 'Authorization' } }],
      'operators[0].correlator.header is a header that this service sets itself.',
    ],
    [
      'the host for the number',
      [{ ...ALPHA, phoneNumber: { header: 'Host' } }],
      'operators[0].phoneNumber.header is a header that this service sets itself.',
    ],
    [
      'one header for the correlator and the number',
      [{ ...ALPHA, correlator: { header: 'x-id' }, phoneNumber: { header: 'X-ID' } }],
      'operators[0].phoneNumber.header is the header that names the exchange already.',
    ],
    [
      'the usual correlator’s header for the number',
      [{ ...ALPHA, phoneNumber: { header: 'x-correlator' } }],
      'operators[0].phoneNumber.header is a header that this service sets itself.',
    ],
    [
      'a fixed number beside the one that is asked about',
      [
        {
          ...ALPHA,
          phoneNumber: { header: 'x-phone-number' },
          headers: [{ name: 'X-Phone-Number', value: '+447700900001' }],
        },
      ],
      'operators[0].headers[0].name is the header that holds the number already.',
    ],
    [
      'a fixed correlator, in other letters',
      [
        {
          ...ALPHA,
          correlator: { header: 'X-Id' },
          headers: [{ name: 'x-id', value: 'abc' }],
        },
      ],
      'operators[0].headers[0].name is the header that names the exchange already.',
    ],
    [
      'one header with two values',
      [
        {
          ...ALPHA,
          headers: [
            { name: 'x-partner', value: 'abc', endpoints: ['check'] },
            { name: 'X-Partner', value: 'def' },
          ],
        },
      ],
      'operators[0].headers[1].name stands twice for one endpoint.',
    ],
    [
      'a header of ours among those of the client',
      [
        {
          ...ALPHA,
          client: { method: 'headers', id: 'c', headers: { 'Content-Length': '3' } },
        },
      ],
      'operators[0].client.headers["Content-Length"] is a header that this service sets itself.',
    ],
    [
      'one name for the number and the window',
      [{ ...ALPHA, reading: { members: { phoneNumber: 'maxAge' } } }],
      'operators[0].reading.members.phoneNumber is the name of phoneNumber and of maxAge: each needs one of its own.',
    ],
    [
      'one name for the date and the period',
      [{ ...ALPHA, reading: { members: { latestSimChange: 'x', monitoredPeriod: 'x' } } }],
      'operators[0].reading.members.monitoredPeriod is the name of latestSimChange and of monitoredPeriod: each needs one of its own.',
    ],
    [
      'a member that every object of JavaScript has',
      [{ ...ALPHA, client: { ...BASIC, constructor: 'abc' } }],
      'operators[0].client.constructor is not a known member.',
    ],
    [
      'a secret in a header',
      [{ ...ALPHA, headers: [{ name: 'x-api-key', value: 'abc' }] }],
      'operators[0].headers[0].value looks like a secret: put it into a file and write { "file": … }, or { "variable": … }.',
    ],
    [
      'a secret in a header of the client',
      [{ ...ALPHA, client: { method: 'headers', id: 'c', headers: { 'X-Client-Secret': 'abc' } } }],
      'operators[0].client.headers["X-Client-Secret"] looks like a secret: put it into a file and write { "file": … }, or { "variable": … }.',
    ],
    [
      'a text for a number',
      [{ ...ALPHA, limits: { timeoutMs: '1000' } }],
      'operators[0].limits.timeoutMs must be a number.',
    ],
    [
      'a fraction for a whole number',
      [{ ...ALPHA, maxAgeHours: 1.5 }],
      'operators[0].maxAgeHours must be a whole number.',
    ],
    [
      'a price that is none',
      [{ ...ALPHA, price: { currency: 'EUR', check: '1,5' } }],
      'operators[0].price.check must be an amount with at most six decimals, such as "0.0215".',
    ],
    [
      'two currencies',
      [
        { ...ALPHA, price: { currency: 'EUR' } },
        { ...BETA, price: { currency: 'GBP' } },
      ],
      'operators[1].price.currency must be the currency of all other prices in this file.',
    ],
    [
      'too much',
      [{ ...ALPHA, limits: { requestsPerSecond: 10_001 } }],
      'operators[0].limits.requestsPerSecond must be 10000 or less.',
    ],
  ])('is %s', (_, operators, problem) => {
    expect(problemsOf(...operators)).toContain(problem);
  });
});
