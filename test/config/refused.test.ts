import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { Environment } from '../../src/config/environment.ts';
import { ALL_SETTINGS } from '../../src/config/settings.ts';
import { createCertificate } from '../tls/certificate.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { JWT, keyFile, OPERATOR, problemsOf, REDIS_URL } from './problems.ts';

const SECRET = 'a-hidden-one-of-thirty-two-letters';
const files = new TemporaryFiles();
const FILE = files.write('file.pem', SECRET);
const SHORT_FILE = files.write('short', 'short');
const EMPTY = files.write('empty', '\n');
const REDIS_TLS_CA_FILE = files.write('ca.pem', createCertificate().cert);
const REDIS_TLS_CERT_FILE = REDIS_TLS_CA_FILE;
const REDIS_TLS_KEY_FILE = files.write('other.key', createCertificate().key);

const P_384 = keyFile(files, generateKeyPairSync('ec', { namedCurve: 'P-384' }));
const RSA_1024 = keyFile(files, generateKeyPairSync('rsa', { modulusLength: 1024 }));

const KEYED = { ...OPERATOR, OPERATOR_CLIENT_SECRET: '' };
const STATE_KEY = '07'.repeat(32);
const TLS = { REDIS_URL: 'rediss://127.0.0.1' };
const PROXY = { EGRESS_PROXY_URL: 'http://proxy' };
const KEY_FILE = 'OPERATOR_ASSERTION_KEY_FILE must be a private key for ES256';
const SECRET_FILE = 'OPERATOR_CLIENT_SECRET_FILE ';
const OTLP = 'OTEL_EXPORTER_OTLP_';

type Row = readonly [settings: Environment, ...problems: readonly string[]];

