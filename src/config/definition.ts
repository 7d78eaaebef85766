import * as z from 'zod';
import { MAX_MAX_AGE_HOURS } from '../domain/maxAge.ts';
import { NUMBER_PREFIX } from '../domain/numberPrefix.ts';
import { parseAmount } from '../domain/price.ts';
import { OPERATIONS } from '../domain/question.ts';
import { proxyProblem, serverNameProblem } from '../http/connections/connectionSettings.ts';
import { addressProblem } from '../http/address.ts';

/*
 * What OPERATORS_FILE may hold. The reader, the JSON Schema for editors and the table of docs/operators.md
 * are all made of this one definition; each description is a line of that table.
 */

/** Fewer connections slow a hundred numbers down; more are sockets that an operator would count. */
export const DEFAULT_LIMITS = { timeoutMs: 5000, connections: 256 } as const;

const name = z
  .string()
  .regex(
    /^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
    'must be up to 32 small letters, digits and hyphens',
  );

/** A text in which a function finds no problem. */
const textWithout = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const address = textWithout((text) => addressProblem(text)?.what);

export const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header');

export const headerText = z
  .string()
  .regex(/^[\t\x20-\x7e]*$/, 'must be text that a header can carry');

const int = (min: number, max: number) => z.int().min(min).max(max);

/** Where a secret is: never in the file itself. */
const secret = z
  .union(
    [
      z
        .strictObject({
          file: z.string().min(1).describe('the file that holds it, relative to this one'),
        })
        .transform(({ file }) => ({ kind: 'file', name: file }) as const),
      z
        .strictObject({
          variable: z
            .string()
            .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')
            .describe('the environment variable that holds it'),
        })
        .transform(({ variable }) => ({ kind: 'variable', name: variable }) as const),
    ],
    {
      error:
        'must say where the secret is, { "file": … } or { "variable": … }: secrets are not allowed in this file',
    },
  )
  .meta({ id: 'secret', description: '`{ "file": … }` or `{ "variable": … }`' });

const plainText = headerText.transform((text) => ({ kind: 'text', text }) as const);

const textOrSecret = z.union([plainText, secret], {
  error: 'must be text that a header can carry, { "file": … } or { "variable": … }',
});

const amount = z
  .string()
  .refine(
    (text) => parseAmount(text) !== undefined,
    'must be an amount with at most six decimals, such as "0.0215"',
  );

export const authenticationMethod = z.enum([
  'basic',
  'post',
  'private_key_jwt',
  'both',
  'bearer_jwt',
  'headers',
]);

export const tokenUse = z.enum(['once', 'per-number', 'any-number']);

export const asNeeded = z.enum(['auto', 'always', 'never']);

const client = z
  .strictObject({
    id: z.string().min(1).optional().describe('our client id at the operator'),
    secret: secret.optional().describe('the client secret, or the key of an API'),
    key: secret.optional().describe('the private key that signs our JWTs, PKCS #8 in PEM'),
    kid: z.string().min(1).optional().describe('names the key to the operator'),
    method: authenticationMethod
      .optional()
      .describe(
        'how we authenticate, where the profile allows several; the first for which `secret` and `key` suffice where absent',
      ),
  })
  .describe('our credentials at the operator');

const tls = z
  .strictObject({
    certificate: secret
      .optional()
      .describe('our client certificate, in PEM, with the chain that it needs'),
    key: secret.optional().describe('the private key of that certificate, in PEM'),
    passphrase: secret.optional().describe('what opens the key, where it is encrypted'),
    ca: secret
      .optional()
      .describe("the authorities that may sign the server's certificate, in PEM, and no others"),
    serverName: textWithout(serverNameProblem)
      .optional()
      .describe("the name that the server's certificate must be for; the address's where absent"),
  })
  .describe('how TLS is agreed on; the files are read again when they change');

const proxy = z
  .strictObject({
    url: textWithout(proxyProblem).describe('`http://` or `https://`, host and port'),
    credentials: secret.optional().describe('`user:password`, sent to the proxy only'),
    ca: secret
      .optional()
      .describe('the authorities that may sign the certificate of a proxy with `https://`'),
  })
  .describe('the egress proxy that connections are made through, by HTTP CONNECT');

