import { nearestName } from './settingNames.ts';
import { valueAt, type FileProblem, type Path } from './document.ts';
import { ENDPOINT_NAMES } from '../http/wireSettings.ts';
import { OWN_HEADERS } from './headers.ts';

/*
 * What no single member shows. Each check reads the file as it is and passes over what is not there, or is
 * of another type, so that it speaks beside all other problems.
 */

/** An operator of the file, whose members may be anything. */
interface Entry {
  readonly path: Path;
  readonly at: (...path: Path) => unknown;
}

/** All problems that members have with each other. Pure. */
export function crossProblems(file: unknown): readonly FileProblem[] {
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
    ...entries.flatMap(ownProblems),
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
      const what = `is a prefix of ${owner} as well: a number is asked about at one operator`;
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
    const meant = nearestName(other, othersOf.keys());
    const hint = meant === undefined ? '' : `. Did you mean ${meant.name}?`;
    return `is not the name of an operator in this file${hint}`;
  }
  return leadsTo(name, other, othersOf, new Set())
    ? `leads back to ${name}, by the others of ${other}: a number would be asked about in circles`
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

function ownProblems(entry: Entry): readonly FileProblem[] {
  const checks = [
    ...addresses(entry),
    ...flowAndGrant(entry),
    ...assertionNeeded(entry),
    ...tokenUse(entry),
    ...reading(entry),
    ...memberNames(entry),
    ...errorRules(entry),
    ...headers(entry),
    ...connection(entry, ['authUrl', 'simSwapUrl']),
  ];
  return [
    ...checks.map(({ path, what }) => ({ path: [...entry.path, ...path], what })),
    ...badHeaders([...entry.path, 'client', 'headers'], entry.at('client', 'headers')),
  ];
}

function* addresses({ at }: Entry): Generator<FileProblem> {
  const hasDiscovery = at('discovery') !== undefined;
  if (hasDiscovery && at('authUrl') !== undefined) {
    yield { path: ['authUrl'], what: 'stands beside discovery: one of them names the endpoints' };
  }
  if (!hasDiscovery && at('authUrl') === undefined) {
    yield { path: ['authUrl'], what: 'is missing, and so is discovery in its place' };
  }
  for (const endpoint of ['token', 'backchannelAuthentication', 'cibaToken']) {
    if (hasDiscovery && at('paths', endpoint) !== undefined) {
      yield { path: ['paths', endpoint], what: 'is below authUrl: discovery names this endpoint' };
    }
  }
}

/** How TLS is agreed on, and the proxy, beside the addresses that they are for. */
function* connection({ at }: Entry, addressNames: readonly string[]): Generator<FileProblem> {
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
  const plain = addressNames.find((name) => String(at(name)).startsWith('http:'));
  for (const block of ['tls', 'proxy']) {
    if (at(block) !== undefined && plain !== undefined) {
      yield { path: [block], what: `is for addresses with https://, and ${plain} has http://` };
    }
  }
}

function* flowAndGrant({ at }: Entry): Generator<FileProblem> {
  const [flow, type] = [at('flow'), at('grant', 'type')];
  if (flow === '2-legged' && type === 'ciba') {
    yield { path: ['grant', 'type'], what: 'is for the 3-legged flow, and this is the 2-legged' };
  }
  if (flow === '3-legged' && (type === 'client_credentials' || type === 'jwt-bearer')) {
    yield { path: ['grant', 'type'], what: 'is for the 2-legged flow, and this is the 3-legged' };
  }
  const signs = at('client', 'signedRequest');
  if (flow === '2-legged' && (signs === 'on' || signs === 'strict')) {
    yield { path: ['client', 'signedRequest'], what: 'is for the 3-legged flow alone' };
  }
}

function* assertionNeeded({ at }: Entry): Generator<FileProblem> {
  const method = at('client', 'method');
  // The others cannot be without.
  if (method !== 'basic' && method !== 'headers') return;
  if (at('client', 'assertion') !== undefined) return;
  const signs = at('client', 'signedRequest');
  const path = ['client', 'assertion'];
  if (signs === 'on' || signs === 'strict') {
    yield { path, what: 'is missing: it signs the request of bc-authorize' };
  } else if (at('grant', 'type') === 'jwt-bearer') {
    yield { path, what: 'is missing: it signs the assertion of the grant jwt-bearer' };
  }
}

