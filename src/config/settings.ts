import * as z from 'zod';
import { MAX_DOCS_URL_CHARACTERS } from '../domain/errors.ts';
import { isLoopback, withoutLastSlash } from '../wire/wireSettings.ts';
import { address, DEFAULT_LIMITS } from './definition.ts';

export interface Setting<Value = unknown> {
  /** For the variable's text; `undefined` becomes the default, or `undefined` where there is none. */
  readonly schema: z.ZodType<Value>;
  /** A secret is set by NAME, or by NAME_FILE with the path of a file that contains it; no message quotes it. */
  readonly kind: Kind;
  /** Allowed values, for a cell of a table. */
  readonly takes: string;
  readonly default?: string | number | boolean | readonly string[];
  /** What applies where it is not set, in words, and no value of this setting has the same effect. */
  readonly whenUnset?: string;
  /** Where even setting the default has a meaning, .env.example leaves it empty. */
  readonly isLeftEmpty?: true;
  /** What it sets, in one sentence of at most 100 characters, for a cell of a table. */
  readonly description: string;
  /** Further information in Markdown, below the table. */
  readonly detail: string;
}

type Kind = 'value' | 'file' | 'secret';
type Given = Pick<Setting, 'default' | 'whenUnset' | 'isLeftEmpty'>;

/** A setting without a default may be `undefined`. */
type Yields<Value, More> = More extends { readonly default: unknown } ? Value : Value | undefined;

/** Settings that a schema reads, with a message that ends a sentence about the name. */
function settingBy<Value, const K extends Kind = 'value'>(
  takes: string,
  schema: z.ZodType<Value>,
  kind?: K,
) {
  return <const More extends Given>(more?: More) => ({
    sets: (description: string, detail = '') => ({
      // oxlint-disable typescript/no-unsafe-type-assertion -- where nothing is given, the types say the same
      schema: schema.optional().transform((value) => value ?? more?.default) as z.ZodType<
        Yields<Value, More>
      >,
      kind: (kind ?? 'value') as K,
      ...(more as More),
      // oxlint-enable typescript/no-unsafe-type-assertion
      takes,
      description,
      detail,
    }),
  });
}

const string = z.string();
const text = settingBy('a text', string);
const url = settingBy('an address', address.transform(withoutLastSlash));
const file = settingBy('a file', string, 'file');
const json = settingBy('JSON', string);
const secret = settingBy('a secret', string, 'secret');

export const oneOfTexts = <const Value extends string>(values: readonly Value[]) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

const oneOf = <const Value extends string>(
  values: readonly [Value, ...Value[]],
  given?: Pick<Setting, 'isLeftEmpty'>,
) => {
  const takes = values.map((value) => `\`${value}\``).join(', ');
  return settingBy(takes, oneOfTexts(values))({ ...given, default: values[0] });
};

const boolean = () =>
  settingBy(
    '`true`, `false`',
    z.enum(['true', 'false'], 'must be true or false').transform((one) => one === 'true'),
  )({ default: false });

export const numberIn = (
  min: number,
  max: number,
  form = /^\d{1,9}$/,
  must = `must be a whole number from ${min} to ${max}`,
) => {
  const number = string.regex(form, must).transform(Number);
  return number.refine((one) => one >= min && one <= max, must);
};

const integerIn =
  (unit: string) =>
  <const More extends Given>(min: number, max: number, given?: More) =>
    settingBy(`${min} to ${max} ${unit}`.trim(), numberIn(min, max))(given);

const integer = integerIn('');
const milliseconds = integerIn('ms');
const seconds = integerIn('s');

export const MAX_QUOTA = 999_999_999;
const perHour = (quota: number) => integer(1, MAX_QUOTA, { default: quota });

/** Texts separated by commas; none of them is empty, and there is at least one. */
const list = (values: readonly string[], isFit: (text: string) => boolean, must: string) =>
  settingBy(
    'a list',
    string
      .transform((all) => all.split(',').flatMap((one) => one.trim() || []))
      .refine((all): boolean => all.length > 0 && all.every(isFit), must),
  )({ default: values });

/** Has the form of the header `origin`. */
function isOrigin(given: string): boolean {
  const { protocol, hostname = '', origin } = URL.parse(given) ?? {};
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe && origin === given;
}

/*
 * Every setting, in the order in which people read them. The reader of the environment, docs/settings.md, .env.example
 * and hints about typos are all made from this one table; `npm run generate` writes the files. Rules between settings
 * are code, with the part that reads them.
 */

