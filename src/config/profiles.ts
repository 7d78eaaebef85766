import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative, resolve, sep } from 'node:path';
import { types } from 'node:util';
import * as z from 'zod';
import { camara } from '../../profiles/camara.ts';
import { PROFILES } from '../../profiles/index.ts';
import { MAX_MAX_AGE_HOURS } from '../domain/question.ts';
import { OWN_HEADERS } from '../wire/headers.ts';
import { deepFreeze } from '../judging/profileCall.ts';
import { ENDPOINT_NAMES } from '../operator/operatorSettings.ts';
import type {
  AssertionProfile,
  Authentication,
  LookupProfile,
  LookupReading,
  OperatorProfile,
  Pointer,
} from '../domain/profile.ts';
import { readTextNow } from '../system/textFile.ts';
import { memberAt } from '../wire/json.ts';
import { parsed, pathText } from './document.ts';
import { didYouMean } from './settingNames.ts';
import {
  asNeeded,
  authenticationMethod,
  headerName,
  headerText,
  int,
  tokenUse,
} from './definition.ts';

export interface LoadedProfile {
  /** The name in the entry. */
  readonly name: string;
  /** For your own profile: the SHA-256 of its file and of what it imports, made by `hashOf`. */
  readonly sha256: string | undefined;
  readonly profile: OperatorProfile;
}

export interface ProfileReading {
  /** Absent where it has problems. */
  readonly loaded?: LoadedProfile;
  /** Ends of sentences about the entry's `profile`. */
  readonly problems: readonly string[];
}

/**
 * The profile that an entry names or contains. Your own is imported here once, at the start, synchronously: one that
 * waits at its top level is refused and does not delay the start.
 *
 * @param named a name, a path relative to the folder and below it, or, in a program, the profile itself
 */
export function readProfile(named: unknown, folder: string): ProfileReading {
  if (typeof named !== 'string') return made('handed in', named);
  if (Object.hasOwn(PROFILES, named)) return made(named, Reflect.get(PROFILES, named));
  if (!/^\.{1,2}[/\\]/.test(named)) {
    const known = Object.keys(PROFILES);
    return refused(
      `must be one of ${known.join(', ')}, or the path of your own, such as ./our-operator.ts${didYouMean(named, known)}`,
    );
  }
  return readOwn(named, folder);
}

function refused(...problems: readonly string[]): ProfileReading {
  return { problems };
}

function readOwn(named: string, folder: string): ProfileReading {
  if (!/\.[mc]?[jt]s$/.test(named)) return refused('must be a file of TypeScript or JavaScript');
  let path: string;
  let text: string;
  try {
    path = realpathSync(resolve(folder, named));
    text = readTextNow(path);
  } catch {
    return refused('names a file that cannot be read');
  }
  const root = realpathSync(folder);
  if (!path.startsWith(root + sep)) {
    return refused('must be below the folder of the file that names it');
  }
  const sha256 = hashOf(path, text, root);
  try {
    const exported: unknown = createRequire(import.meta.url)(path);
    return made(named, memberAt(exported, ['default']), sha256);
  } catch (error) {
    return refused(whyNotImported(error));
  }
}

/**
 * For a profile that imports nothing, the SHA-256 of its file, in hex. Otherwise it is that of a line for each file, as
 * `sha256sum` prints it: the profile, then what is imported from below the folder, in order of path. Every relative
 * path in quotes counts as an import, so that a wrong guess covers a file too many, never too few.
 */