/** A token that holds a number answers about that number, whatever a lookup names. */
function* tokenUse({ at }: Entry): Generator<FileProblem> {
  const isFree = at('grant', 'type') === 'client_credentials' && at('grant', 'username') === null;
  if (at('tokens', 'use') === 'any-number' && !isFree) {
    const what =
      'would answer about another number: tokens of this grant hold theirs. Write "grant": { "type": "client_credentials", "username": null }, or "per-number"';
    yield { path: ['tokens', 'use'], what };
  }
  if (at('phoneNumber', 'send') === 'never' && isFree) {
    const what = 'leaves the number out, and the token does not hold it either';
    yield { path: ['phoneNumber', 'send'], what };
  }
}

/** The first SIM card is of 1991. */
const FIRST_YEAR = 1991;
const LAST_YEAR = 2200;

function* reading({ at }: Entry): Generator<FileProblem> {
  for (const [index, text] of listOf(at('reading', 'sentinelDates')).entries()) {
    if (!isText(text)) continue;
    const years = Array.from(text.matchAll(/(?<!\d)\d{4}(?!\d)/g), ([year]) => Number(year));
    const mayBeDate = years.some((year) => year >= FIRST_YEAR && year <= LAST_YEAR);
    if (mayBeDate || (/\d/.test(text) && years.length === 0)) {
      const what = 'must have a year before 1991, or after 2200: a real date is not read as null';
      yield { path: ['reading', 'sentinelDates', index], what };
    }
  }
}

const REACHES_VARY = new Set<unknown>([
  'PERIOD_NOT_SUPPORTED',
  'OPERATION_NOT_OFFERED',
  'OPERATOR_REFUSED',
  'OPERATOR_INVALID_REPLY',
]);

function* errorRules({ at }: Entry): Generator<FileProblem> {
  for (const index of listOf(at('errors', 'rules')).keys()) {
    const rule = ['errors', 'rules', index];
    const [code, reach] = [at(...rule, 'code'), at(...rule, 'reach')];
    if (reach !== undefined && reach !== 'number' && isText(code) && !REACHES_VARY.has(code)) {
      yield { path: [...rule, 'reach'], what: `must be left out: ${code} speaks for the number` };
    }
    if (at('flow') === '2-legged' && isText(code) && code.startsWith('CONSENT_')) {
      yield { path: [...rule, 'code'], what: 'is for the 3-legged flow: no owner is asked here' };
    }
  }
}

function* headers({ at }: Entry): Generator<FileProblem> {
  // Each name has one value: which of two counts is up to the receiver.
  const taken = new Map(Array.from(OWN_HEADERS, (name) => [name, OWN]));
  for (const [path, standard, use] of [
    [['correlator', 'header'], 'x-correlator', 'names the exchange'],
    [['phoneNumber', 'header'], undefined, 'holds the number'],
  ] as const) {
    const name = at(...path);
    if (!isText(name)) continue;
    const what = name.toLowerCase() === standard ? undefined : taken.get(name.toLowerCase());
    if (what !== undefined) yield { path, what };
    taken.set(name.toLowerCase(), `is the header that ${use} already`);
  }
  const sent = new Set<string>();
  for (const index of listOf(at('headers')).keys()) {
    const [name, value] = [at('headers', index, 'name'), at('headers', index, 'value')];
    const what = isText(name) ? taken.get(name.toLowerCase()) : undefined;
    if (what !== undefined) yield { path: ['headers', index, 'name'], what };
    if (isText(name) && what === undefined) {
      const endpoints = at('headers', index, 'endpoints') ?? ENDPOINT_NAMES;
      const places = listOf(endpoints).map((place) => `${name.toLowerCase()} ${String(place)}`);
      if (places.some((place) => sent.has(place))) {
        yield { path: ['headers', index, 'name'], what: 'stands twice for one endpoint' };
      }
      for (const place of places) sent.add(place);
    }
    if (isText(name) && isText(value) && SECRET_HEADER.test(name)) {
      yield { path: ['headers', index, 'value'], what: NO_SECRET };
    }
  }
}

const OWN = 'is a header that this service sets itself';

/** Of two members with one name, one would stand in the place of the other. */
function* memberNames({ at }: Entry): Generator<FileProblem> {
  for (const names of [
    ['phoneNumber', 'maxAge'],
    ['latestSimChange', 'monitoredPeriod'],
  ]) {
    const [one, other] = names.map((name) => at('reading', 'members', name) ?? name);
    if (one !== other) continue;
    const what = `is the name of ${names.join(' and of ')}: each needs one of its own`;
    // The one that is written down, where one of them has the other's standard name.
    const written = names.findLast((name) => at('reading', 'members', name) !== undefined);
    yield { path: ['reading', 'members', written ?? ''], what };
  }
}

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
