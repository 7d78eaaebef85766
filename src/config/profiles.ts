import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve, sep } from 'node:path';
import * as z from 'zod';
import { camara } from '../../profiles/camara.ts';
import { PROFILES } from '../../profiles/index.ts';
import { MAX_MAX_AGE_HOURS } from '../domain/question.ts';
import { MAPPED_CODES } from '../http/errorMap.ts';
import { OWN_HEADERS } from '../http/headers.ts';
import { deepFreeze } from '../http/json.ts';
import { ENDPOINT_NAMES } from '../http/wireSettings.ts';
import type { OperatorProfile } from '../domain/profile.ts';
import { readTextNow } from '../system/textFile.ts';
import { valueAt } from './document.ts';
import { didYouMean } from './settingNames.ts';
import {
  AS_DATA,
  asNeeded,
  authenticationMethod,
  headerName,
  headerText,
  tokenUse,
} from './definition.ts';

export interface LoadedProfile {
  /** As the entry names it. */
  readonly name: string;
  /** Of one's own: the SHA-256 of its file, in hex. */
  readonly sha256?: string;
  readonly profile: OperatorProfile;
}

/** A profile, or all that is wrong with it: ends of sentences about the entry's `profile`. */
export type ProfileReading =
  | ({ readonly kind: 'loaded' } & LoadedProfile)
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

/**
 * The profile that an entry names, or hands in. One's own is imported here, once, at the start: synchronously, so that one
 * that waits at its top level is refused and does not hold up the start.
 *
 * @param named a name, a path relative to the folder and below it, or, in a program, the profile itself
 */
export function readProfile(named: unknown, folder: string): ProfileReading {
  if (typeof named !== 'string') return made('handed in', named);
  if (Object.hasOwn(PROFILES, named)) return made(named, Reflect.get(PROFILES, named));
  if (!/^\.{1,2}[/\\]/.test(named)) {
    const known = Object.keys(PROFILES);
    return refused([
      `must be one of ${known.join(', ')}, or the path of your own, such as ./our-operator.ts${didYouMean(named, known)}`,
    ]);
  }
  return readOwn(named, folder);
}

function refused(problems: readonly string[]): ProfileReading {
  return { kind: 'refused', problems };
}

function readOwn(named: string, folder: string): ProfileReading {
  if (!/\.[mc]?[jt]s$/.test(named)) return refused(['must be a file of TypeScript or JavaScript']);
  let path: string;
  let text: string;
  try {
    path = realpathSync(resolve(folder, named));
    text = readTextNow(path);
  } catch {
    return refused(['names a file that cannot be read']);
  }
  if (!path.startsWith(realpathSync(folder) + sep)) {
    return refused(['must be below the folder of the file that names it']);
  }
  const sha256 = createHash('sha256').update(text).digest('hex');
  try {
    const exported: unknown = createRequire(import.meta.url)(path);
    return made(named, valueAt(exported, ['default']), sha256);
  } catch (error) {
    return refused([whyNotImported(error)]);
  }
}

/** Never with the error's own message, which may quote the file. */
function whyNotImported(error: unknown): string {
  switch (valueAt(error, ['code'])) {
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return 'has TypeScript that cannot be erased, such as an enum or a namespace: write types alone';
    case 'ERR_INVALID_TYPESCRIPT_SYNTAX':
      return 'is not TypeScript';
    case 'ERR_REQUIRE_ASYNC_MODULE':
      return 'waits at its top level (await), which would hold up the start';
    case 'MODULE_NOT_FOUND':
    case 'ERR_MODULE_NOT_FOUND':
    case 'ERR_PACKAGE_PATH_NOT_EXPORTED':
      return 'imports what is not there: of this package take types alone, by import type';
    default: {
      const name = error instanceof Error ? error.name : 'something that is no error';
      return `cannot be imported: it throws ${/^\w{1,40}$/.test(name) ? name : 'an error'}`;
    }
  }
}

function made(name: string, exported: unknown, sha256?: string): ProfileReading {
  let profile: unknown = exported;
  if (typeof exported === 'function') {
    try {
      profile = exported(deepFreeze(camara));
    } catch {
      return refused(['throws when it is made']);
    }
  }
  if (typeof profile !== 'object' || profile === null || 'then' in profile) {
    return refused(['must export default (camara) => ({ ...camara, … })']);
  }
  const problems = problemsOf(profile);
  if (problems.length > 0) return refused(problems);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has just been judged
  const judged = deepFreeze(profile) as OperatorProfile;
  return { kind: 'loaded', name, profile: judged, ...(sha256 === undefined ? {} : { sha256 }) };
}

