import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { readAuditConfig, readConfig, readUsageConfig, type Config } from '../../src/config.ts';
import { ConfigError, type Environment } from '../../src/config/environment.ts';
import { FILE_SETTINGS } from '../../src/config/settingsFile/fileSettings.ts';
import { settingsFileSchema } from '../../src/config/settingsFile/jsonSchema.ts';
import { problemsOf } from './problems.ts';

const AUDIT_KEY = 'k'.repeat(40);

let folder: string;
let path: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-file-'));
  path = join(folder, 'settings.jsonc');
  writeFileSync(join(folder, 'audit.key'), `${AUDIT_KEY}\n`);
  writeFileSync(join(folder, 'operator.secret'), 's3cret-of-alpha\n');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const ALPHA = {
  name: 'alpha',
  prefixes: ['default'],
  flow: '2-legged',
  authUrl: 'https://auth.example',
  simSwapUrl: 'https://api.example/sim-swap/v2',
  client: { method: 'basic', id: 'client', secret: { file: 'operator.secret' } },
  price: { currency: 'EUR', check: '0.02' },
};

function readText(text: string, environment: Environment = {}): Config {
  writeFileSync(path, text);
  return readConfig({ SETTINGS_FILE: path, ...environment });
}

function read(file: object, environment: Environment = {}): Config {
  return readText(JSON.stringify(file), environment);
}

function problemsWith(text: string, environment: Environment = {}): readonly string[] {
  writeFileSync(path, text);
  return problemsOf({ SETTINGS_FILE: path, ...environment });
}

