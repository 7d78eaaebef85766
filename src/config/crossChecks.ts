import { withoutLastSlash } from '../http/wireSettings.ts';
import { OWN_HEADERS } from '../http/headers.ts';
import type { OperatorProfile } from '../domain/profile.ts';
import { isText, listOf, valueAt, type FileProblem, type Path } from './document.ts';
import { flowsOf, METHOD_NEEDS, methodOf, operationsOf } from './entrySettings.ts';
import type { LoadedProfile } from './profiles.ts';
import { didYouMean } from './settingNames.ts';

/*
 * Checks of several members. Each reads the file as it is and ignores missing members and other types, which are reported
 * by themselves.
 */

interface Entry {
  readonly at: (...path: Path) => unknown;
  readonly tell: (path: Path, what: string) => void;
  readonly name: string;
  /** Such as `the profile kpn`. */
  readonly profileName: string;
  readonly profile: OperatorProfile | undefined;
}

/** @param profiles of the operators in order, where they can be used */
export function crossProblems(
  file: unknown,
  profiles: readonly (LoadedProfile | undefined)[],
): readonly FileProblem[] {
  const problems: FileProblem[] = [];
  const entries = listOf(valueAt(file, ['operators'])).map((operator, index): Entry => {
    const at = (...path: Path): unknown => valueAt(operator, path);
    const name = at('name');
    return {
      at,
      tell: (path, what) => problems.push({ path: ['operators', index, ...path], what }),
      name: isText(name) ? name : 'another operator',
      profileName: `the profile ${profiles[index]?.name}`,
      profile: profiles[index]?.profile,
    };
  });
  checkTogether(entries);
  for (const entry of entries) {
    checkConnection(entry);
    checkHeaders(entry.at('headers'), headersTaken(entry), entry.tell);
    // Without these it has another problem, which is reported.
    const isEntry = entry.at('name') !== undefined || entry.at('simSwapUrl') !== undefined;
    if (entry.profile === undefined || !isEntry) continue;
    checkContract(entry, entry.profile);
    checkOptions(entry, entry.profile);
    checkPaths(entry, entry.profile);
    checkClient(entry, entry.profile);
  }
  // The directory authenticates us by `authorization`, which the service sets itself elsewhere.
  const taken = [...OWN_HEADERS].filter((name) => name !== 'authorization');
  const ofDirectory = new Map(taken.map((name) => [name, OWN]));
  checkHeaders(valueAt(file, ['directory', 'headers']), ofDirectory, (path, what) =>
    problems.push({ path: ['directory', ...path], what }),
  );
  return problems;
}

function checkTogether(entries: readonly Entry[]): void {
  const names = new Set<unknown>();
  const owners = new Map<unknown, string>();
  const othersOf = new Map(
    entries.map(({ name, at }) => [name, listOf(at('others')).filter(isText)] as const),
  );
  // Prices are summed over all operators.
  const currency = entries.map(({ at }) => at('price', 'currency')).find(isText);
  for (const { at, tell, name } of entries) {
    if (isText(at('name')) && names.has(name)) {
      tell(['name'], 'is the name of another operator as well');
    }
    names.add(at('name'));
    for (const [index, former] of listOf(at('formerly')).entries()) {
      if (isText(former) && othersOf.has(former)) {
        tell(['formerly', index], 'is the name of an operator in this file');
      }
    }
    for (const [index, prefix] of listOf(at('prefixes')).entries()) {
      const owner = owners.get(prefix);
      const what = `is a prefix of ${owner} as well: a number belongs to one operator`;
      if (owner !== undefined) tell(['prefixes', index], what);
      owners.set(prefix, owner ?? name);
    }
    for (const [index, other] of listOf(at('others')).entries()) {
      const what = isText(other) ? problemWithOther(name, other, othersOf) : undefined;
      if (what !== undefined) tell(['others', index], what);
    }
    const own = at('price', 'currency');
    if (isText(own) && own !== currency) {
      tell(['price', 'currency'], 'must be the currency of all other prices in this file');
    }
  }
}

