import * as z from 'zod';
import { MAX_MAX_AGE_HOURS, OPERATIONS } from '../domain/question.ts';
import { NUMBER_PREFIX } from '../domain/phoneNumber.ts';
import { parseAmount, type Price } from '../domain/price.ts';
import { HEADER_NAME, HEADER_TEXT } from '../wire/headers.ts';
import { proxyProblem, serverNameProblem, addressProblem } from '../wire/wireSettings.ts';

const { array, boolean, optional, record, strictObject, string, union } = z;

/*
 * The definition of OPERATORS_FILE, from which the reader, the JSON Schema for editors and docs/api/operators-file.md
 * are made; each description is a line of that table.
 */

/** With fewer connections a hundred numbers are slow; with more an operator would notice the sockets. */
export const DEFAULT_LIMITS = { timeoutMs: 5000, connections: 256 } as const;

const name = string().regex(
  /^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
  'must be up to 32 lower-case letters, digits and hyphens',
);

/** A text in which `problemOf` finds no problem. */
const textWithout = (problemOf: (text: string) => string | undefined) =>
  string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export const address = textWithout(addressProblem);

export const headerName = string().regex(HEADER_NAME, 'must be the name of a header');
export const headerText = string().regex(HEADER_TEXT, 'must be text that a header can carry');

export const int = (min: number, max: number) => z.int().min(min).max(max);

/** A misspelled member of one form may be meant as a member of either. */
const eitherMember = {
  error: ({ code }: { readonly code?: string }) =>
    code === 'unrecognized_keys' ? 'file variable' : undefined,
};

/** A reference to a secret, which is never in the file itself. */
const secret = union(
  [
    strictObject(
      { file: string().min(1).describe('the file that holds it, relative to this one') },
      eitherMember,
    ).transform(({ file }) => ({ kind: 'file', name: file }) as const),
    strictObject(
      {
        variable: string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')
          .describe('the environment variable that holds it'),
      },
      eitherMember,
    ).transform(({ variable }) => ({ kind: 'variable', name: variable }) as const),
  ],
  {
    error:
      'must say where the secret is, { "file": … } or { "variable": … }: secrets are not allowed in this file',
  },
).meta({ id: 'secret', description: '`{ "file": … }` or `{ "variable": … }`' });

const headers = record(
  headerName,
  union([headerText.transform((text) => ({ kind: 'text', text }) as const), secret], {
    error: 'must be text that a header can carry, { "file": … } or { "variable": … }',
  }),
).default({});

const amount = string()
  .refine(
    (text) => parseAmount(text) !== undefined,
    'must be an amount with at most six decimals, such as "0.0215"',
  )
  .default('0')
  .transform((text) => parseAmount(text) ?? 0)
  .describe('a text such as `"0.0215"`');

export const authenticationMethod = z.enum([
  'basic',
  'post',
  'private_key_jwt',
  'both',
  'bearer_jwt',
  'headers',
  'tls',
]);

export const tokenUse = z.enum(['once', 'per-number', 'any-number']);

export const asNeeded = z.enum(['auto', 'always', 'never']);

const client = strictObject({
  id: optional(string().min(1)).describe('our client id at the operator'),
  secret: optional(secret).describe('the client secret, or the key of an API'),
  key: optional(secret).describe('the private key that signs our JWTs, PKCS #8 in PEM'),
  kid: optional(string().min(1)).describe('names the key to the operator'),
  method: optional(authenticationMethod).describe(
    'how we authenticate, where the profile allows several; where absent, by the first for which `secret` and `key` suffice',
  ),
}).describe('our credentials at the operator');

const tls = strictObject({
  certificate: optional(secret).describe(
    'our client certificate, in PEM, with the chain that it needs',
  ),
  key: optional(secret).describe('the private key of that certificate, in PEM'),
  passphrase: optional(secret).describe('what opens the key, where it is encrypted'),
  ca: optional(secret).describe(
    "the authorities that may sign the server's certificate, in PEM, and no others",
  ),
  serverName: optional(textWithout(serverNameProblem)).describe(
    "the name that the server's certificate must be for; where absent, that of the address",
  ),
}).describe('how TLS is agreed on; the files are read again when they change');

const proxy = strictObject({
  url: textWithout(proxyProblem).describe('`http://` or `https://`, host and port'),
  credentials: optional(secret).describe('`user:password`, sent to the proxy only'),
  ca: optional(secret).describe(
    'the authorities that may sign the certificate of a proxy with `https://`',
  ),
}).describe('the egress proxy that connections are made through, by HTTP CONNECT');

