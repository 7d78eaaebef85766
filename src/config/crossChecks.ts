import type { OperatorProfile } from '../domain/profile.ts';
import { OWN_HEADERS } from '../wire/headers.ts';
import { withoutLastSlash } from '../wire/wireSettings.ts';
import type { OperatorEntry, OperatorsFile } from './definition.ts';
import type { FileProblem, Path } from './document.ts';
import { flowsOf, METHOD_NEEDS, methodOf, operationsOf } from './entrySettings.ts';
import type { LoadedProfile } from './profiles.ts';
import { didYouMean } from './settingNames.ts';

/* Checks of several members, and of several operators. */

/** An entry of the file; without its members where one of them has a problem, which is reported separately. */
export interface ReadEntry {
  readonly name: string;
  readonly entry: OperatorEntry | undefined;
  /** Absent where the profile cannot be used. */
  readonly loaded: LoadedProfile | undefined;
}

type Report = (path: Path, what: string) => void;

interface Checked {
  readonly entry: OperatorEntry;
  readonly report: Report;
}

interface WithProfile extends Checked {
  readonly profile: OperatorProfile;
  /** For example `the profile kpn`. */
  readonly profileName: string;
}

export function crossProblems(
  entries: readonly ReadEntry[],
  directory: OperatorsFile['directory'],
): readonly FileProblem[] {
  const problems: FileProblem[] = [];
  const below =
    (...root: Path): Report =>
    (path, what) =>
      problems.push({ path: [...root, ...path], what });
  checkTogether(entries, below);
  for (const [index, { entry, loaded }] of entries.entries()) {
    if (entry === undefined) continue;
    const checked = { entry, report: below('operators', index) };
    const profileName = `the profile ${loaded?.name}`;
    checkConnection(checked);
    checkHeaders(entry.headers, headersTaken(loaded?.profile, profileName), checked.report);
    if (loaded === undefined) continue;
    const withProfile = { ...checked, profile: loaded.profile, profileName };
    checkContract(withProfile);
    checkOptions(withProfile);
    checkPaths(withProfile);
    checkClient(withProfile);
  }
  // The directory authenticates us by `authorization`, which the service otherwise sets itself.
  const taken = [...OWN_HEADERS].filter((name) => name !== 'authorization');
  const reservedAtDirectory = new Map(taken.map((name) => [name, OWN]));
  checkHeaders(directory?.headers ?? {}, reservedAtDirectory, below('directory'));
  return problems;
}

