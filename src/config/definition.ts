import * as z from 'zod';
import { MAX_MAX_AGE_HOURS } from '../domain/maxAge.ts';
import { NUMBER_PREFIX } from '../domain/numberPrefix.ts';
import { parseAmount } from '../domain/price.ts';
import { OPERATIONS } from '../domain/question.ts';
import { proxyProblem, serverNameProblem } from '../http/connections/connectionSettings.ts';
import { MAPPED_CODES } from '../http/errorMap.ts';
import { ENDPOINT_NAMES } from '../http/wireSettings.ts';
import {
  CIBA,
  CLIENT_CREDENTIALS,
  OPERATOR_DEFAULTS,
  STANDARD_PATHS,
} from '../operator/operatorDefaults.ts';
import { addressProblem } from '../http/address.ts';
import { TEMPLATE } from './template.ts';

/*
 * What OPERATORS_FILE may hold. The reader, the JSON Schema for editors and the table of docs/operators.md
 * are all made of this one definition; each description is a line of that table.
 */

const DEFAULTS = OPERATOR_DEFAULTS;

const name = z
  .string()
  .regex(
    /^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
    'must be up to 32 small letters, digits and hyphens',
  );

const address = z.string().superRefine((text, context) => {
  const problem = addressProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem.what });
});