/** Each base is set together with the settings of its rows. Values that no form fits are in messages.txt. */
const ROWS: readonly (readonly [base: Environment, rows: readonly Row[]])[] = [
  [
    {},
    [
      [{ JWT_SECRET: 'x' }, 'JWT_SECRET is not a known setting'],
      [{ ...JWT, JWT_JWKS_URL: 'http://issuer.example/jwks' }, 'JWT_JWKS_URL must be an address'],
      [{ QUOTA_CLIENTS: '{"a": {"numbersPerHour": 1}}' }, 'QUOTA_CLIENTS is for callers with a'],
      [{ AUDIT_LOG: EMPTY }, 'AUDIT_KEY is missing: AUDIT_LOG needs it'],
      [{ AUDIT_KEY_FILE: '/nowhere' }, 'AUDIT_KEY_FILE names a file that cannot be read (ENOENT)'],
      [{ AUDIT_KEY_FILE: tmpdir() }, '_FILE names a file that cannot be read (NO_REGULAR_FILE)'],
      // What is wrong in the file is not reported of the variable.
      [{ AUDIT_KEY: SECRET, AUDIT_KEY_FILE: SHORT_FILE }, 'AUDIT_KEY_FILE is set as well as'],
      [{ AUDIT_KEY: `${SECRET},short` }, 'AUDIT_KEY must have at least 32 characters'],
      [{ AUDIT_KEY: SECRET, AUDIT_LOG: tmpdir() }, 'AUDIT_LOG names a file that cannot be written'],
      [{ AUDIT_KEY: SECRET, AUDIT_LOG: '/nowhere/audit' }, 'AUDIT_LOG names a file that cannot'],
      [{ ROUTER_SECRET: SECRET }, 'ROUTER_SECRET is for ROLE=subgraph'],
      [{ ALLOWED_ORIGINS: 'https://app.example/' }, 'ALLOWED_ORIGINS must be origins such as'],
      [{ ALLOWED_ORIGINS: 'http://app.example' }, 'http:// is for this machine only'],
      [{ EGRESS_PROXY_CREDENTIALS_FILE: FILE }, '_FILE is for the proxy of EGRESS_PROXY_URL'],
      [{ ...PROXY, EGRESS_NO_PROXY: 'a:443' }, 'EGRESS_NO_PROXY must be hosts'],
      [{ ...PROXY, EGRESS_NO_PROXY: '*.internal' }, 'EGRESS_NO_PROXY must be hosts'],
      [{ [`${OTLP}ENDPOINT`]: 'collector:4318' }, 'ENDPOINT must be an address that starts with'],
      [{ [`${OTLP}ENDPOINT`]: 'http://user:hidden@c' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
      [{ [`${OTLP}ENDPOINT`]: 'http://c?key=hidden' }, 'without user'],
      [{ [`${OTLP}PROTOCOL`]: 'grpc' }, 'one of http/protobuf, http/json, not "grpc"'],
      [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'one of otlp, none'],
      [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'parentbased_traceidratio'],
      [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'from 0 to 1'],
      [{ OTEL_TRACES_SAMPLER_ARG: '1e-2' }, 'from 0 to 1'],
      [{ [`${OTLP}HEADERS`]: 'hidden-and-no-name' }, 'name=value pairs'],
      [{ [`${OTLP}HEADERS`]: 'a=%' }, 'percent-encoded'],
      [{ [`${OTLP}HEADERS`]: 'a=b%0D%0Ac: d' }, 'cannot be sent'],
      [{ [`${OTLP}HEADERS`]: 'a b=c' }, 'cannot be sent'],
      [{ [`${OTLP}TIMEOUT`]: '0' }, 'from 1 to 300000'],
    ],
  ],
  [
    OPERATOR,
    [
      [{ OPERATOR_AUTH_URL: 'ftp://auth.example' }, '_AUTH_URL must be an address that starts'],
      [{ OPERATOR_AUTH_URL: 'https://a.example/?hidden' }, '_URL must be an address without user'],
      [{ OPERATOR_SIM_SWAP_URL: 'https://a.example/#a' }, '_URL must be an address without user'],
      [{ OPERATOR_AUTH_URL: '' }, 'OPERATOR_AUTH_URL is missing: an operator has two addresses'],
      [{ OPERATOR_SIM_SWAP_URL: '' }, '_SIM_SWAP_URL is missing: an operator has two addresses'],
      [{ OPERATOR_CLIENT_ID: '' }, 'OPERATOR_CLIENT_ID is missing'],
      [{ OPERATOR_CLIENT_SECRET: '' }, '_SECRET is missing: the profile vodafone authenticates by'],
      [{ OPERATOR_PROFILE: 'vodafon' }, 'Did you mean vodafone?'],
      [{ OPERATOR_PROFILE: 'aggregator-in' }, 'has options.realm: it is missing: the realm of Key'],
      [{ OPERATOR_CLIENT_SECRET_FILE: FILE }, `${SECRET_FILE}is set as well as`],
    ],
  ],
  [
    KEYED,
    [
      [{ OPERATOR_CLIENT_SECRET_FILE: '/nowhere/secret' }, `${SECRET_FILE}names a file that can`],
      [{ OPERATOR_CLIENT_SECRET_FILE: EMPTY }, `${SECRET_FILE}names a file that cannot`],
      [{ OPERATOR_ASSERTION_KEY_FILE: FILE }, KEY_FILE],
      [{ OPERATOR_ASSERTION_KEY_FILE: P_384 }, KEY_FILE],
      [{ OPERATOR_ASSERTION_KEY_FILE: RSA_1024 }, KEY_FILE],
    ],
  ],
  [
    { ROLE: 'subgraph' },
    [
      // It would require no proof.
      [{ ROUTER_SECRET: ',' }, 'ROUTER_SECRET is set but holds no secret'],
      [{ ROUTER_SECRET: `${SECRET},${SECRET}y,${SECRET}x` }, 'ROUTER_SECRET must hold two secrets'],
      [{ ROUTER_SECRET: 'short' }, 'ROUTER_SECRET must have at least 32 characters in each secret'],
      [{ ROUTER_SECRET: `${SECRET} ü` }, 'ROUTER_SECRET must have at least 32 characters'],
      [{ HOST: '::', ROUTER_SECRET: ',', ...JWT, AUDIT_KEY: SECRET }, 'is set but holds no secret'],
    ],
  ],
  [
    JWT,
    [
      ...['two scopes', 'a"quote', 'ümlaut', 'back\\slash'].map((scope): Row => [
        { BATCH_SCOPE: scope },
        'BATCH_SCOPE must be one scope',
      ]),
      ...['[]', '7'].map((value): Row => [
        { QUOTA_CLIENTS: value },
        'QUOTA_CLIENTS must be an object',
      ]),
      ...['7', 'null'].map((value): Row => [
        { QUOTA_CLIENTS: `{"a": ${value}}` },
        'QUOTA_CLIENTS a must be an object',
      ]),
      ...['"5"', '0', '1.5', '1e9'].map((quota): Row => [
        { QUOTA_CLIENTS: `{"a": {"numbersPerHour": ${quota}}}` },
        'QUOTA_CLIENTS a.numbersPerHour must be ',
      ]),
      [{ QUOTA_CLIENTS: '{"": {"numbersPerHour": 1}}' }, '[""] must be the id of a client'],
      [{ QUOTA_CLIENTS: '{"a": {}}' }, 'a sets no quota'],
      [{ QUOTA_CLIENTS: '{"a": {"numbersPerHour": 1, "numbersPerHour": 2}}' }, 'is set twice'],
      // This limit protects the owner of a number against all callers together.
      [
        { QUOTA_CLIENTS: '{"a": {"promptsPerHourAllCallers": 1}}' },
        'a.promptsPerHourAllCallers is not a known member',
      ],
    ],
  ],
  [
    { REDIS_URL },
    [
      [{}, 'could forge answers and consents. Set STATE_KEY or STATE_KEY_FILE.'],
      [{ STATE_KEY: 'c2hvcnQ=' }, 'STATE_KEY must be 32 bytes'],
      [{ STATE_KEY: 'hidden' }, 'STATE_KEY must be 32 bytes'],
    ],
  ],
  [
    { STATE_KEY },
    [
      [{ REDIS_URL: 'https://cache.example' }, 'REDIS_URL must be an address such as'],
      [{ REDIS_URL: 'valkey://127.0.0.1' }, 'REDIS_URL must be an address such as'],
      [{ REDIS_URL: 'redis://a:hidden' }, 'REDIS_URL must be an address'],
      [{ REDIS_URL: `${REDIS_URL}/hidden` }, 'REDIS_URL has a path that names no database'],
      [{ REDIS_URL: 'redis://u:hidden%zz@a' }, 'has a user or password that is not percent-enc'],
      [{ REDIS_URL: 'redis://a:1,b:2' }, 'has several servers: start it with redis+cluster://'],
      [{ REDIS_URL: 'redis://a:1,redis://b:2' }, 'REDIS_URL must be an address such as'],
      [
        { REDIS_URL: 'redis+cluster://a:7000/1' },
        'names a database, which a cluster does not have',
      ],
      [{ REDIS_URL: 'redis+sentinel://a:1' }, 'lacks the name under which the sentinels know'],
      [{ REDIS_URL: 'redis://a?sentinelPassword=hidden' }, 'REDIS_URL has a login of sentinels'],
      [{ REDIS_URL: 'redis://a?db=hidden' }, 'REDIS_URL has a query of other names than'],
      [{ REDIS_URL, REDIS_TLS_CA_FILE }, 'REDIS_URL must start with rediss where'],
      [{ ...TLS, REDIS_TLS_CERT_FILE }, 'REDIS_TLS_KEY_FILE is missing'],
      [{ ...TLS, REDIS_TLS_CERT_FILE, REDIS_TLS_KEY_FILE }, 'the certificate is of another key'],
      [{ ...TLS, REDIS_TLS_CA_FILE: FILE }, '_CA_FILE cannot be used: the CA file holds no cert'],
      [
        { REDIS_URL, REDIS_PASSWORD: 'hidden', REDIS_TLS_CA: 'hidden' },
        'REDIS_PASSWORD is not a known setting. User, password, sentinels',
        'REDIS_TLS_CA is not a known setting. User, password, sentinels',
      ],
    ],
  ],
];

describe('refused, and no secret is quoted', () => {
  const rows = ROWS.flatMap(([base, all]) =>
    all.map(([settings, ...problems]) => [settings, problems, { ...base, ...settings }] as const),
  );
  test.each(rows)('%j: %j', (_settings, problems, environment) => {
    const found = problemsOf(environment);
    expect(found).toEqual(problems.map((one) => expect.stringContaining(one) as string));
    expect(found.join()).not.toMatch(/hidden|s3cret|c2hvcnQ|short\b/);
  });

  const integers = Array.from(ALL_SETTINGS, ([name, { takes }]) => {
    const [, min, max] = /^(\d+) to (\d+)/.exec(takes) ?? [];
    return [name, Number(min), Number(max)] as const;
  }).filter(([, min]) => min >= 0);
  test.each(integers)('%s beyond its bounds', (name, min, max) => {
    for (const value of [min - 1, max + 1, '4e3', ' 40', '0x10', '1.5', 'soon']) {
      expect(problemsOf({ ...OPERATOR, [name]: String(value) })).toEqual([
        `${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(String(value))}.`,
      ]);
    }
  });
});