function checkTogether(entries: readonly ReadEntry[], below: (...root: Path) => Report): void {
  const names = new Set<string>();
  const owners = new Map<string, string>();
  const othersOf = new Map(entries.map(({ name, entry }) => [name, entry?.others ?? []]));
  // Prices are summed over all operators.
  const currency = entries.find(({ entry }) => entry?.price !== undefined)?.entry?.price?.currency;
  for (const [operator, { name, entry }] of entries.entries()) {
    const report = below('operators', operator);
    if (names.has(name)) report(['name'], 'is the name of another operator as well');
    names.add(name);
    for (const [index, former] of entry?.formerly.entries() ?? []) {
      if (othersOf.has(former)) {
        report(['formerly', index], 'is the name of an operator in this file');
      }
    }
    for (const [index, prefix] of entry?.prefixes.entries() ?? []) {
      const owner = owners.get(prefix);
      const what = `is a prefix of ${owner} as well: a number belongs to one operator`;
      if (owner !== undefined) report(['prefixes', index], what);
      owners.set(prefix, owner ?? name);
    }
    for (const [index, other] of entry?.others.entries() ?? []) {
      const what = problemWithOther(name, other, othersOf);
      if (what !== undefined) report(['others', index], what);
    }
    if (entry?.price !== undefined && entry.price.currency !== currency) {
      report(['price', 'currency'], 'must be the currency of all other prices in this file');
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

function checkContract({ entry, report, profile, profileName }: WithProfile): void {
  const { flow, authUrl, discovery } = entry;
  const flows = flowsOf(profile);
  if (flow === undefined && flows.length > 1) {
    report(['flow'], `is missing: ${profileName} has both`);
  } else if (flow !== undefined && !flows.includes(flow)) {
    report(['flow'], `must be ${flows[0]}, or left out: ${profileName} has no other`);
  }
  const direct = profile.grants['2-legged'];
  const places = Object.entries({ authUrl, discovery }).filter(([, value]) => value !== undefined);
  if (flow !== '3-legged' && direct?.type === 'none') {
    for (const [place] of places) {
      report([place], `is for tokens, and ${profileName} has no token step`);
    }
  } else if (places.length > 1) {
    report(['authUrl'], 'cannot be set together with discovery: one of them names the endpoints');
  } else if (places.length === 0) {
    report(['authUrl'], 'is missing: set it, or discovery');
  }
  for (const [index, operation] of entry.operations?.entries() ?? []) {
    if (!operationsOf(profile).includes(operation)) {
      report(['operations', index], `is not an operation of ${profileName}`);
    }
  }
  const isFree = direct?.type === 'client_credentials' && direct.username === undefined;
  if (entry.tokens.use === 'any-number' && !(isFree && flow !== '3-legged')) {
    const what = `would answer about another number: tokens of ${profileName} are for one number each. Write "per-number"`;
    report(['tokens', 'use'], what);
  }
  const margin = entry.dateMarginHours ?? profile.dateMarginHours;
  const hasDays = Object.values(profile.lookups).some((one) => one?.read.date?.form === 'day');
  if (hasDays && margin < MIN_DAY_MARGIN_HOURS) {
    const what = `must be ${MIN_DAY_MARGIN_HOURS} or more: ${profileName} has days without a time and a zone`;
    report(['dateMarginHours'], what);
  }
}

/** A day, and the 14 hours of the time zone that is farthest from UTC. */
const MIN_DAY_MARGIN_HOURS = 38;

function checkOptions({ entry: { options }, report, profile, profileName }: WithProfile): void {
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(profile.options, key)) continue;
    const hint = didYouMean(key, Object.keys(profile.options));
    report(['options', key], `is not an option of ${profileName}${hint}`);
  }
  for (const [key, option] of Object.entries(profile.options)) {
    const value = options[key] ?? option.default;
    if (value === undefined) {
      report(['options', key], `is missing: ${option.description}`);
    } else if (value !== option.default && !isFit(value, option.pattern)) {
      report(['options', key], `does not fit: ${option.description}`);
    }
  }
}

function isFit(value: string, pattern = /^[\x20-\x7e]{1,200}$/): boolean {
  // Printable, since it may be sent in a header.
  return /^[\x20-\x7e]*$/.test(value) && pattern.exec(value)?.[0] === value;
}

/** No path may lead to another host than that of the entry. */
function checkPaths({ entry, report, profile, profileName }: WithProfile): void {
  const { '2-legged': direct, '3-legged': ciba } = profile.grants;
  const tokenPaths = [
    ...(direct !== undefined && 'path' in direct ? [direct.path] : []),
    ...Object.values(ciba?.paths ?? {}),
  ];
  const lookupPaths = Object.values(profile.lookups).flatMap((one) => one?.path ?? []);
  for (const [root, url, paths] of [
    ['authUrl', entry.authUrl, tokenPaths],
    ['simSwapUrl', entry.simSwapUrl, lookupPaths],
  ] as const) {
    if (url === undefined) continue;
    const { origin } = new URL(url);
    if (paths.some((path) => URL.parse(withoutLastSlash(url) + path)?.origin !== origin)) {
      report([root], `leads to another host with a path of ${profileName}`);
    }
  }
}

function checkClient({ entry, report, profile, profileName }: WithProfile): void {
  const { client, flow, tls } = entry;
  const { methods, signedRequest, headers } = profile.authentication;
  if (client.method !== undefined && !methods.includes(client.method)) {
    const what = `must be one of ${methods.join(', ')}, the methods of ${profileName}, or left out`;
    report(['client', 'method'], what);
    return;
  }
  const method = methodOf(client.method, client, profile);
  const isAssertion = flow !== '3-legged' && profile.grants['2-legged']?.type === 'jwt-bearer';
  const needed = new Set(METHOD_NEEDS[method]);
  if (isAssertion || (flow !== '2-legged' && signedRequest !== 'off')) needed.add('key');
  const isInHeader =
    method === 'headers' && Object.values(headers).some((text) => text.includes('{id}'));
  if (isAssertion || isInHeader) needed.add('id');
  const why = `is missing: ${profileName} authenticates by ${method}`;
  if (method === 'tls' && tls?.certificate === undefined) report(['tls', 'certificate'], why);
  for (const member of needed) {
    if (client[member] === undefined) report(['client', member], why);
  }
}

function checkConnection({ entry: { tls, proxy, authUrl, simSwapUrl }, report }: Checked): void {
  for (const [name, other] of [
    ['certificate', 'key'],
    ['key', 'certificate'],
    ['passphrase', 'key'],
  ] as const) {
    if (tls?.[name] !== undefined && tls[other] === undefined) {
      report(['tls', other], `is missing: ${name} is set`);
    }
  }
  if (proxy?.ca !== undefined && !proxy.url.startsWith('https:')) {
    report(['proxy', 'ca'], 'is for a proxy whose url starts with https://');
  }
  const plain = Object.entries({ authUrl, simSwapUrl }).find(([, url]) => url?.startsWith('http:'));
  for (const [block, value] of Object.entries({ tls, proxy })) {
    if (value !== undefined && plain !== undefined) {
      report([block], `is for addresses with https://, and ${plain[0]} has http://`);
    }
  }
}

const OWN = 'is a header that this service sets itself';

function headersTaken(
  profile: OperatorProfile | undefined,
  profileName: string,
): ReadonlyMap<string, string> {
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
  headers: OperatorEntry['headers'],
  taken: ReadonlyMap<string, string>,
  report: Report,
): void {
  // Each name has one value: with two, the receiver would choose.
  const seen = new Map(taken);
  for (const [name, { kind }] of Object.entries(headers)) {
    const what = seen.get(name.toLowerCase());
    if (what !== undefined) report(['headers', name], what);
    seen.set(name.toLowerCase(), 'is set twice');
    if (kind === 'text' && SECRET_HEADER.test(name)) {
      const file =
        'looks like a secret: put it into a file and write { "file": … }, or { "variable": … }';
      report(['headers', name], file);
    }
  }
}