const operator = z
  .strictObject({
    name: name.describe('for log, audit log and the keys of stores; clients never see it'),
    profile: z
      .string()
      .min(1)
      .default('vodafone')
      .describe('how it is called: a name of the list, or the path of your own'),
    prefixes: z
      .array(
        z.string().regex(NUMBER_PREFIX, 'must be "default", or + and 1 to 14 digits such as "+44"'),
      )
      .min(1)
      .describe('how its numbers begin; over all operators the longest that fits decides'),
    others: z
      .array(name)
      .default([])
      .describe(
        'operators to call in turn for a number that this one does not know; each is billed',
      ),
    flow: z
      .enum(['2-legged', '3-legged'])
      .optional()
      .describe('fixed with the operator at onboarding, where the profile has both'),
    authUrl: address
      .optional()
      .describe('`{auth_url}`, the root of the authorization server; or `discovery`'),
    discovery: z
      .strictObject({
        issuer: address.describe('what the document must name as its `issuer`'),
        documentUrl: address
          .optional()
          .describe('of the document; below the issuer by OpenID Connect Discovery where absent'),
        hosts: z
          .array(
            z
              .string()
              .regex(
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
    operations: z
      .array(z.enum(OPERATIONS))
      .min(1)
      .optional()
      .describe('what the operator offers, where that is less than the profile has'),
    scopes: z
      .partialRecord(z.enum(OPERATIONS), z.string())
      .default({})
      .describe('of each operation, where it differs; empty where there is none'),
    tokens: z
      .strictObject({
        use: tokenUse.optional().describe('what one token may be used for, by the contract'),
      })
      .default({})
      .describe('whether tokens are kept'),
    maxAgeHours: int(1, MAX_MAX_AGE_HOURS)
      .optional()
      .describe('the largest window that `check` takes'),
    dateMarginHours: int(0, 2400).optional().describe('how far its dates may be off'),
    trustMonitoredPeriod: z
      .boolean()
      .optional()
      .describe('whether `monitoredPeriod` with a null date means that no swap fell in it'),
    echo: asNeeded.optional().describe('whether replies echo our correlator'),
    oneCallPerNumber: z
      .boolean()
      .optional()
      .describe(
        'whether calls about one number wait for each other: some answer 409 to two at a time',
      ),
    keepFactsSeconds: int(0, 300)
      .optional()
      .describe(
        'how long a fact answers further requests of its caller and purpose; KEEP_FACTS_SECONDS, or else 60 in the 3-legged flow and 0 in the 2-legged, where absent',
      ),
    limits: z
      .strictObject({
        timeoutMs: int(10, 120_000)
          .default(DEFAULT_LIMITS.timeoutMs)
          .describe('for one exchange, from connecting to the last byte of the reply'),
        connections: int(1, 10_000)
          .default(DEFAULT_LIMITS.connections)
          .describe('open at a time to one endpoint, and lookups of one operation under way'),
        requestsPerSecond: int(1, 10_000)
          .optional()
          .describe('of each process, over all endpoints; no bound where absent'),
      })
      .prefault({})
      .describe('how many requests the operator gets'),
    price: z
      .strictObject({
        currency: z
          .string()
          .regex(/^[A-Z]{3}$/, 'must be a currency by its three letters, such as EUR')
          .describe('one for all operators'),
        'retrieve-date': amount.default('0').describe('a text such as `"0.0215"`'),
        check: amount.default('0').describe('a text such as `"0.0215"`'),
      })
      .optional()
      .describe('the price of a lookup, for `npm run usage`'),
    tls: tls.optional(),
    proxy: proxy.optional(),
    headers: z
      .record(headerName, textOrSecret)
      .default({})
      .describe('that this operator requires, by name'),
    options: z
      .record(z.string(), z.string().max(200))
      .default({})
      .describe('what the profile requires'),
  })
  .meta({ id: 'operator' });

const directory = z
  .strictObject({
    url: address.describe('takes `POST {"phoneNumber": …}` and answers `{"operator": …}`'),
    headers: z
      .record(headerName, textOrSecret)
      .default({})
      .describe('by name; each a text or where the secret is'),
    timeoutMs: int(10, 60_000).default(1000).describe('for one call'),
    keepSeconds: int(0, 86_400).default(60).describe('how long an answer is kept'),
    fallback: z
      .enum(['none', 'prefix'])
      .default('none')
      .describe(
        'when it is down: OPERATOR_UNAVAILABLE, or the operator of the prefix, which may say `false` about a number that it has lost',
      ),
  })
  .describe('your endpoint that says which operator serves a number, called before any operator');

export const operatorsFile = z
  .strictObject({
    $schema: z.string().optional().describe('where an editor finds the schema of this file'),
    directory: directory.optional(),
    operators: z.array(operator).min(1).describe('one or more'),
  })
  .describe('The operators of the SIM swap subgraph (OPERATORS_FILE; docs/operators.md).');

export type OperatorsFile = z.output<typeof operatorsFile>;
export type OperatorEntry = OperatorsFile['operators'][number];
export type ClientEntry = OperatorEntry['client'];
export type SecretEntry = z.output<typeof secret>;
export type TextEntry = z.output<typeof textOrSecret>;

/**
 * How to parse with the definition. zod would compile readers with `new Function`, which the service is started without;
 * said for each reading, since a program that we are mounted in may use the same zod.
 */
export const AS_DATA = { jitless: true } as const;
