import { withoutLastSlash } from '../http/address.ts';
import { OWN_HEADERS } from '../http/headers.ts';
import type { OperatorProfile } from '../operator/profile.ts';
import { didYouMean } from './settingNames.ts';
import { valueAt, type FileProblem, type Path } from './document.ts';
import { GONE_MEMBERS } from './goneMembers.ts';
import { flowsOf, METHOD_NEEDS, methodOf, operationsOf } from './entrySettings.ts';

/*
 * What no single member shows. Each check reads the file as it is and passes over what is not there, or is
 * of another type, so that it speaks beside all other problems.
 */

interface Entry {
  readonly path: Path;
  readonly at: (...path: Path) => unknown;
}

/**
 * All problems that members have with each other, and with the profiles. Pure.
 *
 * @param profiles of the operators in turn, where they can be used
 */
export function crossProblems(
  file: unknown,
  profiles: readonly (OperatorProfile | undefined)[],
): readonly FileProblem[] {
  const operators = valueAt(file, ['operators']);
  const entries = (Array.isArray(operators) ? operators : []).map((operator: unknown, index) => ({
    path: ['operators', index],
    at: (...path: Path) => valueAt(operator, path),
  }));
  return [
    ...namesThatMeet(entries),
    ...prefixesThatMeet(entries),
    ...badOthers(entries),
    ...otherCurrencies(entries),
    ...entries.flatMap((entry, index) => ownProblems(entry, profiles[index])),
    ...badHeaders(['directory', 'headers'], valueAt(file, ['directory', 'headers'])),
  ];
}

function namesThatMeet(entries: readonly Entry[]): readonly FileProblem[] {
  const seen = new Set<unknown>();
  return entries.flatMap(({ path, at }) => {
    const name = at('name');
    if (typeof name !== 'string' || !seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ path: [...path, 'name'], what: 'is the name of another operator as well' }];
  });
}

function prefixesThatMeet(entries: readonly Entry[]): readonly FileProblem[] {
  const owners = new Map<unknown, string>();
  return entries.flatMap(({ path, at }) =>
    listOf(at('prefixes')).flatMap((prefix, index) => {
      const owner = owners.get(prefix);
      owners.set(prefix, owner ?? nameOf(at));
      if (owner === undefined) return [];
      const what = `is a prefix of ${owner} as well: a number belongs to one operator`;
      return [{ path: [...path, 'prefixes', index], what }];
    }),
  );
}

function badOthers(entries: readonly Entry[]): readonly FileProblem[] {
  const othersOf = new Map(
    entries.map(({ at }) => [nameOf(at), listOf(at('others')).filter(isText)] as const),
  );
  return entries.flatMap(({ path, at }) =>
    listOf(at('others')).flatMap((other, index) => {
      const what = isText(other) ? problemWithOther(nameOf(at), other, othersOf) : undefined;
      return what === undefined ? [] : [{ path: [...path, 'others', index], what }];
    }),
  );
}

function problemWithOther(
  name: string,
  other: string,
  othersOf: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  if (other === name) return 'is the operator itself';
  const others = othersOf.get(other);
  if (others === undefined) {
    return `is not the name of an operator in this file${didYouMean(other, othersOf.keys())}`;
  }
  return leadsTo(name, other, othersOf, new Set())
    ? `leads back to ${name}, by the others of ${other}: a number would be looked up in circles`
    : undefined;
}

function leadsTo(
  name: string,
  from: string,
  othersOf: ReadonlyMap<string, readonly string[]>,
  passed: Set<string>,
): boolean {
  if (passed.has(from)) return false;
  passed.add(from);
  const others = othersOf.get(from) ?? [];
  return others.some((other) => other === name || leadsTo(name, other, othersOf, passed));
}

/** What is billed is summed up over all operators. */
function otherCurrencies(entries: readonly Entry[]): readonly FileProblem[] {
  const path = ['price', 'currency'];
  const [first, ...others] = entries.filter(({ at }) => isText(at(...path)));
  return others
    .filter(({ at }) => at(...path) !== first?.at(...path))
    .map((entry) => ({
      path: [...entry.path, ...path],
      what: 'must be the currency of all other prices in this file',
    }));
}

function ownProblems(entry: Entry, profile: OperatorProfile | undefined): readonly FileProblem[] {
  const checks = [
    ...connection(entry),
    ...goneMembers(entry),
    ...headers(entry, profile),
    ...(profile === undefined || !isEntry(entry)
      ? []
      : [...contract(entry, profile), ...client(entry, profile)]),
  ];
  return checks.map(({ path, what }) => ({ path: [...entry.path, ...path], what }));
}

/** Without these it is something else, and is told as that. */
function isEntry({ at }: Entry): boolean {
  return at('name') !== undefined || at('simSwapUrl') !== undefined;
}

