import { DEFAULT_LIMITS } from './definition.ts';
import type { Setting } from './setting.ts';

/*
 * Every setting there is, in the order in which people read them. The reader of the environment, docs/settings.md,
 * .env.example and what is said about a typo are all made of this one table; `npm run generate` writes the files.
 * Rules between settings are code, beside the part that reads them.
 */

const PER_HOUR = { kind: 'integer', min: 1, max: 999_999_999 } as const;

export const SETTINGS = {
  HOST: {
    audience: 'try',
    kind: 'text',
    default: '127.0.0.1',
    description: 'The address to listen at.',
    detail:
      'Beyond loopback `JWT_JWKS_URL`, `JWT_ISSUER`, `JWT_AUDIENCE`, `AUDIT_KEY` and, for a subgraph, `ROUTER_SECRET` are required.',
  },
  PORT: {
    audience: 'try',
    kind: 'integer',
    min: 0,
    max: 65_535,
    default: 4000,
    description: 'The port to listen at; 0 is any port that is free.',
  },
  ROLE: {
    audience: 'try',
    kind: 'oneOf',
    values: ['bff', 'subgraph'],
    description: 'The root fields phoneNumber and phoneNumbers, or the entity for a router.',
  },
  NODE_ENV: {
    audience: 'try',
    kind: 'oneOf',
    values: ['development', 'test', 'production'],
    isLeftEmpty: true,
    description: '`production`: no built-in simulator and no introspection.',
    detail: '`production` requires them on loopback as well.',
  },
  SIMULATOR: {
    audience: 'try',
    kind: 'text',
    default: 'auto',
    description: '`auto`, `built-in`, or the address of a simulator that replaces an operator.',
    detail:
      '`auto` uses the built-in simulator where no operator is set, unless `NODE_ENV=production`. `built-in` uses it with `NODE_ENV=production` as well, and an address such as `http://simulator:4010` uses one that runs by itself (`npm run simulator -- --host 0.0.0.0`), which several replicas need. Every answer is invented then, and the log says so.',
  },
  DEV_TOKENS: {
    audience: 'try',
    kind: 'boolean',
    default: false,
    description:
      'Accepts the tokens of `npm run dev-token`, while every operator is the simulator.',
    detail:
      'Instead of `JWT_…`: a rehearsal needs no identity provider. Anyone can sign such a token, so with an operator the service does not start.',
  },

  OPERATORS_FILE: {
    audience: 'operator',
    kind: 'file',
    description: 'A file that names operators, each with all of its contract.',
    detail:
      'Its members are in [operators.md](operators.md). All of `OPERATOR_…` must be empty then.',
  },
  OPERATOR_PROFILE: {
    audience: 'operator',
    kind: 'text',
    default: 'vodafone',
    description:
      'How the operator is called: a profile of [operators.md](operators.md), or the path of your own.',
    detail:
      'One operator takes these eight names. Everything else, and several operators, are in `OPERATORS_FILE`.',
  },
  OPERATOR_AUTH_URL: {
    audience: 'operator',
    kind: 'url',
    whenUnset: 'the built-in simulator',
    description:
      "The root of the operator's authorization server; none where there is no token step.",
  },
  OPERATOR_SIM_SWAP_URL: {
    audience: 'operator',
    kind: 'url',
    whenUnset: 'the built-in simulator',
    description: 'The root of its SIM swap API.',
  },
  OPERATOR_FLOW: {
    audience: 'operator',
    kind: 'oneOf',
    values: ['2-legged', '3-legged'],
    description:
      "Whether the number's owner is prompted (3-legged), where the profile has both flows.",
  },
  OPERATOR_CLIENT_ID: {
    audience: 'operator',
    kind: 'text',
    description: 'Our client id at the operator.',
  },
  OPERATOR_CLIENT_SECRET: {
    audience: 'operator',
    kind: 'secret',
    description: 'The client secret, where the profile uses one.',
  },
  OPERATOR_ASSERTION_KEY_FILE: {
    audience: 'operator',
    kind: 'file',
    description:
      'The private key in PEM that signs our JWTs; with a secret as well, both are sent.',
  },
  OPERATOR_TIMEOUT_MS: {
    audience: 'operator',
    kind: 'integer',
    min: 10,
    max: 120_000,
    unit: 'ms',
    default: DEFAULT_LIMITS.timeoutMs,
    description: 'The time limit of one exchange with the operator.',
  },

  JWT_JWKS_URL: {
    audience: 'callers',
    kind: 'url',
    whenUnset: 'callers are anonymous',
    description: 'Where the issuer of access tokens publishes its keys.',
    detail: 'What a token may query: [security.md](security.md).',
  },
  JWT_ISSUER: {
    audience: 'callers',
    kind: 'text',
    description: 'The issuer whose access tokens are accepted.',
  },
  JWT_AUDIENCE: {
    audience: 'callers',
    kind: 'text',
    description: 'The audience of access tokens for this service.',
  },
  BATCH_SCOPE: {
    audience: 'callers',
    kind: 'text',
    whenUnset: 'no scope is required',
    description: 'The scope that an operation about several numbers requires: `sim-swap:batch`.',
  },
  ROUTER_SECRET: {
    audience: 'callers',
    kind: 'secret',
    whenUnset: 'no proof is required',
    description: 'What the router sends in `x-router-secret`; for `ROLE=subgraph`.',
    detail:
      'It has 32 characters at least. While one takes the place of another both are set, with a comma between.',
  },
  PURPOSES: {
    audience: 'callers',
    kind: 'list',
    default: ['fraud-prevention'],
    description:
      'The purposes that a caller may give, in the claim `purpose` or the header `x-purpose`.',
    detail: 'The first is the default.',
  },
  TRUSTED_DOCUMENTS: {
    audience: 'callers',
    kind: 'file',
    whenUnset: 'any document is served',
    description:
      'A manifest of the documents that are served, by id, and no others; for `ROLE=bff`.',
    detail: "A manifest of Apollo's, or of GraphQL Codegen's client preset.",
  },

  CONSENT_WAIT_MS: {
    audience: 'consent',
    kind: 'integer',
    min: 0,
    max: 300_000,
    unit: 'ms',
    default: 3000,
    description: "How long a request waits for the owner's consent.",
    detail: 'A request may set another time with `Prefer: wait=25`, up to `REQUEST_TIMEOUT_MS`.',
  },
  CONSENT_DOUBT_SECONDS: {
    audience: 'consent',
    kind: 'integer',
    min: 1,
    max: 86_400,
    unit: 's',
    default: 300,
    description: 'How long no owner is prompted again after a prompt whose outcome is unknown.',
  },
  CONSENT_DENIED_SECONDS: {
    audience: 'consent',
    kind: 'integer',
    min: 0,
    max: 86_400,
    unit: 's',
    default: 600,
    description: 'How long a denial is remembered.',
  },
  CONSENT_FAILURE_SECONDS: {
    audience: 'consent',
    kind: 'integer',
    min: 1,
    max: 3600,
    unit: 's',
    default: 60,
    description: 'How long the failure of a lookup after consent is returned, without a prompt.',
    detail: "The operator's `Retry-After` takes precedence.",
  },
  CONSENT_RESULT_SECONDS: {
    audience: 'consent',
    kind: 'integer',
    min: 10,
    max: 3600,
    unit: 's',
    default: 60,
    description: 'How long an answer that no request has received is kept for its caller.',
  },
  KEEP_FACTS_SECONDS: {
    audience: 'consent',
    kind: 'integer',
    min: 0,
    max: 300,
    unit: 's',
    whenUnset: '60 in the 3-legged flow, else 0',
    description: 'How long the same caller and purpose get an answer again, without a lookup.',
    detail: 'No `false` is older than that.',
  },
  QUOTA_PROMPTS_PER_HOUR: {
    audience: 'consent',
    ...PER_HOUR,
    default: 10,
    description: 'How often the owner of one number may be prompted in an hour, by one caller.',
  },
  QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: {
    audience: 'consent',
    ...PER_HOUR,
    default: 20,
    description: 'The same, by all callers together.',
  },

  REQUEST_TIMEOUT_MS: {
    audience: 'limits',
    kind: 'integer',
    min: 10,
    max: 300_000,
    unit: 'ms',
    default: 10_000,
    description: 'The time limit of one GraphQL request, and for its client to read the answer.',
  },
  DRAIN_GRACE_MS: {
    audience: 'limits',
    kind: 'integer',
    min: 0,
    max: 300_000,
    unit: 'ms',
    default: 0,
    description: 'How long to go on serving after SIGTERM, while `/readyz` answers 503.',
  },
  MAX_NUMBERS_PER_OPERATION: {
    audience: 'limits',
    kind: 'integer',
    min: 1,
    max: 10_000,
    default: 100,
    description: 'How many numbers one operation may query; more is LOOKUP_LIMIT_EXCEEDED.',
    detail:
      'So is an operation whose reply could be longer than 2 MB, or than 20 KB for each of that many numbers.',
  },
  MAX_NUMBERS_AT_WORK: {
    audience: 'limits',
    kind: 'integer',
    min: 100,
    max: 1_000_000,
    description:
      'How many numbers all requests together may look up at a time; more is UNAVAILABLE.',
    detail:
      'By default one for each 64 KiB of heap (`--max-old-space-size`), 5,000 at most. While others are refused no caller gets more than half. Numbers that wait for their owners are counted separately.',
  },
  MAX_QUESTIONS_PER_NUMBER: {
    audience: 'limits',
    kind: 'integer',
    min: 1,
    max: 1000,
    default: 10,
    description: 'How many questions about one number an operation may have.',
  },
  QUOTA_NUMBERS_PER_HOUR: {
    audience: 'limits',
    ...PER_HOUR,
    default: 10_000,
    description: 'How many numbers one caller may query in an hour; more is RATE_LIMITED.',
  },
  QUOTA_LOOKUPS_PER_HOUR: {
    audience: 'limits',
    ...PER_HOUR,
    default: 50_000,
    description: 'How many lookups one caller may cause in an hour, at each operator.',
  },
  QUOTA_CLIENTS: {
    audience: 'limits',
    kind: 'json',
    default: '{}',
    description: 'Quotas of clients by their ids, as a JSON object.',
    detail:
      'Such as `{"risk-desk":{"numbersPerHour":20000,"lookupsPerHour":100000}}`; `promptsPerHour` too.',
  },

  LOG_LEVEL: {
    audience: 'observe',
    kind: 'oneOf',
    values: ['info', 'debug', 'warn', 'error'],
    description: 'The lowest level that is logged; the audit log is always written.',
    detail:
      'With `info` each request has a line: its trusted document, codes, lookups and milliseconds, and its caller by a hash; with `debug` so has each exchange with an operator.',
  },
  METRICS_PORT: {
    audience: 'observe',
    kind: 'integer',
    min: 0,
    max: 65_535,
    whenUnset: 'nothing is counted',
    description: 'The port of `/metrics` for Prometheus, other than `PORT`.',
  },
  DOCS_URL: {
    audience: 'observe',
    kind: 'url',
    whenUnset: 'errors and alerts have no link',
    description:
      'Where your people read this folder: each error links to its code, each alert to what to do.',
    detail:
      'Such as `https://git.example/sim-swap/blob/main/docs`; 100 characters at most. Errors have it as `extensions.docs`, and rules and dashboard find it in `sim_swap_build_info`.',
  },
  TRACE_OPERATORS: {
    audience: 'observe',
    kind: 'boolean',
    default: false,
    description: 'Whether operators get the header `traceparent`.',
    detail:
      'Operators always get our correlator. Send them traces only to look into a problem together.',
  },
  AUDIT_KEY: {
    audience: 'observe',
    kind: 'secret',
    whenUnset: 'nothing is audited',
    description: 'The key under which the audit log hashes numbers.',
    detail: 'At least 32 characters; earlier keys follow, separated by commas.',
  },
  AUDIT_LOG: {
    audience: 'observe',
    kind: 'file',
    whenUnset: 'standard output',
    description: 'The file that the audit log is appended to.',
  },

  REDIS_URL: {
    audience: 'share',
    kind: 'secret',
    whenUnset: 'each process has its own consents',
    description: 'A Redis that all replicas share: `redis://user:password@host:6379/0`.',
    detail:
      'Consents outlive a restart there, and every replica sees them. `rediss://` is with TLS; `redis+cluster://a:7000,b:7000` names some servers of a cluster, and `redis+sentinel://a:26379,b:26379/mymaster/0` all sentinels, whose own login is `?sentinelUsername=…&sentinelPassword=…`; `?serverName=…` is the name that certificates bear. See [reliability.md](reliability.md#redis).',
  },
  REDIS_TLS_CA_FILE: {
    audience: 'share',
    kind: 'file',
    whenUnset: 'the well-known authorities',
    description: 'The certificates, in PEM, of the authorities of `rediss://` servers.',
  },
  REDIS_TLS_CERT_FILE: {
    audience: 'share',
    kind: 'file',
    description: 'Our client certificate in PEM, where the servers require one.',
  },
  REDIS_TLS_KEY_FILE: {
    audience: 'share',
    kind: 'file',
    description: 'The private key of that certificate, in PEM.',
  },
  STATE_KEY: {
    audience: 'share',
    kind: 'secret',
    description: 'The key that encrypts what is in Redis: 32 bytes, in base64 or hex.',
    detail:
      'It is the same for all replicas; `openssl rand -base64 32` makes one. While one takes the place of another both are set, with a comma between: the first seals, both open.',
  },

  EGRESS_PROXY_URL: {
    audience: 'egress',
    kind: 'text',
    whenUnset: 'no proxy',
    description: 'The egress proxy (HTTP CONNECT): `http://` or `https://`, host and port.',
    detail:
      'Operators have their own ([operators.md](operators.md#client-certificates-authorities-and-proxies)). No proxy of the environment (`HTTPS_PROXY`) is used, and none for an address with `http://`.',
  },
  EGRESS_PROXY_CREDENTIALS_FILE: {
    audience: 'egress',
    kind: 'file',
    description: 'A file with `user:password`, sent to that proxy only.',
  },
  EGRESS_NO_PROXY: {
    audience: 'egress',
    kind: 'list',
    default: [],
    description: 'Hosts that are called without it; `.internal` is all hosts of that domain.',
  },
  EGRESS_CA_FILE: {
    audience: 'egress',
    kind: 'file',
    whenUnset: 'those that Node trusts',
    description: 'The authorities that may sign these certificates, in PEM, and no others.',
    detail:
      'They apply to all four, and to a proxy with `https://`: an authority for the number directory can also sign for the issuer.',
  },

  ALLOWED_ORIGINS: {
    audience: 'web',
    kind: 'list',
    default: [],
    description: 'Origins whose pages may call this service from a browser: `https://app.example`.',
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Settings = typeof SETTINGS;

export type SettingName = keyof Settings;

/** The names of the settings of some kinds. */
export type NamesOf<Kind extends Setting['kind']> = {
  [Name in SettingName]: Settings[Name]['kind'] extends Kind ? Name : never;
}[SettingName];

/** What a setting yields: `T`, and `undefined` only where it has no default. */
export type Yields<Name extends SettingName, T> = Settings[Name] extends {
  readonly default: unknown;
}
  ? T
  : T | undefined;

/** The values of a setting that is one of several. */
export type ValuesOf<Name extends NamesOf<'oneOf'>> = Settings[Name]['values'][number];

/** A variable that the program reads: the setting itself, or NAME_FILE for a secret. */
export type VariableName = SettingName | `${NamesOf<'secret'>}_FILE`;

/** The table for those that go through all of it. */
export const ALL_SETTINGS: ReadonlyMap<string, Setting> = new Map(Object.entries(SETTINGS));

/** The variables by which a setting may come: its own name, and NAME_FILE for a secret. Pure. */
export function variablesOf(name: string, { kind }: Setting): readonly string[] {
  return kind === 'secret' ? [name, `${name}_FILE`] : [name];
}

/** The name of every variable that the program reads. */
export const VARIABLE_NAMES: ReadonlySet<VariableName> = new Set(
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets the names
  [...ALL_SETTINGS].flatMap(([name, setting]) => variablesOf(name, setting)) as VariableName[],
);
