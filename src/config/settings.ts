import { DEFAULT_LIMITS } from './definition.ts';

interface Common {
  /** What it sets, in one sentence of at most 100 characters, which a cell of a table holds. */
  readonly description: string;
  /** What else there is to know, in Markdown: it is below the table. */
  readonly detail: string;
  /** What holds where it is not set, in words, and no value of this setting says the same. */
  readonly whenUnset?: string;
  /** What each text is, and the end of a sentence about one that is not. */
  readonly fits?: RegExp;
  readonly must?: string;
}

interface IntegerKind {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
  readonly unit: 'ms' | 's' | '';
  readonly default?: number;
}

interface TextKind {
  /**
   * A url is an https address; on loopback it may be http. A file is the path of one, and json an object. A secret comes
   * as NAME, or as NAME_FILE with the path of the file that holds it; no message quotes it.
   */
  readonly kind: 'text' | 'url' | 'file' | 'json' | 'secret';
  readonly default?: string;
}

/** A setting that has a value where none is set has a `default`; of the values of a `oneOf` it is the first. */
export type Setting = Common &
  (
    | IntegerKind
    | TextKind
    | { readonly kind: 'boolean'; readonly default: boolean }
    | {
        readonly kind: 'oneOf';
        readonly values: readonly [string, ...string[]];
        /** Where it says something to set even the default, .env.example leaves it empty. */
        readonly isLeftEmpty?: true;
      }
    /** Texts, with commas between in a variable. */
    | { readonly kind: 'list'; readonly default: readonly string[] }
  );

type Fit = Pick<Common, 'fits' | 'must'>;
type Further<Default> = Omit<Common, 'description' | 'detail'> & { readonly default?: Default };

function settingOf<const Kind extends object, Given extends object>(kind: Kind, given?: Given) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is not given adds nothing
  const setting = { ...kind, ...given } as Kind & Given;
  return { sets: (description: string, detail = '') => ({ ...setting, description, detail }) };
}

function textOf<const Kind extends TextKind['kind']>(kind: Kind) {
  return <const Given extends Further<string>>(given?: Given) => settingOf({ kind }, given);
}

function integerIn<const Unit extends IntegerKind['unit']>(unit: Unit) {
  return <const Given extends Further<number>>(min: number, max: number, given?: Given) =>
    settingOf({ kind: 'integer', min, max, unit }, given);
}

const text = textOf('text');
const url = textOf('url');
const file = textOf('file');
const json = textOf('json');
const secret = textOf('secret');
const integer = integerIn('');
const milliseconds = integerIn('ms');
const seconds = integerIn('s');
const perHour = (quota: number) => integer(1, 999_999_999, { default: quota });
const boolean = () => settingOf({ kind: 'boolean', default: false });
const list = <const Given extends Fit>(values: readonly string[], given?: Given) =>
  settingOf({ kind: 'list', default: values }, given);
const oneOf = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  given?: { readonly isLeftEmpty: true },
) => settingOf({ kind: 'oneOf', values }, given);

/*
 * Every setting there is, in the order in which people read them. The reader of the environment, docs/settings.md,
 * .env.example and what is said about a typo are all made of this one table; `npm run generate` writes the files.
 * Rules between settings are code, beside the part that reads them.
 */