function* contract({ at }: Entry, profile: OperatorProfile): Generator<FileProblem> {
  const name = `the profile ${profileName(at)}`;
  const flows: readonly unknown[] = flowsOf(profile);
  const flow = at('flow');
  if (flow === undefined && flows.length > 1) {
    yield { path: ['flow'], what: `is missing: ${name} has both` };
  } else if ((flow === '2-legged' || flow === '3-legged') && !flows.includes(flow)) {
    const what = `must be ${String(flows[0])}, or left out: ${name} has no other`;
    yield { path: ['flow'], what };
  }
  const hasTokens = flow === '3-legged' || profile.grants['2-legged']?.type !== 'none';
  const places = ['authUrl', 'discovery'].filter((place) => at(place) !== undefined);
  if (!hasTokens) {
    const what = `is for tokens, and ${name} has no token step`;
    yield* places.map((place) => ({ path: [place], what }));
  } else if (places.length > 1) {
    const what = 'cannot be set together with discovery: one of them names the endpoints';
    yield { path: ['authUrl'], what };
  } else if (places.length === 0) {
    yield { path: ['authUrl'], what: 'is missing, and so is discovery in its place' };
  }
  const operations: readonly unknown[] = operationsOf(profile);
  for (const [index, operation] of listOf(at('operations')).entries()) {
    if (!operations.includes(operation)) {
      yield { path: ['operations', index], what: `is not an operation of ${name}` };
    }
  }
  const direct = profile.grants['2-legged'];
  const isFree = direct?.type === 'client_credentials' && direct.username === undefined;
  if (at('tokens', 'use') === 'any-number' && !(isFree && flow !== '3-legged')) {
    const what = `would answer about another number: tokens of ${name} hold theirs. Write "per-number"`;
    yield { path: ['tokens', 'use'], what };
  }
  const margin = at('dateMarginHours') ?? profile.dateMarginHours;
  const hasDays = Object.values(profile.lookups).some(({ read }) => read.date?.form === 'day');
  if (hasDays && typeof margin === 'number' && margin < MIN_DAY_MARGIN_HOURS) {
    const what = `must be ${MIN_DAY_MARGIN_HOURS} or more: ${name} has days without a time and a zone`;
    yield { path: ['dateMarginHours'], what };
  }
  yield* options(at, profile, name);
  yield* pathsElsewhere(at, profile);
}

/** A day, and the zones that it may be of. */
const MIN_DAY_MARGIN_HOURS = 38;

function* options(at: Entry['at'], profile: OperatorProfile, name: string): Generator<FileProblem> {
  const given = at('options') ?? {};
  if (typeof given !== 'object' || given === null) return;
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(profile.options, key)) {
      const hint = didYouMean(key, Object.keys(profile.options));
      yield { path: ['options', key], what: `is not an option of ${name}${hint}` };
    }
  }
  for (const [key, option] of Object.entries(profile.options)) {
    const value = valueAt(given, [key]) ?? option.default;
    if (value === undefined) {
      yield { path: ['options', key], what: `is missing: ${option.description}` };
    } else if (isText(value) && value !== option.default && !isFit(value, option.pattern)) {
      yield { path: ['options', key], what: `does not fit: ${option.description}` };
    }
  }
}

function isFit(value: string, pattern = /^[\x20-\x7e]{1,200}$/): boolean {
  // Printable in any case: it may be sent in a header.
  return /^[\x20-\x7e]*$/.test(value) && pattern.exec(value)?.[0] === value;
}

/** No path leads to another host than the one that the entry names. */
function* pathsElsewhere(at: Entry['at'], profile: OperatorProfile): Generator<FileProblem> {
  const { '2-legged': direct, '3-legged': ciba } = profile.grants;
  const paths = {
    authUrl: [
      ...(direct !== undefined && 'path' in direct ? [direct.path] : []),
      ...(ciba === undefined ? [] : Object.values(ciba.paths)),
    ],
    simSwapUrl: Object.values(profile.lookups).map(({ path }) => path),
  };
  for (const [root, below] of Object.entries(paths)) {
    const url = at(root);
    // What is no address is told as that.
    if (!isText(url) || !URL.canParse(url)) continue;
    const { origin } = new URL(url);
    if (below.some((path) => URL.parse(withoutLastSlash(url) + path)?.origin !== origin)) {
      const what = `leads to another host with a path of the profile ${profileName(at)}`;
      yield { path: [root], what };
    }
  }
}