function problemWithOther(
  name: string,
  other: string,
  othersOf: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  if (other === name) return 'is the operator itself';
  if (!othersOf.has(other)) {
    return `is not the name of an operator in this file${didYouMean(other, othersOf.keys())}`;
  }
  const reached = new Set([other]);
  for (const one of reached) for (const next of othersOf.get(one) ?? []) reached.add(next);
  return reached.has(name)
    ? `leads back to ${name}, by the others of ${other}: a number would be looked up in circles`
    : undefined;
}

function checkContract({ at, tell, profileName }: Entry, profile: OperatorProfile): void {
  const flows: readonly unknown[] = flowsOf(profile);
  const flow = at('flow');
  if (flow === undefined && flows.length > 1) {
    tell(['flow'], `is missing: ${profileName} has both`);
  } else if ((flow === '2-legged' || flow === '3-legged') && !flows.includes(flow)) {
    tell(['flow'], `must be ${String(flows[0])}, or left out: ${profileName} has no other`);
  }
  const direct = profile.grants['2-legged'];
  const places = ['authUrl', 'discovery'].filter((place) => at(place) !== undefined);
  if (flow !== '3-legged' && direct?.type === 'none') {
    for (const place of places) {
      tell([place], `is for tokens, and ${profileName} has no token step`);
    }
  } else if (places.length > 1) {
    tell(['authUrl'], 'cannot be set together with discovery: one of them names the endpoints');
  } else if (places.length === 0) {
    tell(['authUrl'], 'is missing, and so is discovery in its place');
  }
  const operations: readonly unknown[] = operationsOf(profile);
  for (const [index, operation] of listOf(at('operations')).entries()) {
    if (!operations.includes(operation)) {
      tell(['operations', index], `is not an operation of ${profileName}`);
    }
  }
  const isFree = direct?.type === 'client_credentials' && direct.username === undefined;
  if (at('tokens', 'use') === 'any-number' && !(isFree && flow !== '3-legged')) {
    const what = `would answer about another number: tokens of ${profileName} hold theirs. Write "per-number"`;
    tell(['tokens', 'use'], what);
  }
  const margin = at('dateMarginHours') ?? profile.dateMarginHours;
  const hasDays = Object.values(profile.lookups).some((one) => one?.read.date?.form === 'day');
  if (hasDays && typeof margin === 'number' && margin < MIN_DAY_MARGIN_HOURS) {
    const what = `must be ${MIN_DAY_MARGIN_HOURS} or more: ${profileName} has days without a time and a zone`;
    tell(['dateMarginHours'], what);
  }
}

/** A day, and its possible time zones. */
const MIN_DAY_MARGIN_HOURS = 38;

function checkOptions({ at, tell, profileName }: Entry, profile: OperatorProfile): void {
  const given = at('options') ?? {};
  if (typeof given !== 'object' || given === null) return;
  for (const key of Object.keys(given)) {
    if (Object.hasOwn(profile.options, key)) continue;
    const hint = didYouMean(key, Object.keys(profile.options));
    tell(['options', key], `is not an option of ${profileName}${hint}`);
  }
  for (const [key, option] of Object.entries(profile.options)) {
    const value = valueAt(given, [key]) ?? option.default;
    if (value === undefined) {
      tell(['options', key], `is missing: ${option.description}`);
    } else if (isText(value) && value !== option.default && !isFit(value, option.pattern)) {
      tell(['options', key], `does not fit: ${option.description}`);
    }
  }
}

function isFit(value: string, pattern = /^[\x20-\x7e]{1,200}$/): boolean {
  // Printable: it may be sent in a header.
  return /^[\x20-\x7e]*$/.test(value) && pattern.exec(value)?.[0] === value;
}

/** No path leads to another host than that of the entry. */
function checkPaths({ at, tell, profileName }: Entry, profile: OperatorProfile): void {
  const { '2-legged': direct, '3-legged': ciba } = profile.grants;
  const paths = {
    authUrl: [
      ...(direct !== undefined && 'path' in direct ? [direct.path] : []),
      ...Object.values(ciba?.paths ?? {}),
    ],
    simSwapUrl: Object.values(profile.lookups).flatMap((one) => one?.path ?? []),
  };
  for (const [root, below] of Object.entries(paths)) {
    const url = at(root);
    // An invalid address is reported elsewhere.
    if (!isText(url) || !URL.canParse(url)) continue;
    const { origin } = new URL(url);
    if (below.some((path) => URL.parse(withoutLastSlash(url) + path)?.origin !== origin)) {
      tell([root], `leads to another host with a path of ${profileName}`);
    }
  }
}