/** The settings, by who needs them: the sections of docs/settings.md and of .env.example. */
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
      '`auto` uses the built-in simulator where no operator is set, unless `NODE_ENV=production`; `built-in` uses it there as well. Several replicas need the address of one that runs by itself (`npm run simulator -- --host 0.0.0.0`), such as `http://simulator:4010`. Every answer is invented then, and the log says so.',
    ),
    DEV_TOKENS: boolean().sets(
      'Accepts the tokens of `npm run dev-token`, while every operator is the simulator.',
      'Instead of `JWT_…`: a rehearsal needs no identity provider. Anyone can sign such a token, so with an operator the service does not start.',
    ),
  },
  operator: {
    OPERATORS_FILE: file().sets(
      'A file of operators, each with all of its contract.',
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
    BATCH_SCOPE: settingBy(
      'a text',
      string.regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be one scope, as an access token names it'),
    )({ whenUnset: 'no scope is required' }).sets(
      'The scope that an operation about several numbers requires: `sim-swap:batch`.',
    ),
    ROUTER_SECRET: secret({ whenUnset: 'no proof is required' }).sets(
      'What the router sends in `x-router-secret`; for `ROLE=subgraph`.',
      'It has 32 characters at least. While one replaces another, both are set, with a comma between.',
    ),
    PURPOSES: list(
      ['fraud-prevention=dpv:FraudPreventionAndDetection'],
      (one) => /^[A-Za-z][A-Za-z0-9:_-]{0,63}(?:=dpv:[A-Za-z][A-Za-z0-9]{0,63})?$/.test(one),
      'must be names of letters, digits, colons and hyphens, each by itself or with `=dpv:` and a purpose of the Data Privacy Vocabulary, with commas between',
    ).sets(
      'The purposes that a caller may give, in the claim `purpose` or the header `x-purpose`.',
      'The first is the default. `NAME=dpv:PURPOSE` maps a name to what operators get whose scopes name a purpose ([operators.md](operators.md#purposes)): owners consent to that. Names that are mapped to one purpose share consents and answers.',
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
      'How long the owner is not prompted again after a prompt whose outcome is unknown.',
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
      'The time limit for one GraphQL request, and for its client to read the answer.',
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
      'The default is the heap less 48 MiB, divided by 64 KiB, 5,000 at most; the heap is `--max-old-space-size`, or what the container leaves. While others are refused, one caller gets at most half. A number that waits for its owner does not count.',
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
    // Each error of a reply has it.
    DOCS_URL: settingBy(
      'an address',
      address
        .transform(withoutLastSlash)
        .refine(
          (one) => one.length <= MAX_DOCS_URL_CHARACTERS,
          `must have ${MAX_DOCS_URL_CHARACTERS} characters at most`,
        ),
    )({ whenUnset: 'errors and alerts have no link' }).sets(
      'Where your people read this folder: each error links to its code, each alert to what to do.',
      'Such as `https://git.example/sim-swap/blob/main/docs`; 100 characters at most. Errors have it as `extensions.docs`, and rules and dashboard find it in `sim_swap_build_info`.',
    ),
    TRACE_OPERATORS: boolean().sets(
      'Whether operators get the header `traceparent`.',
      'Operators always get our correlator.',
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
      'Consents outlive a restart there, and every replica sees them. TLS, a cluster and sentinels: [reliability.md](reliability.md#redis).',
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
      'It is the same for all replicas; `openssl rand -base64 32` makes one. While one replaces another, both are set, with a comma between: the first seals, both open.',
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
    EGRESS_NO_PROXY: list(
      [],
      (one) => /^\.?[a-z\d_-]+(?:\.[a-z\d_-]+)*$|^\[[\da-f:.]+\]$/i.test(one),
      'must be hosts, or domains with a dot before them, with commas between and without ports',
    ).sets('Hosts that are called without it; `.internal` is all hosts of that domain.'),
    EGRESS_CA_FILE: file({ whenUnset: 'those that Node trusts' }).sets(
      'The authorities that may sign these certificates, in PEM, and no others.',
      'They apply to all four, and to a proxy with `https://`: an authority for the number directory can also sign for the issuer.',
    ),
  },
  web: {
    ALLOWED_ORIGINS: list(
      [],
      isOrigin,
      'must be origins such as https://app.example, with commas between; http:// is for this machine only',
    ).sets('Origins whose pages may call this service from a browser: `https://app.example`.'),
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

export type NamesOf<K extends Kind> = {
  [Name in SettingName]: Settings[Name]['kind'] extends K ? Name : never;
}[SettingName];

export type ValueOf<Name extends SettingName> = z.output<Settings[Name]['schema']>;

/** A variable that the program reads: the setting itself, or NAME_FILE for a secret. */
export type VariableName = SettingName | `${NamesOf<'secret'>}_FILE`;

/** The same table, for those who read it as a whole. */
export const ALL_SETTINGS: ReadonlyMap<string, Setting> = new Map(Object.entries(SETTINGS));

/** The variables that may set a setting: its own name, and NAME_FILE for a secret. Pure. */
export function variablesOf(name: string, { kind }: Setting): readonly string[] {
  return kind === 'secret' ? [name, `${name}_FILE`] : [name];
}

export const VARIABLE_NAMES: ReadonlySet<VariableName> = new Set(
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets the names
  [...ALL_SETTINGS].flatMap(([name, setting]) => variablesOf(name, setting)) as VariableName[],
);