function* client({ at }: Entry, profile: OperatorProfile): Generator<FileProblem> {
  if (typeof at('client') !== 'object') return;
  const { methods, signedRequest } = profile.authentication;
  const named = at('client', 'method');
  const known = methods.find((one) => one === named);
  if (isText(named) && known === undefined) {
    const what = `must be one of ${methods.join(', ')}, or left out: so has the profile ${profileName(at)}`;
    yield { path: ['client', 'method'], what };
    return;
  }
  const members = {
    id: at('client', 'id'),
    secret: at('client', 'secret'),
    key: at('client', 'key'),
  };
  const method = methodOf(known, members, profile);
  const isSigned = at('flow') !== '2-legged' && signedRequest !== 'off';
  const isAssertion =
    at('flow') !== '3-legged' && profile.grants['2-legged']?.type === 'jwt-bearer';
  const needed = new Set(METHOD_NEEDS[method]);
  if (isSigned || isAssertion) needed.add('key');
  if (isAssertion) needed.add('id');
  const headerTexts = Object.values(profile.authentication.headers);
  if (method === 'headers' && headerTexts.some((text) => text.includes('{id}'))) needed.add('id');
  for (const member of needed) {
    if (members[member] === undefined) {
      const what = `is missing: the profile ${profileName(at)} shows who we are by ${method}`;
      yield { path: ['client', member], what };
    }
  }
}

function profileName(at: Entry['at']): string {
  const name = at('profile') ?? 'vodafone';
  return isText(name) ? name : 'that is handed in';
}

function* goneMembers({ at }: Entry): Generator<FileProblem> {
  for (const [name, what] of Object.entries(GONE_MEMBERS)) {
    const path = name.split('.');
    if (at(...path) !== undefined) yield { path, what };
  }
  if (Array.isArray(at('headers'))) {
    const what =
      'is an object by now, { "x-name": "text" }: what is generated or for some endpoints alone is in profiles';
    yield { path: ['headers'], what };
  }
}

/** How TLS is agreed on, and the proxy, beside the addresses that they are for. */
function* connection({ at }: Entry): Generator<FileProblem> {
  for (const [name, other] of [
    ['certificate', 'key'],
    ['key', 'certificate'],
    ['passphrase', 'key'],
  ] as const) {
    if (at('tls', name) !== undefined && at('tls', other) === undefined) {
      yield { path: ['tls', other], what: `is missing: ${name} is there` };
    }
  }
  const proxyUrl = at('proxy', 'url');
  if (at('proxy', 'ca') !== undefined && isText(proxyUrl) && !proxyUrl.startsWith('https:')) {
    yield { path: ['proxy', 'ca'], what: 'is for a proxy whose url starts with https://' };
  }
  const plain = ['authUrl', 'simSwapUrl'].find((name) => {
    const url = at(name);
    return isText(url) && url.startsWith('http:');
  });
  for (const block of ['tls', 'proxy']) {
    if (at(block) !== undefined && plain !== undefined) {
      yield { path: [block], what: `is for addresses with https://, and ${plain} has http://` };
    }
  }
}

function* headers({ at }: Entry, profile: OperatorProfile | undefined): Generator<FileProblem> {
  const named = at('headers');
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return;
  // Each name has one value: which of two counts is up to the receiver.
  const taken = new Map(Array.from(OWN_HEADERS, (name) => [name, OWN]));
  const profiles = `is a header of the profile ${profileName(at)} already`;
  for (const { name } of profile?.headers ?? []) taken.set(name.toLowerCase(), profiles);
  for (const name of [profile?.correlator.header, profile?.tokens.sentIn.header]) {
    if (name !== undefined) taken.set(name.toLowerCase(), OWN);
  }
  for (const [name, value] of Object.entries(named)) {
    const what = taken.get(name.toLowerCase());
    if (what !== undefined) yield { path: ['headers', name], what };
    taken.set(name.toLowerCase(), 'stands twice');
    if (isText(value) && SECRET_HEADER.test(name)) {
      yield { path: ['headers', name], what: NO_SECRET };
    }
  }
}

const OWN = 'is a header that this service sets itself';

const SECRET_HEADER = /auth|secret|key|token|password|cookie|credential/i;

const NO_SECRET =
  'looks like a secret: put it into a file and write { "file": … }, or { "variable": … }';

function badHeaders(path: Path, named: unknown): readonly FileProblem[] {
  if (typeof named !== 'object' || named === null) return [];
  return Object.entries(named).flatMap(([name, value]) => {
    // These are what proves who we are, by a header that is otherwise of our own making.
    if (name.toLowerCase() !== 'authorization' && OWN_HEADERS.has(name.toLowerCase())) {
      return [{ path: [...path, name], what: OWN }];
    }
    return isText(value) && SECRET_HEADER.test(name)
      ? [{ path: [...path, name], what: NO_SECRET }]
      : [];
  });
}

function nameOf(at: Entry['at']): string {
  const name = at('name');
  return isText(name) ? name : 'another operator';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