function asVariables(values: object): Environment {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

describe('a settings file', () => {
  test('says what variables say, in the form that JSON has for it', () => {
    const settings = {
      PORT: 4100,
      ROLE: 'subgraph',
      LOG_REQUESTS: false,
      PURPOSES: ['fraud-prevention', 'account-recovery'],
      OPERATOR_MAX_AGE_HOURS: 720,
      OPERATOR_PRICE_CHECK: 0.02,
      OPERATOR_PRICE_CURRENCY: 'EUR',
      AUDIT_KEY_FILE: 'audit.key',
      AUDIT_LOG: 'audit.log',
    };

    expect(read({ settings })).toEqual(
      readConfig({
        PORT: '4100',
        ROLE: 'subgraph',
        LOG_REQUESTS: 'false',
        PURPOSES: 'fraud-prevention,account-recovery',
        OPERATOR_MAX_AGE_HOURS: '720',
        OPERATOR_PRICE_CHECK: '0.02',
        OPERATOR_PRICE_CURRENCY: 'EUR',
        AUDIT_KEY,
        AUDIT_LOG: join(folder, 'audit.log'),
      }),
    );
  });

  test('says the same with the texts that variables would hold', () => {
    const asTexts = { PORT: '4100', LOG_REQUESTS: 'false', PURPOSES: 'one,two' };

    expect(read({ settings: asTexts })).toEqual(readConfig(asTexts));
  });

  test('has quotas of clients as an object', () => {
    const quotas = { 'risk-desk': { numbersPerHour: 20_000 } };
    const jwt = { JWT_JWKS_URL: 'https://id.example/keys', JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' };

    expect(read({ settings: { ...jwt, QUOTA_CLIENTS: quotas } }).quotas.clients).toEqual(
      new Map(Object.entries(quotas)),
    );
  });

  test('may hold every setting with its default, and then says nothing', () => {
    const schemas = settingsFileSchema().properties?.['settings']?.properties ?? {};
    const defaults = Object.entries(schemas).flatMap(([name, { default: value }]) =>
      value === undefined || name === 'OPERATOR_ASSERTION_ALG' || name.endsWith('_FILE')
        ? []
        : [[name, value] as const],
    );

    expect(defaults.length).toBeGreaterThan(20);
    expect(read({ settings: Object.fromEntries(defaults) })).toEqual(readConfig({}));
  });

  test('counts an empty text as not set', () => {
    const empty = Object.fromEntries([...FILE_SETTINGS.keys()].map((name) => [name, '']));

    expect(read({ settings: empty })).toEqual(readConfig({}));
  });

  test('may hold nothing, or a mark that an editor writes first', () => {
    expect(readText('{}')).toEqual(readConfig({}));
    expect(readText('\uFEFF{ /* nothing yet */ }')).toEqual(readConfig({}));
  });

  test('names operators, as OPERATORS_FILE does', () => {
    const operatorsFile = join(folder, 'operators.jsonc');
    writeFileSync(operatorsFile, JSON.stringify({ operators: [ALPHA] }));
    const own = readConfig({ OPERATORS_FILE: operatorsFile, KEEP_FACTS_SECONDS: '5' });

    expect(read({ settings: { KEEP_FACTS_SECONDS: 5 }, operators: [ALPHA] })).toEqual(own);
    const settings = { OPERATORS_FILE: 'operators.jsonc', KEEP_FACTS_SECONDS: 5 };
    expect(read({ settings })).toEqual(own);
  });

  test('serves the search of the audit log and the report of usage too', () => {
    writeFileSync(
      path,
      JSON.stringify({
        settings: { AUDIT_KEY_FILE: 'audit.key', AUDIT_LOG: 'audit.log' },
        operators: [ALPHA],
      }),
    );
    const environment = { SETTINGS_FILE: path };

    expect(readAuditConfig(environment)?.keys).toEqual([AUDIT_KEY]);
    const { auditLog, priceOf } = readUsageConfig(environment);
    expect(auditLog).toBe(join(folder, 'audit.log'));
    expect(priceOf('alpha')?.microsPerLookup.check).toBe(20_000);
  });
});

describe('a variable wins over the file', () => {
  test('setting by setting', () => {
    const { listen, role } = read({ settings: { PORT: 4100, ROLE: 'subgraph' } }, { PORT: '4200' });

    expect([listen.port, role]).toEqual([4200, 'subgraph']);
  });

  test('an empty one does not', () => {
    expect(read({ settings: { PORT: 4100 } }, { PORT: '' }).listen.port).toBe(4100);
  });

  test('a secret in a variable wins over its file', () => {
    const other = 'o'.repeat(40);
    const settings = { AUDIT_KEY_FILE: 'missing.key' };

    expect(read({ settings }, { AUDIT_KEY: other }).audit?.keys).toEqual([other]);
  });

  test('whatever both say, the outcome is that of the variables over the values', () => {
    const values = fc.record(
      {
        PORT: fc.integer({ min: 0, max: 65_535 }),
        REQUEST_TIMEOUT_MS: fc.integer({ min: 10, max: 300_000 }),
        LOG_LEVEL: fc.constantFrom('info', 'warn', 'error'),
        LOG_REQUESTS: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(values, values, (settings, variables) => {
        expect(read({ settings }, asVariables(variables))).toEqual(
          readConfig({ ...asVariables(settings), ...asVariables(variables) }),
        );
      }),
      { numRuns: 50 },
    );
  });
});

describe('a bad settings file', () => {
  test('is told at once, each problem by its line and its name', () => {
    const text = `{
      "setings": {},
      "settings": {
        "PORT": 70000,
        "ROLE": "router",
        "LOG_LEVL": "info",
        "AUDIT_KEY": "s3cret-value",
        "PURPOSES": ["a,b"],
        "HOST": null,
        "SETTINGS_FILE": "other.jsonc",
        "TRUSTED_DOCUMENTS": "missing.json",
        "QUOTA_CLIENTS": []
      },
      "operators": [{ "name": "alpha" }]
    }`;

    const problems = problemsWith(text);
    expect(problems.filter((one) => !one.includes('operators[0]'))).toEqual([
      'SETTINGS_FILE (line 2): setings is not a known member. Did you mean settings?',
      'SETTINGS_FILE (line 6): settings.LOG_LEVL is not a known setting. Did you mean LOG_LEVEL?',
      'SETTINGS_FILE (line 7): settings.AUDIT_KEY is a secret, and none stands in this file: name the file that holds it, as AUDIT_KEY_FILE.',
      'SETTINGS_FILE (line 8): settings.PURPOSES must be a list of texts, in [ ], none of them with a comma.',
      'SETTINGS_FILE (line 9): settings.HOST must be a text.',
      'SETTINGS_FILE (line 10): settings.SETTINGS_FILE is a variable alone: it names this file.',
      'SETTINGS_FILE (line 12): settings.QUOTA_CLIENTS must be an object, in { }.',
      'SETTINGS_FILE (line 5): settings.ROLE must be one of bff, subgraph, not "router".',
      'SETTINGS_FILE (line 4): settings.PORT must be a whole number from 0 to 65535, not "70000".',
      'SETTINGS_FILE (line 11): settings.TRUSTED_DOCUMENTS names a file that cannot be read.',
    ]);
    expect(problems).toContain('SETTINGS_FILE (line 14): operators[0].prefixes is missing.');
    expect(problems.join()).not.toContain('s3cret-value');
  });

  test.each([
    ['{ "settings": { "PORT": 1, "PORT": 2 } }', '(line 1): settings.PORT stands twice.'],
    ['{ "settings": [] }', '(line 1): settings must be an object, in { }.'],
    ['[]', 'must be an object, in { }.'],
    ['', 'is not JSON: value expected in line 1.'],
    ['{ "settings": ', 'is not JSON: value expected in line 1.'],
    ['{ "PORT": 4100 }', '(line 1): PORT must stand in "settings".'],
    [' '.repeat(1_000_001), 'must have 1000000 characters at most.'],
    ['['.repeat(100_000), 'has too many brackets in each other.'],
  ])('%.40s', (text, problem) => {
    expect(problemsWith(text)).toEqual([`SETTINGS_FILE ${problem}`]);
  });

  test('that is not JSON is all that is said, in production too', () => {
    expect(problemsWith('{', { NODE_ENV: 'production' })).toHaveLength(1);
  });

  test('that cannot be read is said', () => {
    const missing = { SETTINGS_FILE: join(folder, 'missing.jsonc') };
    expect(() => readConfig(missing)).toThrow('SETTINGS_FILE names a file that cannot be read.');
    expect(() => readConfig({ SETTINGS_FILE: folder })).toThrow('cannot be read');
  });

  test('names operators in one place', () => {
    const operators = JSON.stringify({ operators: [ALPHA] });
    const operatorsFile = join(folder, 'operators.jsonc');
    writeFileSync(operatorsFile, operators);

    expect(problemsWith(operators, { OPERATORS_FILE: operatorsFile })).toEqual([
      'OPERATORS_FILE is set, and SETTINGS_FILE names operators too: name them in one of the two.',
    ]);
    expect(problemsWith(operators, { OPERATOR_FLOW: '2-legged' })).toEqual([
      'OPERATOR_FLOW is for one operator, and SETTINGS_FILE names operators: say it in that file.',
    ]);
  });
});

describe('an editor sees whether all is well with', () => {
  test.each([
    [
      'settings alone',
      { settings: { PORT: 4100, PURPOSES: ['one'], AUDIT_KEY_FILE: 'key' } },
      true,
    ],
    ['operators too', { settings: {}, operators: [ALPHA] }, true],
    ['a name that is misspelt', { settings: { PROT: 4100 } }, false],
    ['a port that is none', { settings: { PORT: 70_000 } }, false],
    ['a role that is none', { settings: { ROLE: 'router' } }, false],
    ['a secret in the file', { settings: { AUDIT_KEY: 'hunter2' } }, false],
    ['an operator without addresses', { operators: [{ name: 'alpha' }] }, false],
  ])('%s', (_, file, isWell) => {
    const schema = z.fromJSONSchema(settingsFileSchema() as Parameters<typeof z.fromJSONSchema>[0]);
    expect(schema.safeParse(file).success).toBe(isWell);
  });
});

describe('docs/settings.md', () => {
  const docs = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  const example = /```jsonc\n([^]*?)```/.exec(docs)?.[1] ?? '';
  const said = /^\$ SETTINGS_FILE=.*\n([^]*?)\n```/m.exec(docs)?.[1] ?? '';

  test('has an example that can be started, and says what is said about it before the secrets are there', () => {
    const bare = mkdtempSync(join(tmpdir(), 'settings-docs-'));
    const file = join(bare, 'settings.jsonc');
    writeFileSync(file, example);
    expect(said).not.toBe('');
    expect(() => readConfig({ SETTINGS_FILE: file })).toThrow(
      new ConfigError(said.split('\n  ').slice(1)),
    );

    writeFileSync(join(bare, 'audit.key'), AUDIT_KEY);
    writeFileSync(join(bare, 'northern.secret'), 'demo-secret\n');
    const { listen, operators } = readConfig({ SETTINGS_FILE: file });
    expect([listen.port, operators.map(({ name }) => name)]).toEqual([4100, ['northern']]);
    rmSync(bare, { recursive: true });
  });
});
