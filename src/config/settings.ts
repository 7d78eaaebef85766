import { DEFAULT_LIMITS } from './definition.ts';

interface Common {
  /** What it sets, in one sentence that a cell of a table holds: {@link MAX_DESCRIPTION_CHARACTERS}. */
  readonly description: string;
  /** What else there is to know, in Markdown: it stands below the table. */
  readonly detail?: string;
  /** What holds where it is not set, in words, and no value of this setting says the same. */
  readonly whenUnset?: string;
}

interface IntegerBounds {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
  readonly unit: 'ms' | 's' | '';
}

/** A setting that has a value where none is set has a `default`; of the values of a `oneOf` it is the first. */
export type Setting = Common &
  (
    | (IntegerBounds & { readonly default?: number })
    | { readonly kind: 'boolean'; readonly default: boolean }
    | {
        readonly kind: 'oneOf';
        readonly values: readonly [string, ...string[]];
        /** Where it says something to set even the default, .env.example leaves it empty. */
        readonly isLeftEmpty?: true;
      }
    /** Texts, with commas between in a variable. */
    | { readonly kind: 'list'; readonly default: readonly string[] }
    | { readonly kind: 'text'; readonly default?: string }
    /** An https address; on loopback it may be http. A file is the path of one. */
    | { readonly kind: 'url' | 'file' }
    /** An object in JSON. */
    | { readonly kind: 'json'; readonly default: string }
    /** Comes as NAME, or as NAME_FILE with the path of the file that holds it; no message quotes it. */
    | { readonly kind: 'secret'; readonly default?: string }
  );

/** What a cell of a table holds without a line's end on a screen. */
export const MAX_DESCRIPTION_CHARACTERS = 100;

/** A whole number. */
function integer(min: number, max: number, unit: IntegerBounds['unit'] = ''): IntegerBounds {
  return { kind: 'integer', min, max, unit };
}

const PER_HOUR = integer(1, 999_999_999);

/*
 * Every setting there is, in the order in which people read them. The reader of the environment, docs/settings.md,
 * .env.example and what is said about a typo are all made of this one table; `npm run generate` writes the files.
 * Rules between settings are code, beside the part that reads them.
 */