const path = z
  .string()
  .regex(/^\/[^?#\s]*$/, 'must be a path that starts with a slash, without query and fragment');

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header');

const headerText = z.string().regex(/^[\t\x20-\x7e]*$/, 'must be text that a header can carry');

const memberName = z.string().min(1, 'must be the name of a member');

const seconds = (max: number) => z.int().min(0).max(max);

/** Where a secret is: never in the file itself. */
const secret = z
  .union(
    [
      z
        .strictObject({
          file: z.string().min(1).describe('the file that holds it, from the folder of this one'),
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
        'must say where the secret is, { "file": … } or { "variable": … }: no secret stands in this file',
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

const generated = z
  .strictObject({ generated: z.enum(['uuid', 'timestamp']) })
  .transform((value) => ({ kind: 'generated', generator: value.generated }) as const);

const template = z
  .string()
  .regex(TEMPLATE, 'must have {number} (with its +) or {digits} (without) in it, once');

const assertion = z
  .strictObject({
    key: secret.describe('the private key, PKCS #8 in PEM'),
    alg: z.enum(['ES256', 'PS256', 'RS256']).default('ES256').describe('signs with the key'),
    kid: z.string().min(1).optional().describe('names the key to the operator'),
    lifetimeSeconds: z
      .int()
      .min(5)
      .max(300)
      .default(DEFAULTS.assertionLifetimeSeconds)
      .describe('how long one JWT counts'),
    audience: z
      .union(
        [
          z.string().min(1),
          z.strictObject({
            token: z.string().min(1),
            backchannelAuthentication: z.string().min(1),
            cibaToken: z.string().min(1),
          }),
        ],
        {
          error:
            'must be one text, or { "token": …, "backchannelAuthentication": …, "cibaToken": … }',
        },
      )
      .describe('`aud`: one for all endpoints, or one for each'),
  })
  .meta({ id: 'assertion', description: 'signs JWTs that show who we are (RFC 7523)' });

const clientBase = {
  id: z.string().min(1).describe('the operator knows us by it'),
  signedRequest: z
    .enum(['off', 'on', 'strict'])
    .default('off')
    .describe(
      'whether bc-authorize carries a signed `request` (CIBA Core §7.1.1); `on` repeats `scope` beside it',
    ),
};
const optionalAssertion = assertion
  .optional()
  .describe('needed for `signedRequest` and the grant `jwt-bearer`');
const clientSecret = secret.describe('the client secret');

const client = z
  .discriminatedUnion('method', [
    z.strictObject({
      method: z.literal('basic'),
      ...clientBase,
      secret: clientSecret,
      assertion: optionalAssertion,
    }),
    z.strictObject({ method: z.literal('private_key_jwt'), ...clientBase, assertion }),
    z.strictObject({ method: z.literal('both'), ...clientBase, secret: clientSecret, assertion }),
    z.strictObject({ method: z.literal('bearer_jwt'), ...clientBase, assertion }),
    z.strictObject({
      method: z.literal('headers'),
      ...clientBase,
      headers: z
        .record(headerName, textOrSecret)
        .describe('by name; each a text or where the secret is'),
      assertion: optionalAssertion,
    }),
  ])
  .describe(
    'how the authorization server knows us: Basic, an assertion (RFC 7523), both, the assertion as a bearer token, or headers of its own',
  );

const grant = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('client_credentials'),
      username: template
        .nullable()
        .default('tel:{number}')
        .describe('binds the token to its number; `null` where it is not sent'),
      inQuery: z
        .array(z.enum(['grant_type', 'scope']))
        .default([...CLIENT_CREDENTIALS.inQuery])
        .describe('members of the token request that stand in the query of its address'),
    }),
    z.strictObject({
      type: z.literal('jwt-bearer'),
      subject: template.default('tel:{number}').describe('`sub` of the assertion'),
    }),
    z.strictObject({
      type: z.literal('ciba'),
      grantType: z.string().min(1).default(CIBA.grantType).describe('`grant_type` of a poll'),
      loginHint: template.default('tel:{number}').describe('`login_hint` of bc-authorize'),
      firstPoll: z
        .enum(['at-once', 'after-interval'])
        .default(CIBA.firstPoll)
        .describe('when to poll first'),
      minIntervalSeconds: z
        .int()
        .min(1)
        .max(60)
        .default(CIBA.minIntervalSeconds)
        .describe('the least between two polls, whatever `interval` says'),
    }),
  ])
  .describe(
    'how tokens come about: `client_credentials` or `jwt-bearer` in the 2-legged flow, `ciba` in the 3-legged',
  );

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
    serverName: z
      .string()
      .superRefine((text, context) => {
        const message = serverNameProblem(text);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe("the name that the server's certificate must be for; the address's where absent"),
  })
  .describe('how TLS is agreed on; the files are read again when they change');

const proxy = z
  .strictObject({
    url: z
      .string()
      .superRefine((text, context) => {
        const message = proxyProblem(text);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .describe('`http://` or `https://`, host and port'),
    credentials: secret
      .optional()
      .describe('`user:password` for the proxy, which alone is sent them'),
    ca: secret
      .optional()
      .describe('the authorities that may sign the certificate of a proxy with `https://`'),
  })
  .describe('the egress proxy that connections are made through, by HTTP CONNECT');

const endpoints = z
  .array(z.enum(ENDPOINT_NAMES))
  .min(1)
  .default([...ENDPOINT_NAMES]);

const operator = z
  .strictObject({
    name: name.describe(
      'stands in log and audit lines and in the keys of stores; clients never read it',
    ),
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
        'operators to ask in turn about a number that this one does not know; each is billed',
      ),
    flow: z.enum(['2-legged', '3-legged']).describe('fixed with the operator at onboarding'),
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
          .describe(
            'where endpoints may lie beside the hosts of these two: our credentials are sent there',
          ),
      })
      .optional()
      .describe('an OpenID discovery document that names the endpoints, in the place of `authUrl`'),
    simSwapUrl: address.describe('`{sim_swap_url}`, the root of the SIM swap API'),
    paths: z
      .strictObject({
        token: path.default(STANDARD_PATHS.token).describe('2-legged tokens, below `authUrl`'),
        backchannelAuthentication: path
          .default(STANDARD_PATHS.backchannelAuthentication)
          .describe('bc-authorize, below `authUrl`'),
        cibaToken: path
          .default(STANDARD_PATHS.cibaToken)
          .describe('polls for consent, below `authUrl`'),
        retrieveDate: path.default(STANDARD_PATHS.retrieveDate).describe('below `simSwapUrl`'),
        check: path.default(STANDARD_PATHS.check).describe('below `simSwapUrl`'),
      })
      .prefault({})
      .describe('of the five endpoints, where they differ'),
    client,
    grant: grant.optional(),
    scopes: z
      .strictObject({
        'retrieve-date': z
          .string()
          .default(DEFAULTS.scopes.operations['retrieve-date'])
          .describe('empty where the operator knows no scopes'),
        check: z
          .string()
          .default(DEFAULTS.scopes.operations.check)
          .describe('empty where the operator knows no scopes'),
        openid: z
          .boolean()
          .default(DEFAULTS.scopes.openid)
          .describe('whether `openid` stands first'),
        purpose: z
          .string()
          .regex(/^dpv:[A-Za-z]+$/, 'must be dpv: and a purpose')
          .optional()
          .describe('such as `dpv:FraudPreventionAndDetection`'),
        joinedBy: z
          .enum([' ', '#'])
          .default(DEFAULTS.scopes.joinedBy)
          .describe('between the purpose and the scope'),
      })
      .prefault({})
      .describe('what `scope` is made of'),
    tokens: z
      .strictObject({
        use: z
          .enum(['once', 'per-number', 'any-number'])
          .default(DEFAULTS.tokens.use)
          .describe('what one token may be used for, by the contract'),
        marginSeconds: seconds(600)
          .default(DEFAULTS.tokens.marginSeconds)
          .describe('how long before its end a kept token is used no more'),
        defaultLifetimeSeconds: seconds(3600)
          .default(DEFAULTS.tokens.defaultLifetimeSeconds)
          .describe('how long a kept token lives whose `expires_in` is absent'),
      })
      .prefault({})
      .describe('whether tokens are kept'),
    operations: z
      .array(z.enum(OPERATIONS))
      .min(1)
      .default([...OPERATIONS])
      .describe('what the operator offers'),
    maxAgeHours: z
      .int()
      .min(1)
      .max(MAX_MAX_AGE_HOURS)
      .default(DEFAULTS.maxAgeHours)
      .describe('the largest window that `check` takes'),
    dateMarginHours: z
      .int()
      .min(0)
      .max(2400)
      .default(DEFAULTS.dateMarginHours)
      .describe('how far its dates may be off'),
    trustMonitoredPeriod: z
      .boolean()
      .default(DEFAULTS.trustMonitoredPeriod)
      .describe('whether `monitoredPeriod` beside a null date says that no swap fell in it'),
    keepFactsSeconds: z
      .int()
      .min(0)
      .max(300)
      .optional()
      .describe(
        'how long a fact answers further requests of its caller and purpose; KEEP_FACTS_SECONDS, or else 60 in the 3-legged flow and 0 in the 2-legged, where absent',
      ),
    phoneNumber: z
      .strictObject({
        send: z
          .enum(['auto', 'always', 'never'])
          .default(DEFAULTS.phoneNumber.send)
          .describe('whether lookups name the number; `auto` where the token does not hold it'),
        header: headerName
          .optional()
          .describe('the header that holds the number; the body does where absent'),
        form: z
          .enum(['with-plus', 'digits'])
          .default(DEFAULTS.phoneNumber.form)
          .describe('`+447700900001` or `447700900001`'),
      })
      .prefault({})
      .describe('how lookups name the number'),
    reading: z
      .strictObject({
        members: z
          .strictObject({
            phoneNumber: memberName.default(DEFAULTS.reading.members.phoneNumber),
            maxAge: memberName.default(DEFAULTS.reading.members.maxAge),
            swapped: memberName.default(DEFAULTS.reading.members.swapped),
            latestSimChange: memberName.default(DEFAULTS.reading.members.latestSimChange),
            monitoredPeriod: memberName.default(DEFAULTS.reading.members.monitoredPeriod),
          })
          .prefault({})
          .describe('names of members in the bodies of lookups and of their replies'),
        maxAgeUnit: z
          .enum(['hours', 'seconds'])
          .default(DEFAULTS.reading.maxAgeUnit)
          .describe('the unit of `maxAge` on the wire'),
        nullMeans: z
          .union(
            [
              z.literal('not-disclosed'),
              z.strictObject({ noSwapWithinDays: z.int().min(1).max(36_500) }),
            ],
            { error: 'must be "not-disclosed" or { "noSwapWithinDays": … }' },
          )
          .default('not-disclosed')
          .describe(
            'what a null date says: nothing, or by the contract that no swap fell in so many days',
          ),
        sentinelDates: z
          .array(z.string().min(4).max(40))
          .default([...DEFAULTS.reading.sentinelDates])
          .describe('texts, or what they begin with, that are read as null: `1900-01-01`'),
      })
      .prefault({})
      .describe('how replies to lookups are read'),
    retryLookups: z
      .boolean()
      .default(DEFAULTS.retriesLookups)
      .describe(
        'whether a lookup whose outcome is unknown is made once more, at the price of a second bill',
      ),
    oneCallPerNumber: z
      .boolean()
      .default(DEFAULTS.oneCallPerNumber)
      .describe(
        'whether calls about one number wait for each other: some answer 409 to two at a time',
      ),
    errors: z
      .strictObject({
        wordAt: z
          .array(
            z
              .string()
              .regex(/^(?:\/[^/~]+)+$/, 'must be a path of members such as /error/errorCode'),
          )
          .default([])
          .describe('where a body names its error, tried in turn before `code` and `error`'),
        rules: z
          .array(
            z.strictObject({
              status: z.int().min(400).max(599).describe('of the reply'),
              word: z.string().min(1).optional().describe('that the body names; each where absent'),
              code: z.enum(MAPPED_CODES).describe('what it means'),
              reach: z
                .enum(['question', 'operation', 'number'])
                .optional()
                .describe(
                  'how far it speaks, of PERIOD_NOT_SUPPORTED, OPERATION_NOT_OFFERED, OPERATOR_REFUSED and OPERATOR_INVALID_REPLY; by its code where absent',
                ),
              retryAfterSeconds: seconds(86_400)
                .optional()
                .describe('when asking again can help, unless the reply says so'),
            }),
          )
          .default([])
          .describe('the first that fits counts; without one, CAMARA and OAuth do'),
      })
      .prefault({})
      .describe('how the operator words its errors'),
    correlator: z
      .strictObject({
        header: headerName.default(DEFAULTS.correlator.header).describe('that names an exchange'),
        form: z
          .enum(['traceable', 'uuid'])
          .default(DEFAULTS.correlator.form)
          .describe(
            "up to 55 letters, digits and hyphens that begin with the caller's own; or a UUID",
          ),
        echo: z
          .enum(['auto', 'always', 'never'])
          .default(DEFAULTS.correlator.echo)
          .describe('whether replies repeat it'),
      })
      .prefault({})
      .describe('how exchanges are named'),
    tls: tls.optional(),
    proxy: proxy.optional(),
    http2: z
      .enum(['auto', 'never'])
      .default(DEFAULTS.http2)
      .describe('`auto` speaks HTTP/2 where the operator takes it'),
    tokenMismatch: z
      .enum(['accepted', 'refused'])
      .default(DEFAULTS.tokenMismatch)
      .describe(
        'what a lookup does with a token of another number; `refused` if it answers 401 or 403',
      ),
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
      .describe('what a lookup is billed, for `npm run usage`'),
    headers: z
      .array(
        z.strictObject({
          name: headerName.describe('of the header'),
          value: z
            .union([plainText, secret, generated], {
              error:
                'must be text that a header can carry, { "file": … }, { "variable": … }, or { "generated": "uuid" } or "timestamp"',
            })
            .describe('a text, where a secret is, or `{ "generated": "uuid" }` or `"timestamp"`'),
          endpoints: endpoints.describe('where it is sent'),
        }),
      )
      .default([])
      .describe('that this operator wants beside those that each is sent'),
    limits: z
      .strictObject({
        timeoutMs: z
          .int()
          .min(10)
          .max(120_000)
          .default(DEFAULTS.limits.timeoutMs)
          .describe('for one exchange, from connecting to the last byte of the reply'),
        connections: z
          .int()
          .min(1)
          .max(10_000)
          .default(DEFAULTS.limits.connections)
          .describe('open at a time to one endpoint'),
        permits: z
          .int()
          .min(1)
          .max(10_000)
          .default(DEFAULTS.limits.permits)
          .describe('lookups of one operation under way at a time'),
        requestsPerSecond: z
          .int()
          .min(1)
          .max(10_000)
          .optional()
          .describe('of each process, over all endpoints; no bound where absent'),
      })
      .prefault({})
      .describe('how much the operator is asked at a time'),
  })
  .meta({ id: 'operator' });

const directory = z
  .strictObject({
    url: address.describe('takes `POST {"phoneNumber": …}` and answers `{"operator": …}`'),
    headers: z
      .record(headerName, textOrSecret)
      .default({})
      .describe('by name; each a text or where the secret is'),
    timeoutMs: z.int().min(10).max(60_000).default(1000).describe('for one question'),
    keepSeconds: seconds(86_400).default(60).describe('how long an answer is kept'),
    fallback: z
      .enum(['none', 'prefix'])
      .default('none')
      .describe(
        'when it is down: OPERATOR_UNAVAILABLE, or the operator of the prefix, who may say `false` about a number that it has lost',
      ),
  })
  .describe(
    'an endpoint of yours that says which operator serves a number, asked before any operator',
  );

/** All of the file. */
export const operatorsFile = z
  .strictObject({
    $schema: z.string().optional().describe('where an editor finds the schema of this file'),
    directory: directory.optional(),
    operators: z.array(operator).min(1).describe('one or more'),
  })
  .describe('The operators that the SIM swap subgraph asks (OPERATORS_FILE; docs/operators.md).');

export type OperatorsFile = z.output<typeof operatorsFile>;
export type OperatorEntry = OperatorsFile['operators'][number];
export type ClientEntry = OperatorEntry['client'];
export type SecretEntry = z.output<typeof secret>;
export type TlsEntry = z.output<typeof tls>;
export type ProxyEntry = z.output<typeof proxy>;
export type TextEntry = z.output<typeof textOrSecret>;

/**
 * How to parse with the definition. zod would compile readers with `new Function`, which the service is started without;
 * said for each reading, since a program that we are mounted in may use the same zod.
 */
export const AS_DATA = { jitless: true } as const;