export const operatorEntry = strictObject({
  name: name.describe('for log, audit log and the keys of stores; clients never see it'),
  formerly: array(name)
    .default([])
    .describe('its former names: their consents and facts continue, with `REDIS_URL`'),
  profile: z.preprocess(
    // A program may pass the profile itself.
    (profile) => (Object(profile) === profile ? 'handed in' : profile),
    string()
      .min(1)
      .default('vodafone')
      .describe('how it is called: a name of the list, or the path of your own'),
  ),
  prefixes: array(
    string().regex(NUMBER_PREFIX, 'must be "default", or + and 1 to 14 digits such as "+44"'),
  )
    .min(1)
    .describe('how its numbers begin; over all operators the longest that fits decides'),
  others: array(name)
    .default([])
    .describe('operators to call in turn for a number that this one does not know; each is billed'),
  flow: optional(z.enum(['2-legged', '3-legged'])).describe(
    'which of the two flows was agreed with the operator at onboarding, where the profile has both',
  ),
  authUrl: optional(address).describe(
    '`{auth_url}`, the root of the authorization server; or `discovery`',
  ),
  discovery: strictObject({
    issuer: address.describe('what the document must name as its `issuer`'),
    documentUrl: optional(address).describe(
      'where the document is; where absent, below the issuer by OpenID Connect Discovery',
    ),
    hosts: array(
      string().regex(
        /^[a-z0-9.-]+(?::[1-9]\d{0,4})?$/,
        'must be the name of a host, with its port where that is not 443, without scheme',
      ),
    )
      .default([])
      .describe('hosts of endpoints other than these two: our credentials are sent there'),
  })
    .optional()
    .describe('an OpenID discovery document with the endpoints, instead of `authUrl`'),
  simSwapUrl: address.describe('`{sim_swap_url}`, the root of the SIM swap API'),
  client,
  purposes: optional(
    array(
      string().regex(
        /^[A-Za-z][A-Za-z0-9:_-]{0,63}$/,
        'must be a purpose as PURPOSES maps to it, such as "dpv:FraudPreventionAndDetection"',
      ),
    ).min(1),
  ).describe(
    'the purposes that the contract allows, such as `"dpv:FraudPreventionAndDetection"`; lookups for others are refused. Where absent, any purpose is allowed',
  ),
  operations: optional(array(z.enum(OPERATIONS)).min(1)).describe(
    'what the operator offers, where that is less than the profile has',
  ),
  scopes: z
    .partialRecord(z.enum(OPERATIONS), string())
    .default({})
    .describe('the scope of each operation, where it differs; empty where there is none'),
  tokens: strictObject({
    use: tokenUse.optional().describe('what one token may be used for, by the contract'),
    dpop: boolean()
      .default(false)
      .describe(
        'whether tokens are bound to a key of the process (RFC 9449), also where the profile does not say so',
      ),
  })
    .prefault({})
    .describe('what tokens are like'),
  maxAgeHours: optional(int(1, MAX_MAX_AGE_HOURS)).describe(
    'the largest window that `check` takes',
  ),
  dateMarginHours: int(0, 2400).optional().describe('how far its dates may be off'),
  trustMonitoredPeriod: optional(boolean()).describe(
    'whether `monitoredPeriod` with a null date means that no swap fell in it',
  ),
  echo: asNeeded.optional().describe('whether replies echo our correlator'),
  oneCallPerNumber: optional(boolean()).describe(
    'whether calls about one number wait for each other: some answer 409 to two at a time',
  ),
  keepFactsSeconds: optional(int(0, 300)).describe(
    'how long a fact answers further requests of its caller and purpose; KEEP_FACTS_SECONDS, or else 60 in the 3-legged flow and 0 in the 2-legged, where absent',
  ),
  limits: strictObject({
    timeoutMs: int(10, 120_000)
      .default(DEFAULT_LIMITS.timeoutMs)
      .describe('the time for one exchange, from connecting to the last byte of the reply'),
    connections: int(1, 10_000)
      .default(DEFAULT_LIMITS.connections)
      .describe(
        'how many are open at a time to one endpoint, and how many lookups of one operation are under way',
      ),
    requestsPerSecond: optional(int(1, 10_000)).describe(
      'how many a process sends, over all endpoints; no bound where absent',
    ),
  })
    .prefault({})
    .describe('how many requests the operator gets'),
  price: strictObject({
    currency: string()
      .regex(/^[A-Z]{3}$/, 'must be a currency by its three letters, such as EUR')
      .describe('one for all operators'),
    'retrieve-date': amount,
    check: amount,
  })
    .transform(({ currency, ...microsPerLookup }): Price => ({ currency, microsPerLookup }))
    .optional()
    .describe('the price of a lookup, for `npm run usage`'),
  tls: tls.optional(),
  proxy: proxy.optional(),
  headers: headers.describe('headers that this operator requires, by name'),
  options: record(string(), string().max(200)).default({}).describe('what the profile requires'),
}).meta({ id: 'operator' });

export const directoryEntry = strictObject({
  url: address.describe('takes `POST {"phoneNumber": …}` and answers `{"operator": …}`'),
  headers: headers.describe(
    'headers of each call, by name; each is a text, or says where the secret is',
  ),
  timeoutMs: int(10, 60_000).default(1000).describe('the time for one call'),
  keepSeconds: int(0, 86_400).default(60).describe('how long an answer is kept'),
  fallback: z
    .enum(['none', 'prefix'])
    .default('none')
    .describe(
      'when it is down: OPERATOR_UNAVAILABLE, or the operator of the prefix, which may say `false` about a number that it has lost',
    ),
}).describe('your endpoint that says which operator serves a number, called before any operator');

export const operatorsFile = strictObject({
  $schema: string().optional().describe('where an editor finds the schema of this file'),
  directory: directoryEntry.optional(),
  operators: array(operatorEntry).min(1).describe('one or more'),
}).describe('The operators of the SIM swap subgraph (OPERATORS_FILE; docs/operators.md).');

export type OperatorsFile = z.output<typeof operatorsFile>;
export type OperatorEntry = OperatorsFile['operators'][number];
export type SecretEntry = z.output<typeof secret>;
export type TextEntry = OperatorEntry['headers'][string];