/** By whom a setting is for: the sections of docs/settings.md and of .env.example. */
export const SECTIONS = {
  try: {
    HOST: {
      kind: 'text',
      default: '127.0.0.1',
      description: 'The address to listen at.',
      detail:
        'Beyond loopback `JWT_JWKS_URL`, `JWT_ISSUER`, `JWT_AUDIENCE`, `AUDIT_KEY` and, for a subgraph, `ROUTER_SECRET` are required.',
    },
    PORT: {
      ...integer(0, 65_535),
      default: 4000,
      description: 'The port to listen at; 0 is any port that is free.',
    },
    ROLE: {
      kind: 'oneOf',
      values: ['bff', 'subgraph'],
      description: 'The root fields phoneNumber and phoneNumbers, or the entity for a router.',
    },
    NODE_ENV: {
      kind: 'oneOf',
      values: ['development', 'test', 'production'],
      isLeftEmpty: true,
      description: '`production`: no built-in simulator and no introspection.',
      detail: '`production` requires them on loopback as well.',
    },
    SIMULATOR: {
      kind: 'text',
      default: 'auto',
      description: '`auto`, `built-in`, or the address of a simulator that replaces an operator.',
      detail:
        '`auto` uses the built-in simulator where no operator is set, unless `NODE_ENV=production`. `built-in` uses it with `NODE_ENV=production` as well, and an address such as `http://simulator:4010` uses one that runs by itself (`npm run simulator -- --host 0.0.0.0`), which several replicas need. Every answer is invented then, and the log says so.',
    },
    DEV_TOKENS: {
      kind: 'boolean',
      default: false,
      description:
        'Accepts the tokens of `npm run dev-token`, while every operator is the simulator.',
      detail:
        'Instead of `JWT_…`: a rehearsal needs no identity provider. Anyone can sign such a token, so with an operator the service does not start.',
    },
  },
  operator: {
    OPERATORS_FILE: {
      kind: 'file',
      description: 'A file that names operators, each with all of its contract.',
      detail:
        'Its members are in [operators.md](operators.md). All of `OPERATOR_…` must be empty then.',
    },
    OPERATOR_PROFILE: {
      kind: 'text',
      default: 'vodafone',
      description:
        'How the operator is called: a profile of [operators.md](operators.md), or the path of your own.',
      detail:
        'One operator takes these eight names. Everything else, and several operators, are in `OPERATORS_FILE`.',
    },
    OPERATOR_AUTH_URL: {
      kind: 'url',
      whenUnset: 'the built-in simulator',
      description:
        "The root of the operator's authorization server; none where there is no token step.",
    },
    OPERATOR_SIM_SWAP_URL: {
      kind: 'url',
      whenUnset: 'the built-in simulator',
      description: 'The root of its SIM swap API.',
    },
    OPERATOR_FLOW: {
      kind: 'oneOf',
      values: ['2-legged', '3-legged'],
      description:
        "Whether the number's owner is prompted (3-legged), where the profile has both flows.",
    },
    OPERATOR_CLIENT_ID: {
      kind: 'text',
      description: 'Our client id at the operator.',
    },
    OPERATOR_CLIENT_SECRET: {
      kind: 'secret',
      description: 'The client secret, where the profile uses one.',
    },
    OPERATOR_ASSERTION_KEY_FILE: {
      kind: 'file',
      description:
        'The private key in PEM that signs our JWTs; with a secret as well, both are sent.',
    },
    OPERATOR_TIMEOUT_MS: {
      ...integer(10, 120_000, 'ms'),
      default: DEFAULT_LIMITS.timeoutMs,
      description: 'The time limit of one exchange with the operator.',
    },
  },
  callers: {
    JWT_JWKS_URL: {
      kind: 'url',
      whenUnset: 'callers are anonymous',
      description: 'Where the issuer of access tokens publishes its keys.',
      detail: 'What a token may query: [security.md](security.md).',
    },
    JWT_ISSUER: {
      kind: 'text',
      description: 'The issuer whose access tokens are accepted.',
    },
    JWT_AUDIENCE: {
      kind: 'text',
      description: 'The audience of access tokens for this service.',
    },
    BATCH_SCOPE: {
      kind: 'text',
      whenUnset: 'no scope is required',
      description: 'The scope that an operation about several numbers requires: `sim-swap:batch`.',
    },
    ROUTER_SECRET: {
      kind: 'secret',
      whenUnset: 'no proof is required',
      description: 'What the router sends in `x-router-secret`; for `ROLE=subgraph`.',
      detail:
        'It has 32 characters at least. While one takes the place of another both are set, with a comma between.',
    },
    PURPOSES: {
      kind: 'list',
      default: ['fraud-prevention'],
      description:
        'The purposes that a caller may give, in the claim `purpose` or the header `x-purpose`.',
      detail: 'The first is the default.',
    },
    TRUSTED_DOCUMENTS: {
      kind: 'file',
      whenUnset: 'any document is served',
      description:
        'A manifest of the documents that are served, by id, and no others; for `ROLE=bff`.',
      detail: "A manifest of Apollo's, or of GraphQL Codegen's client preset.",
    },
  },
  consent: {
    CONSENT_WAIT_MS: {
      ...integer(0, 300_000, 'ms'),
      default: 3000,
      description: "How long a request waits for the owner's consent.",
      detail: 'A request may set another time with `Prefer: wait=25`, up to `REQUEST_TIMEOUT_MS`.',
    },
    CONSENT_DOUBT_SECONDS: {
      ...integer(1, 86_400, 's'),
      default: 300,
      description: 'How long no owner is prompted again after a prompt whose outcome is unknown.',
    },
    CONSENT_DENIED_SECONDS: {
      ...integer(0, 86_400, 's'),
      default: 600,
      description: 'How long a denial is remembered.',
    },
    CONSENT_FAILURE_SECONDS: {
      ...integer(1, 3600, 's'),
      default: 60,
      description: 'How long the failure of a lookup after consent is returned, without a prompt.',
      detail: "The operator's `Retry-After` takes precedence.",
    },
    CONSENT_RESULT_SECONDS: {
      ...integer(10, 3600, 's'),
      default: 60,
      description: 'How long an answer that no request has received is kept for its caller.',
    },
    KEEP_FACTS_SECONDS: {
      ...integer(0, 300, 's'),
      whenUnset: '60 in the 3-legged flow, else 0',
      description: 'How long the same caller and purpose get an answer again, without a lookup.',
      detail: 'No `false` is older than that.',
    },
    QUOTA_PROMPTS_PER_HOUR: {
      ...PER_HOUR,
      default: 10,
      description: 'How often the owner of one number may be prompted in an hour, by one caller.',
    },
    QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: {
      ...PER_HOUR,
      default: 20,
      description: 'The same, by all callers together.',
    },
  },
  limits: {
    REQUEST_TIMEOUT_MS: {
      ...integer(10, 300_000, 'ms'),
      default: 10_000,
      description: 'The time limit of one GraphQL request, and for its client to read the answer.',
    },
    DRAIN_GRACE_MS: {
      ...integer(0, 300_000, 'ms'),
      default: 0,
      description: 'How long to go on serving after SIGTERM, while `/readyz` answers 503.',
    },
    MAX_NUMBERS_PER_OPERATION: {
      ...integer(1, 10_000),
      default: 100,
      description: 'How many numbers one operation may query; more is LOOKUP_LIMIT_EXCEEDED.',
      detail:
        'So is an operation whose reply could be longer than 2 MB, or than 20 KB for each of that many numbers.',
    },
    MAX_NUMBERS_AT_WORK: {
      ...integer(100, 1_000_000),
      description:
        'How many numbers all requests together may look up at a time; more is UNAVAILABLE.',
      detail:
        'By default one for each 64 KiB of heap (`--max-old-space-size`), 5,000 at most. While others are refused no caller gets more than half. Numbers that wait for their owners are counted separately.',
    },
    MAX_QUESTIONS_PER_NUMBER: {
      ...integer(1, 1000),
      default: 10,
      description: 'How many questions about one number an operation may have.',
    },
    QUOTA_NUMBERS_PER_HOUR: {
      ...PER_HOUR,
      default: 10_000,
      description: 'How many numbers one caller may query in an hour; more is RATE_LIMITED.',
    },
    QUOTA_LOOKUPS_PER_HOUR: {
      ...PER_HOUR,
      default: 50_000,
      description: 'How many lookups one caller may cause in an hour, at each operator.',
    },
    QUOTA_CLIENTS: {
      kind: 'json',
      default: '{}',
      description: 'Quotas of clients by their ids, as a JSON object.',
      detail:
        'Such as `{"risk-desk":{"numbersPerHour":20000,"lookupsPerHour":100000}}`; `promptsPerHour` too.',
    },
  },
  observe: {
    LOG_LEVEL: {
      kind: 'oneOf',
      values: ['info', 'debug', 'warn', 'error'],
      description: 'The lowest level that is logged; the audit log is always written.',
      detail:
        'With `info` each request has a line: its trusted document, codes, lookups and milliseconds, and its caller by a hash; with `debug` so has each exchange with an operator.',
    },
    METRICS_PORT: {
      ...integer(0, 65_535),
      whenUnset: 'nothing is counted',
      description: 'The port of `/metrics` for Prometheus, other than `PORT`.',
    },
    DOCS_URL: {
      kind: 'url',
      whenUnset: 'errors and alerts have no link',
      description:
        'Where your people read this folder: each error links to its code, each alert to what to do.',
      detail:
        'Such as `https://git.example/sim-swap/blob/main/docs`; 100 characters at most. Errors have it as `extensions.docs`, and rules and dashboard find it in `sim_swap_build_info`.',
    },
    TRACE_OPERATORS: {
      kind: 'boolean',
      default: false,
      description: 'Whether operators get the header `traceparent`.',
      detail:
        'Operators always get our correlator. Send them traces only to look into a problem together.',
    },
    AUDIT_KEY: {
      kind: 'secret',
      whenUnset: 'nothing is audited',
      description: 'The key under which the audit log hashes numbers.',
      detail: 'At least 32 characters; earlier keys follow, separated by commas.',
    },
    AUDIT_LOG: {
      kind: 'file',
      whenUnset: 'standard output',
      description: 'The file that the audit log is appended to.',
    },
  },
  share: {
    REDIS_URL: {
      kind: 'secret',
      whenUnset: 'each process has its own consents',
      description: 'A Redis that all replicas share: `redis://user:password@host:6379/0`.',
      detail:
        'Consents outlive a restart there, and every replica sees them. `rediss://` is with TLS; `redis+cluster://a:7000,b:7000` names some servers of a cluster, and `redis+sentinel://a:26379,b:26379/mymaster/0` all sentinels, whose own login is `?sentinelUsername=…&sentinelPassword=…`; `?serverName=…` is the name that certificates bear. See [reliability.md](reliability.md#redis).',
    },
    REDIS_TLS_CA_FILE: {
      kind: 'file',
      whenUnset: 'the well-known authorities',
      description: 'The certificates, in PEM, of the authorities of `rediss://` servers.',
    },
    REDIS_TLS_CERT_FILE: {
      kind: 'file',
      description: 'Our client certificate in PEM, where the servers require one.',
    },
    REDIS_TLS_KEY_FILE: {
      kind: 'file',
      description: 'The private key of that certificate, in PEM.',
    },
    STATE_KEY: {
      kind: 'secret',
      description: 'The key that encrypts what is in Redis: 32 bytes, in base64 or hex.',
      detail:
        'It is the same for all replicas; `openssl rand -base64 32` makes one. While one takes the place of another both are set, with a comma between: the first seals, both open.',
    },
  },
  egress: {
    EGRESS_PROXY_URL: {
      kind: 'text',
      whenUnset: 'no proxy',
      description: 'The egress proxy (HTTP CONNECT): `http://` or `https://`, host and port.',
      detail:
        'Operators have their own ([operators.md](operators.md#client-certificates-authorities-and-proxies)). No proxy of the environment (`HTTPS_PROXY`) is used, and none for an address with `http://`.',
    },
    EGRESS_PROXY_CREDENTIALS_FILE: {
      kind: 'file',
      description: 'A file with `user:password`, sent to that proxy only.',
    },
    EGRESS_NO_PROXY: {
      kind: 'list',
      default: [],
      description: 'Hosts that are called without it; `.internal` is all hosts of that domain.',
    },
    EGRESS_CA_FILE: {
      kind: 'file',
      whenUnset: 'those that Node trusts',
      description: 'The authorities that may sign these certificates, in PEM, and no others.',
      detail:
        'They apply to all four, and to a proxy with `https://`: an authority for the number directory can also sign for the issuer.',
    },
  },
  web: {
    ALLOWED_ORIGINS: {
      kind: 'list',
      default: [],
      description:
        'Origins whose pages may call this service from a browser: `https://app.example`.',
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Setting>>>>;

export const SETTINGS = {
  ...SECTIONS.try,
  ...SECTIONS.operator,
  ...SECTIONS.callers,
  ...SECTIONS.consent,
  ...SECTIONS.limits,
  ...SECTIONS.observe,
  ...SECTIONS.share,
  ...SECTIONS.egress,
  ...SECTIONS.web,
};

export type Audience = keyof typeof SECTIONS;

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

/** What holds where nothing is set, as a variable has it; `undefined` where no value does. Pure. */
export function defaultOf(setting: Setting): string | undefined {
  if (setting.kind === 'oneOf') return setting.values[0];
  return 'default' in setting ? setting.default?.toString() : undefined;
}

/** The variables by which a setting may come: its own name, and NAME_FILE for a secret. Pure. */
export function variablesOf(name: string, { kind }: Setting): readonly string[] {
  return kind === 'secret' ? [name, `${name}_FILE`] : [name];
}

/** The name of every variable that the program reads. */
export const VARIABLE_NAMES: ReadonlySet<VariableName> = new Set(
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets the names
  [...ALL_SETTINGS].flatMap(([name, setting]) => variablesOf(name, setting)) as VariableName[],
);