function problemsOf(profile: object): readonly string[] {
  const issues = definition.safeParse(profile, AS_DATA).error?.issues ?? [];
  return issues.flatMap((issue) => {
    const where = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map(
        (key) => `has ${[where, key].filter(Boolean).join('.')}, which is not a known member`,
      );
    }
    return [where === '' ? issue.message : `has a wrong ${where}: ${issue.message}`];
  });
}

/* What a profile may be: the types of src/domain/profile.ts, as they are judged. */

const text = z.string().max(300);
const fn = z.custom<unknown>((value) => typeof value === 'function', 'must be a function');
const pointer = z.string().regex(/^(?:\/[^/~]+)+$/, 'must be a way such as /data/date');
const path = z
  .string()
  .regex(/^[/:][^?#\s\\]*$/, 'must be a path that starts with a slash, without query and fragment');
const numberTemplate = z
  .string()
  .regex(
    /^[^{}\r\n]*\{(?:number|digits)\}[^{}\r\n]*$/,
    'must have {number} or {digits} in it, once',
  );
const furtherHeaderName = headerName.refine(
  (name) => !OWN_HEADERS.has(name.toLowerCase()),
  'is a header that this service sets itself',
);
const parameters = z.record(z.string(), text);
const scalar = z.union([text, z.number(), z.boolean()]);

const reading = z
  .strictObject({
    pick: fn.optional(),
    date: z
      .strictObject({
        at: pointer,
        form: z.enum(['rfc3339', 'utc', 'day', 'epoch-seconds', 'epoch-milliseconds']),
        // A real date is not read as null.
        sentinels: z.array(z.string().max(40).refine(isNoDate, 'may be a real date')),
        monitoredPeriod: pointer.optional(),
        nullMeans: z.union([
          z.literal('not-disclosed'),
          z.strictObject({ noSwapWithinDays: z.int().min(1).max(36_500) }),
        ]),
      })
      .optional(),
    swapped: z
      .strictObject({
        at: pointer,
        true: scalar,
        false: scalar,
        window: z.union([z.literal('asked'), z.int().min(1).max(MAX_MAX_AGE_HOURS), pointer]),
      })
      .refine((one) => one.true !== one.false, 'has one value for true and for false')
      .optional(),
    isPartial: z.boolean().optional(),
    number: pointer.optional(),
  })
  .refine((one) => one.date !== undefined || one.swapped !== undefined, 'reads nothing');

const lookup = z.strictObject({ method: z.enum(['GET', 'POST']), path, write: fn, read: reading });

const definition = z
  .strictObject({
    authentication: z.strictObject({
      methods: z.array(authenticationMethod).min(1),
      assertion: z.strictObject({
        algs: z.array(z.enum(['ES256', 'PS256', 'RS256'])).min(1),
        lifetimeSeconds: z.int().min(5).max(300),
        audience: text.min(1),
        claims: fn,
      }),
      signedRequest: z.enum(['off', 'on', 'strict']),
      dpop: z.boolean(),
      headers: z.record(headerName, headerText),
    }),
    grants: z
      .strictObject({
        '2-legged': z
          .discriminatedUnion('type', [
            z.strictObject({
              type: z.literal('client_credentials'),
              path,
              username: numberTemplate.optional(),
              inQuery: z.array(z.enum(['grant_type', 'scope'])),
              parameters,
            }),
            z.strictObject({
              type: z.literal('jwt-bearer'),
              path,
              subject: numberTemplate,
              parameters,
              invalidGrant: z.enum(['CONSENT_DENIED', 'NUMBER_NOT_SERVED']).optional(),
            }),
            z.strictObject({ type: z.literal('none') }),
          ])
          .optional(),
        '3-legged': z
          .strictObject({
            type: z.literal('ciba'),
            paths: z.strictObject({ backchannelAuthentication: path, cibaToken: path }),
            grantType: text.min(1),
            loginHint: numberTemplate,
            firstPoll: z.enum(['at-once', 'after-interval']),
            minIntervalSeconds: z.int().min(1).max(60),
            parameters,
          })
          .optional(),
      })
      .refine((grants) => Object.keys(grants).length > 0, 'has no flow'),
    scopes: z.strictObject({
      operations: z.strictObject({ 'retrieve-date': text, check: text }),
      openid: z.boolean(),
      purpose: text.min(1).optional(),
      joinedBy: z.enum([' ', '#']),
    }),
    tokens: z.strictObject({
      use: tokenUse,
      marginSeconds: z.int().min(0).max(600),
      defaultLifetimeSeconds: z.int().min(0).max(3600),
      types: z.array(text.min(1)).min(1),
      sentIn: z.strictObject({ header: headerName, prefix: headerText }),
    }),
    lookups: z
      .strictObject({ 'retrieve-date': lookup.optional(), check: lookup.optional() })
      .refine((lookups) => Object.keys(lookups).length > 0, 'has no operation'),
    sendPhoneNumber: asNeeded,
    errors: z.strictObject({
      wordAt: z.array(pointer),
      okWords: z.array(text.min(1)),
      rules: z.array(
        z
          .strictObject({
            status: z.int().min(200).max(599),
            word: text.min(1).optional(),
            code: z.enum(MAPPED_CODES),
            reach: z.enum(['question', 'operation', 'number']).optional(),
            retryAfterSeconds: z.int().min(0).max(86_400).optional(),
            isUnknownNumber: z.literal(true).optional(),
          })
          .refine(
            ({ isUnknownNumber, code, word }) =>
              isUnknownNumber === undefined || (code === 'NUMBER_NOT_SERVED' && word !== undefined),
            'must name a word and NUMBER_NOT_SERVED where the number is unknown',
          )
          .refine(
            ({ status, word }) => status >= 400 || (status === 200 && word !== undefined),
            'must be for a status from 400 to 599, or for 200 with a word',
          ),
      ),
    }),
    correlator: z.strictObject({
      header: headerName,
      form: z.enum(['traceable', 'uuid']),
      echo: asNeeded,
    }),
    headers: z.array(
      z.strictObject({
        name: furtherHeaderName,
        value: z.union([headerText, z.strictObject({ generated: z.enum(['uuid', 'timestamp']) })]),
        endpoints: z.array(z.enum(ENDPOINT_NAMES)).optional(),
      }),
    ),
    maxAgeHours: z.int().min(1).max(MAX_MAX_AGE_HOURS),
    dateMarginHours: z.int().min(0).max(2400),
    trustMonitoredPeriod: z.boolean(),
    retryLookups: z.boolean(),
    oneCallPerNumber: z.boolean(),
    http2: z.enum(['auto', 'never']),
    tokenMismatch: z.enum(['accepted', 'refused']),
    options: z.record(
      z.string().regex(/^[A-Za-z][A-Za-z0-9]*$/),
      z.strictObject({
        description: text,
        pattern: z.instanceof(RegExp).optional(),
        default: text.optional(),
      }),
    ),
  })
  .superRefine(({ lookups, grants, sendPhoneNumber, tokens }, context) => {
    const problem = (where: readonly string[], message: string): void =>
      context.addIssue({ code: 'custom', path: [...where], message });
    const direct = grants['2-legged'];
    const isNameless =
      direct?.type === 'none' ||
      (direct?.type === 'client_credentials' && direct.username === undefined);
    if (sendPhoneNumber === 'never' && isNameless) {
      problem(['sendPhoneNumber'], 'leaves the number out, and the token does not hold it either');
    }
    if (tokens.use === 'any-number' && !(isNameless && direct.type !== 'none')) {
      problem(
        ['tokens', 'use'],
        'would answer about another number: tokens of this grant hold theirs',
      );
    }
    for (const [operation, one] of Object.entries(lookups)) {
      const window = one?.read.swapped?.window;
      if (typeof window === 'string' && window !== 'asked' && grants['3-legged'] !== undefined) {
        problem(
          ['lookups', operation],
          'has a window of its own, for which no owner may be prompted',
        );
      }
    }
  });

const FIRST_YEAR = 1991;
const LAST_YEAR = 2200;

/** The first SIM card is of 1991: a text with an earlier year, or with none, stands for no date. */
function isNoDate(sentinel: string): boolean {
  const years = Array.from(sentinel.matchAll(/(?<!\d)\d{4}(?!\d)/g), ([year]) => Number(year));
  const mayBeDate = years.some((year) => year >= FIRST_YEAR && year <= LAST_YEAR);
  return !mayBeDate && (!/\d/.test(sentinel) || years.length > 0);
}