/** By whom a setting is for: the sections of docs/settings.md and of .env.example. */
export const SECTIONS = {
  try: {
    HOST: text({ default: '127.0.0.1' }).sets(
      'The address to listen at.',
      'Beyond loopback `JWT_JWKS_URL`, `JWT_ISSUER`, `JWT_AUDIENCE`, `AUDIT_KEY` and, for a subgraph, `ROUTER_SECRET` are required.',
    ),
    PORT: integer(0, 65_535, { default: 4000 }).sets(
      'The port to listen at; 0 is any port that is free.',
    ),
    ROLE: oneOf(['bff', 'subgraph']).sets(
      'The root fields phoneNumber and phoneNumbers, or the entity for a router.',
    ),
    NODE_ENV: oneOf(['development', 'test', 'production'], { isLeftEmpty: true }).sets(
      '`production`: no built-in simulator and no introspection.',
      '`production` requires them on loopback as well.',
    ),
    SIMULATOR: text({ default: 'auto' }).sets(
      '`auto`, `built-in`, or the address of a simulator that replaces an operator.',
      '`auto` uses the built-in simulator where no operator is set, unless `NODE_ENV=production`. `built-in` uses it with `NODE_ENV=production` as well, and an address such as `http://simulator:4010` uses one that runs by itself (`npm run simulator -- --host 0.0.0.0`), which several replicas need. Every answer is invented then, and the log says so.',
    ),
    DEV_TOKENS: boolean().sets(
      'Accepts the tokens of `npm run dev-token`, while every operator is the simulator.',
      'Instead of `JWT_…`: a rehearsal needs no identity provider. Anyone can sign such a token, so with an operator the service does not start.',
    ),
  },
  operator: {
    OPERATORS_FILE: file().sets(
      'A file that names operators, each with all of its contract.',
      'Its members are in [operators.md](operators.md). All of `OPERATOR_…` must be empty then.',
    ),
    OPERATOR_PROFILE: text({ default: 'vodafone' }).sets(
      'How the operator is called: a profile of [operators.md](operators.md), or the path of your own.',
      'One operator takes these eight names. Everything else, and several operators, are in `OPERATORS_FILE`.',
    ),
    OPERATOR_AUTH_URL: url({ whenUnset: 'the built-in simulator' }).sets(
      "The root of the operator's authorization server; none where there is no token step.",
    ),
    OPERATOR_SIM_SWAP_URL: url({ whenUnset: 'the built-in simulator' }).sets(
      'The root of its SIM swap API.',
    ),
    OPERATOR_FLOW: oneOf(['2-legged', '3-legged']).sets(
      "Whether the number's owner is prompted (3-legged), where the profile has both flows.",
    ),
    OPERATOR_CLIENT_ID: text().sets('Our client id at the operator.'),
    OPERATOR_CLIENT_SECRET: secret().sets('The client secret, where the profile uses one.'),
    OPERATOR_ASSERTION_KEY_FILE: file().sets(
      'The private key in PEM that signs our JWTs; with a secret as well, both are sent.',
    ),
    OPERATOR_TIMEOUT_MS: milliseconds(10, 120_000, { default: DEFAULT_LIMITS.timeoutMs }).sets(
      'The time limit of one exchange with the operator.',
    ),
  },
  callers: {
    JWT_JWKS_URL: url({ whenUnset: 'callers are anonymous' }).sets(
      'Where the issuer of access tokens publishes its keys.',
      'What a token may query: [security.md](security.md).',
    ),
    JWT_ISSUER: text().sets('The issuer whose access tokens are accepted.'),
    JWT_AUDIENCE: text().sets('The audience of access tokens for this service.'),
    // RFC 6749 §3.3.
    BATCH_SCOPE: text({
      whenUnset: 'no scope is required',
      fits: /^[\x21\x23-\x5b\x5d-\x7e]+$/,
      must: 'must be one scope, as an access token names it',
    }).sets('The scope that an operation about several numbers requires: `sim-swap:batch`.'),
    ROUTER_SECRET: secret({ whenUnset: 'no proof is required' }).sets(
      'What the router sends in `x-router-secret`; for `ROLE=subgraph`.',
      'It has 32 characters at least. While one takes the place of another both are set, with a comma between.',
    ),
    PURPOSES: list(['fraud-prevention=dpv:FraudPreventionAndDetection'], {
      fits: /^[A-Za-z][A-Za-z0-9:_-]{0,63}(?:=dpv:[A-Za-z][A-Za-z0-9]{0,63})?$/,
      must: 'must be names of letters, digits, colons and hyphens, each by itself or with `=dpv:` and a purpose of the Data Privacy Vocabulary, with commas between',
    }).sets(
      'The purposes that a caller may give, in the claim `purpose` or the header `x-purpose`.',
      'The first is the default. `NAME=dpv:PURPOSE` maps a name to what operators get whose scopes name a purpose (docs/operators.md): owners consent to that. Names that are mapped to one purpose share consents and answers. A name by itself is for operators without purposes; the others refuse it.',
    ),
    TRUSTED_DOCUMENTS: file({ whenUnset: 'any document is served' }).sets(
      'A manifest of the documents that are served, by id, and no others; for `ROLE=bff`.',
      "A manifest of Apollo's, or of GraphQL Codegen's client preset.",
    ),
  },
  consent: {
    CONSENT_WAIT_MS: milliseconds(0, 300_000, { default: 3000 }).sets(
      "How long a request waits for the owner's consent.",
      'A request may set another time with `Prefer: wait=25`, up to `REQUEST_TIMEOUT_MS`.',
    ),
    CONSENT_DOUBT_SECONDS: seconds(1, 86_400, { default: 300 }).sets(
      'How long no owner is prompted again after a prompt whose outcome is unknown.',
    ),
    CONSENT_DENIED_SECONDS: seconds(0, 86_400, { default: 600 }).sets(
      'How long a denial is remembered.',
    ),
    CONSENT_FAILURE_SECONDS: seconds(1, 3600, { default: 60 }).sets(
      'How long the failure of a lookup after consent is returned, without a prompt.',
      "A longer `Retry-After` of the operator's takes precedence. It doubles with each prompt in a row without an answer.",
    ),
    CONSENT_RESULT_SECONDS: seconds(10, 3600, { default: 60 }).sets(
      'How long an answer that no request has received is kept for its caller.',
    ),
    KEEP_FACTS_SECONDS: seconds(0, 300, { whenUnset: '60 in the 3-legged flow, else 0' }).sets(
      'How long the same caller and purpose get an answer again, without a lookup.',
      'No `false` is older than that.',
    ),
    QUOTA_PROMPTS_PER_HOUR: perHour(10).sets(
      'How often the owner of one number may be prompted in an hour, by one caller.',
    ),
    QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: perHour(20).sets('The same, by all callers together.'),
  },
  limits: {
    REQUEST_TIMEOUT_MS: milliseconds(10, 300_000, { default: 10_000 }).sets(
      'The time limit of one GraphQL request, and for its client to read the answer.',
    ),
    DRAIN_GRACE_MS: milliseconds(0, 300_000, { default: 0 }).sets(
      'How long to go on serving after SIGTERM, while `/readyz` answers 503.',
    ),
    MAX_NUMBERS_PER_OPERATION: integer(1, 10_000, { default: 100 }).sets(
      'How many numbers one operation may query; more is LOOKUP_LIMIT_EXCEEDED.',
      'So is an operation whose reply could be longer than 2 MB, or than 20 KB for each of that many numbers.',
    ),
    MAX_NUMBERS_AT_WORK: integer(100, 1_000_000).sets(
      'How many numbers the process looks up at the same time, for all requests; beyond that a number is UNAVAILABLE.',
      'The default is the heap divided by 64 KiB, 5,000 at most; the heap is `--max-old-space-size`, or what the container leaves. While others are refused, one caller gets at most half. A number that waits for its owner does not count.',
    ),
    MAX_QUESTIONS_PER_NUMBER: integer(1, 1000, { default: 10 }).sets(
      'How many questions about one number an operation may have.',
    ),
    QUOTA_NUMBERS_PER_HOUR: perHour(10_000).sets(
      'How many numbers one caller may query in an hour; more is RATE_LIMITED.',
    ),
    QUOTA_LOOKUPS_PER_HOUR: perHour(50_000).sets(
      'How many lookups one caller may cause in an hour, at each operator.',
    ),
    QUOTA_CLIENTS: json({ default: '{}' }).sets(
      'Quotas of clients by their ids, as a JSON object.',
      'Such as `{"risk-desk":{"numbersPerHour":20000,"lookupsPerHour":100000}}`; `promptsPerHour` too.',
    ),
  },
  observe: {
    LOG_LEVEL: oneOf(['info', 'debug', 'warn', 'error']).sets(
      'The lowest level that is logged; the audit log is always written.',
      'With `info` each request has a line: its trusted document, codes, lookups and milliseconds, and its caller by a hash; with `debug` so has each exchange with an operator.',
    ),
    METRICS_PORT: integer(0, 65_535, { whenUnset: 'nothing is counted' }).sets(
      'The port of `/metrics` for Prometheus, other than `PORT`.',
    ),
    DOCS_URL: url({ whenUnset: 'errors and alerts have no link' }).sets(
      'Where your people read this folder: each error links to its code, each alert to what to do.',
      'Such as `https://git.example/sim-swap/blob/main/docs`; 100 characters at most. Errors have it as `extensions.docs`, and rules and dashboard find it in `sim_swap_build_info`.',
    ),
    TRACE_OPERATORS: boolean().sets(
      'Whether operators get the header `traceparent`.',
      'Operators always get our correlator. Send them traces only to look into a problem together.',
    ),
    AUDIT_KEY: secret({ whenUnset: 'nothing is audited' }).sets(
      'The key under which the audit log hashes numbers.',
      'At least 32 characters; earlier keys follow, separated by commas.',
    ),
    AUDIT_LOG: file({ whenUnset: 'standard output' }).sets(
      'The file that the audit log is appended to.',
    ),
  },
  share: {
    REDIS_URL: secret({ whenUnset: 'each process has its own consents' }).sets(
      'A Redis that all replicas share: `redis://user:password@host:6379/0`.',
      'Consents outlive a restart there, and every replica sees them. `rediss://` is with TLS; `redis+cluster://a:7000,b:7000` names some servers of a cluster, and `redis+sentinel://a:26379,b:26379/mymaster/0` all sentinels, whose own login is `?sentinelUsername=…&sentinelPassword=…`; `?serverName=…` is the name that certificates bear. See [reliability.md](reliability.md#redis).',
    ),
    REDIS_TLS_CA_FILE: file({ whenUnset: 'the well-known authorities' }).sets(
      'The certificates, in PEM, of the authorities of `rediss://` servers.',
    ),
    REDIS_TLS_CERT_FILE: file().sets(
      'Our client certificate in PEM, where the servers require one.',
    ),
    REDIS_TLS_KEY_FILE: file().sets('The private key of that certificate, in PEM.'),
    STATE_KEY: secret().sets(
      'The key that encrypts what is in Redis: 32 bytes, in base64 or hex.',
      'It is the same for all replicas; `openssl rand -base64 32` makes one. While one takes the place of another both are set, with a comma between: the first seals, both open.',
    ),
  },
  egress: {
    EGRESS_PROXY_URL: text({ whenUnset: 'no proxy' }).sets(
      'The egress proxy (HTTP CONNECT): `http://` or `https://`, host and port.',
      'Operators have their own ([operators.md](operators.md#client-certificates-authorities-and-proxies)). No proxy of the environment (`HTTPS_PROXY`) is used, and none for an address with `http://`.',
    ),
    EGRESS_PROXY_CREDENTIALS_FILE: file().sets(
      'A file with `user:password`, sent to that proxy only.',
    ),
    EGRESS_NO_PROXY: list([], {
      fits: /^\.?[a-z\d_-]+(?:\.[a-z\d_-]+)*$|^\[[\da-f:.]+\]$/i,
      must: 'must be hosts, or domains with a dot before them, with commas between and without ports',
    }).sets('Hosts that are called without it; `.internal` is all hosts of that domain.'),
    EGRESS_CA_FILE: file({ whenUnset: 'those that Node trusts' }).sets(
      'The authorities that may sign these certificates, in PEM, and no others.',
      'They apply to all four, and to a proxy with `https://`: an authority for the number directory can also sign for the issuer.',
    ),
  },
  web: {
    ALLOWED_ORIGINS: list([]).sets(
      'Origins whose pages may call this service from a browser: `https://app.example`.',
    ),
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

export type NamesOf<Kind extends Setting['kind']> = {
  [Name in SettingName]: Settings[Name]['kind'] extends Kind ? Name : never;
}[SettingName];

/** What a setting yields: `T`, and `undefined` only where it has no default. */
export type Yields<Name extends SettingName, T> = Settings[Name] extends {
  readonly default: unknown;
}
  ? T
  : T | undefined;

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

export const VARIABLE_NAMES: ReadonlySet<VariableName> = new Set(
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets the names
  [...ALL_SETTINGS].flatMap(([name, setting]) => variablesOf(name, setting)) as VariableName[],
);