function hashOf(path: string, text: string, root: string): string {
  const texts = new Map([[path, text]]);
  // Files that are added on the way are walked too.
  for (const [importer, source] of texts) {
    for (const [, specifier = ''] of source.matchAll(/['"`](\.{1,2}\/[^'"`\n?#]+)/g)) {
      try {
        const imported = createRequire(importer).resolve(specifier);
        if (imported.startsWith(root + sep) && !texts.has(imported)) {
          texts.set(imported, readTextNow(imported));
        }
      } catch {
        // It is not a file: its import reports that.
      }
    }
  }
  texts.delete(path);
  if (texts.size === 0) return hash('sha256', text);
  const imports = [...texts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const lines = [[path, text] as const, ...imports].map(
    ([file, its]) => `${hash('sha256', its)}  ${relative(root, file)}\n`,
  );
  return hash('sha256', lines.join(''));
}

/** Without the error's message, which may quote the file. */
function whyNotImported(error: unknown): string {
  switch (memberAt(error, ['code'])) {
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return 'has TypeScript that cannot be erased, such as an enum or a namespace: write types only';
    case 'ERR_INVALID_TYPESCRIPT_SYNTAX':
      return 'is not TypeScript';
    case 'ERR_REQUIRE_ASYNC_MODULE':
      return 'waits at its top level (await), which would hold up the start';
    case 'MODULE_NOT_FOUND':
    case 'ERR_MODULE_NOT_FOUND':
    case 'ERR_PACKAGE_PATH_NOT_EXPORTED':
      return 'imports what is not there: import only types of this package (import type)';
    default: {
      const name = error instanceof Error ? error.name : 'something other than an error';
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
      return refused('throws when it is made');
    }
  }
  if (typeof profile !== 'object' || profile === null || 'then' in profile) {
    return refused('must export default (camara) => ({ ...camara, … })');
  }
  const { data, problems } = parsed(definition, profile);
  if (data === undefined) {
    return refused(
      ...problems.map(({ path, what }) =>
        path.length === 0 ? what : `has an invalid ${pathText(path)}: it ${what}`,
      ),
    );
  }
  const judged: OperatorProfile = deepFreeze(data);
  return { loaded: { name, sha256, profile: judged }, problems: [] };
}

/*
 * The check of your own profile, which no compiler has seen. The result must have the type of src/domain/profile.ts: a
 * member without its check does not compile.
 */

const { array, boolean, optional, record, strictObject, string, union, literal, enum: oneOf } = z;

const fn = <Fn>() => z.custom<Fn>((value) => typeof value === 'function', 'must be a function');
// With either flag an expression remembers where it was, and those of profiles are frozen.
const pattern = z.custom<RegExp>(
  (value) => types.isRegExp(value) && !value.global && !value.sticky,
  'must be a regular expression without the flags g and y',
);
const text = string().max(300);
const name = text.min(1);
const parameters = record(string(), text);
const scalar = union([text, z.number(), boolean()]);
const path = string().regex(
  /^[/:][^?#\s\\]*$/,
  'must be a path that starts with a slash, without query and fragment',
);
const pointer = string()
  .regex(/^(?:\/[^/~]+)+$/, 'must be a pointer such as /data/date')
  .transform((way): Pointer => `/${way.slice(1)}`);
const numberTemplate = string().regex(
  /^[^{}\r\n]*\{(?:number|digits)\}[^{}\r\n]*$/,
  'must have {number} or {digits} in it, once',
);
// A real date must not be read as null.
const sentinelText = string().max(40).refine(isNoDate, 'may be a real date');

const reading = strictObject({
  pick: optional(fn<NonNullable<LookupReading['pick']>>()),
  date: optional(
    strictObject({
      at: pointer,
      form: oneOf(['rfc3339', 'utc', 'day', 'epoch-seconds', 'epoch-milliseconds']),
      sentinels: array(sentinelText),
      monitoredPeriod: optional(pointer),
      nullMeans: union([
        literal('not-disclosed'),
        strictObject({ noSwapWithinDays: int(1, 36_500) }),
      ]),
    }),
  ),
  swapped: optional(
    strictObject({
      at: pointer,
      true: scalar,
      false: scalar,
      window: union([literal('asked'), int(1, MAX_MAX_AGE_HOURS), pointer]),
    }).refine((one) => one.true !== one.false, 'has the same value for true and false'),
  ),
  isPartial: optional(boolean()),
  number: optional(pointer),
}).refine((one) => one.date !== undefined || one.swapped !== undefined, 'reads nothing');

const lookup = optional(
  strictObject({
    method: oneOf(['GET', 'POST']),
    path,
    write: fn<LookupProfile['write']>(),
    read: reading,
  }),
);

const clientCredentials = strictObject({
  type: literal('client_credentials'),
  path,
  username: optional(numberTemplate),
  inQuery: array(oneOf(['grant_type', 'scope'])),
  parameters,
});

const jwtBearer = strictObject({
  type: literal('jwt-bearer'),
  path,
  subject: numberTemplate,
  parameters,
  invalidGrant: optional(oneOf(['CONSENT_DENIED', 'NUMBER_NOT_SERVED'])),
});

const ciba = strictObject({
  type: literal('ciba'),
  paths: strictObject({ backchannelAuthentication: path, cibaToken: path }),
  grantType: name,
  loginHint: numberTemplate,
  firstPoll: oneOf(['at-once', 'after-interval']),
  minIntervalSeconds: int(1, 60),
  parameters,
});

const rule = strictObject({
  status: int(200, 599),
  word: optional(name),
  code: oneOf([
    'NUMBER_NOT_SERVED',
    'PERIOD_NOT_SUPPORTED',
    'OPERATION_NOT_OFFERED',
    'CONSENT_DENIED',
    'CONSENT_EXPIRED',
    'OPERATOR_RATE_LIMITED',
    'OPERATOR_UNAVAILABLE',
    'OPERATOR_TIMEOUT',
    'OPERATOR_REFUSED',
    'OPERATOR_INVALID_REPLY',
  ]),
  reach: optional(oneOf(['question', 'operation', 'number'])),
  retryAfterSeconds: optional(int(0, 86_400)),
  isUnknownNumber: optional(literal(true)),
})
  .refine(
    ({ isUnknownNumber, code, word }) =>
      isUnknownNumber === undefined || (code === 'NUMBER_NOT_SERVED' && word !== undefined),
    'must name a word and NUMBER_NOT_SERVED where the number is unknown',
  )
  .refine(
    ({ status, word }) => status >= 400 || (status === 200 && word !== undefined),
    'must be for a status from 400 to 599, or for 200 with a word',
  );

const header = strictObject({
  name: headerName.refine(
    (one) => !OWN_HEADERS.has(one.toLowerCase()),
    'is a header that this service sets itself',
  ),
  value: union([headerText, strictObject({ generated: oneOf(['uuid', 'timestamp']) })]),
  endpoints: optional(array(oneOf(ENDPOINT_NAMES))),
});

const definition = strictObject({
  authentication: strictObject({
    methods: array(authenticationMethod)
      .min(1)
      .transform(([first = 'basic', ...others]): Authentication['methods'] => [first, ...others]),
    assertion: strictObject({
      algs: array(oneOf(['ES256', 'PS256', 'RS256'])).min(1),
      lifetimeSeconds: int(5, 300),
      audience: name,
      claims: fn<AssertionProfile['claims']>(),
    }),
    signedRequest: oneOf(['off', 'on', 'strict']),
    dpop: boolean(),
    headers: record(headerName, headerText),
  }),
  grants: strictObject({
    '2-legged': optional(
      z.discriminatedUnion('type', [
        clientCredentials,
        jwtBearer,
        strictObject({ type: literal('none') }),
      ]),
    ),
    '3-legged': optional(ciba),
  }).refine((grants) => Object.keys(grants).length > 0, 'has no flow'),
  scopes: strictObject({
    operations: strictObject({ 'retrieve-date': text, check: text }),
    openid: boolean(),
    purpose: boolean(),
    joinedBy: oneOf([' ', '#']),
  }),
  tokens: strictObject({
    use: tokenUse,
    marginSeconds: int(0, 600),
    defaultLifetimeSeconds: int(0, 3600),
    types: array(name.toLowerCase()).min(1),
    sentIn: strictObject({ header: headerName.toLowerCase(), prefix: headerText }),
  }),
  lookups: strictObject({ 'retrieve-date': lookup, check: lookup }).refine(
    (lookups) => Object.keys(lookups).length > 0,
    'has no operation',
  ),
  sendPhoneNumber: asNeeded,
  errors: strictObject({ wordAt: array(pointer), okWords: array(name), rules: array(rule) }),
  correlator: strictObject({
    header: headerName.toLowerCase(),
    form: oneOf(['traceable', 'uuid']),
    echo: asNeeded,
  }),
  headers: array(header),
  maxAgeHours: int(1, MAX_MAX_AGE_HOURS),
  dateMarginHours: int(0, 2400),
  trustMonitoredPeriod: boolean(),
  retryLookups: boolean(),
  oneCallPerNumber: boolean(),
  papers: array(strictObject({ title: name, version: optional(name), readOn: z.iso.date() })),
  http2: oneOf(['auto', 'never']),
  tokenMismatch: oneOf(['accepted', 'refused']),
  options: record(
    string().regex(/^[A-Za-z][A-Za-z0-9]*$/),
    strictObject({
      description: text,
      pattern: optional(pattern),
      default: optional(text),
    }),
  ),
}).superRefine(({ lookups, grants, sendPhoneNumber, tokens }, context) => {
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
    const what = 'would answer about another number: tokens of this grant are for one number each';
    problem(['tokens', 'use'], what);
  }
  for (const [operation, one] of Object.entries(lookups)) {
    const window = one?.read.swapped?.window;
    if (typeof window === 'string' && window !== 'asked' && grants['3-legged'] !== undefined) {
      const what = 'has a window of its own, for which no owner may be prompted';
      problem(['lookups', operation], what);
    }
  }
});

const FIRST_YEAR = 1991;
const LAST_YEAR = 2200;

/** The first SIM card is from 1991: a text with an earlier year, or without one, is not a date. */
function isNoDate(sentinel: string): boolean {
  const years = Array.from(sentinel.matchAll(/(?<!\d)\d{4}(?!\d)/g), ([year]) => Number(year));
  const mayBeDate = years.some((year) => year >= FIRST_YEAR && year <= LAST_YEAR);
  return !mayBeDate && (!/\d/.test(sentinel) || years.length > 0);
}