function checkClient({ at, tell, profileName }: Entry, profile: OperatorProfile): void {
  if (typeof at('client') !== 'object') return;
  const { methods, signedRequest, headers } = profile.authentication;
  const named = at('client', 'method');
  const known = methods.find((one) => one === named);
  if (isText(named) && known === undefined) {
    const what = `must be one of ${methods.join(', ')}, or left out: so has ${profileName}`;
    tell(['client', 'method'], what);
    return;
  }
  const [id, secret, key] = ['id', 'secret', 'key'].map((member) => at('client', member));
  const members = { id, secret, key };
  const method = methodOf(known, members, profile);
  const isAssertion =
    at('flow') !== '3-legged' && profile.grants['2-legged']?.type === 'jwt-bearer';
  const needed = new Set(METHOD_NEEDS[method]);
  if (isAssertion || (at('flow') !== '2-legged' && signedRequest !== 'off')) needed.add('key');
  const isInHeader =
    method === 'headers' && Object.values(headers).some((text) => text.includes('{id}'));
  if (isAssertion || isInHeader) needed.add('id');
  if (method === 'tls' && at('tls', 'certificate') === undefined) {
    tell(['tls', 'certificate'], `is missing: ${profileName} authenticates by tls`);
  }
  for (const member of needed) {
    if (members[member] === undefined) {
      tell(['client', member], `is missing: ${profileName} authenticates by ${method}`);
    }
  }
}

function checkConnection({ at, tell }: Entry): void {
  for (const [name, other] of [
    ['certificate', 'key'],
    ['key', 'certificate'],
    ['passphrase', 'key'],
  ] as const) {
    if (at('tls', name) !== undefined && at('tls', other) === undefined) {
      tell(['tls', other], `is missing: ${name} is there`);
    }
  }
  const proxyUrl = at('proxy', 'url');
  if (at('proxy', 'ca') !== undefined && isText(proxyUrl) && !proxyUrl.startsWith('https:')) {
    tell(['proxy', 'ca'], 'is for a proxy whose url starts with https://');
  }
  const plain = ['authUrl', 'simSwapUrl'].find((name) => {
    const url = at(name);
    return isText(url) && url.startsWith('http:');
  });
  for (const block of ['tls', 'proxy']) {
    if (at(block) !== undefined && plain !== undefined) {
      tell([block], `is for addresses with https://, and ${plain} has http://`);
    }
  }
}

const OWN = 'is a header that this service sets itself';

function headersTaken({ profile, profileName }: Entry): ReadonlyMap<string, string> {
  const taken = new Map(Array.from(OWN_HEADERS, (name) => [name, OWN]));
  if (profile === undefined) return taken;
  for (const { name } of profile.headers) {
    taken.set(name.toLowerCase(), `is a header of ${profileName} already`);
  }
  return taken.set(profile.correlator.header, OWN).set(profile.tokens.sentIn.header, OWN);
}

const SECRET_HEADER = /auth|secret|key|token|password|cookie|credential/i;

/** @param taken in lower case, each with the problem of a header of that name */
function checkHeaders(
  named: unknown,
  taken: ReadonlyMap<string, string>,
  tell: Entry['tell'],
): void {
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return;
  // Each name has one value: with two, the receiver would choose.
  const seen = new Map(taken);
  for (const [name, value] of Object.entries(named)) {
    const what = seen.get(name.toLowerCase());
    if (what !== undefined) tell(['headers', name], what);
    seen.set(name.toLowerCase(), 'is there twice');
    if (isText(value) && SECRET_HEADER.test(name)) {
      const file =
        'looks like a secret: put it into a file and write { "file": … }, or { "variable": … }';
      tell(['headers', name], file);
    }
  }
}
