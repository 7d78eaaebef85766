import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { crossProblems } from './crossChecks.ts';
import { AS_DATA, operatorsFile, type OperatorsFile, type SecretEntry } from './definition.ts';
import {
  listOf,
  readDocument,
  sentence,
  valueAt,
  type FileProblem,
  type JsonDocument,
  type Path,
} from './document.ts';
import {
  algFor,
  directoryOf,
  settingsOf,
  type ForAllOperators,
  type PointedTo,
} from './entrySettings.ts';
import type { EnvironmentReader } from './environment.ts';
import { readProfile, type LoadedProfile } from './profiles.ts';
import { didYouMean } from './settingNames.ts';

/** What names operators: a file, a program that hands them in, or OPERATOR_…. */
export interface OperatorsSource extends JsonDocument {
  /** Names of files in it are relative to this one. */
  readonly folder: string;
  /** A problem as a sentence, and the name that it begins with. */
  readonly told: (problem: FileProblem) => readonly [name: string, what: string];
}

/** The file that OPERATORS_FILE names; `undefined` where it cannot be read. */
export function operatorsInFile(read: EnvironmentReader): OperatorsSource | undefined {
  const name = 'OPERATORS_FILE';
  const text = read.file(name);
  if (text === undefined) return undefined;
  const document = readDocument(text);
  return {
    ...document,
    folder: dirname(resolve(read.text(name) ?? '')),
    told: (problem) => [name, sentence(problem, `(line ${document.lineOf(problem.path)}): `)],
  };
}

export function operatorsHandedIn(value: object): OperatorsSource {
  return {
    value,
    problems: [],
    lineOf: () => 0,
    folder: process.cwd(),
    told: (problem) => ['operators, as handed in:', sentence(problem)],
  };
}

/**
 * Reads operators, their profiles, and the secrets that they point to. Every problem is reported at once, each with where
 * it is, and none with what is there.
 */
export function readOperatorsOf(
  source: OperatorsSource,
  read: EnvironmentReader,
  forAll: ForAllOperators,
) {
  const { file, profiles } = parse(source, read, secretsOf(read, source.folder));
  /** Settings that can be made again of what their files hold by then. */
  const made = <T extends object>(
    path: Path,
    make: (pointedTo: PointedTo) => T,
    profile?: LoadedProfile,
  ) => {
    // Problems of the files of connections are reported where those are used.
    const members = Object.entries(Object(valueAt(source.value, path)));
    const entry = Object.fromEntries(
      members.filter(([name]) => name !== 'tls' && name !== 'proxy'),
    );
    const { value, fromFiles } = read.made((reader) => {
      const secrets = secretsOf(reader, source.folder);
      for (const problem of secretProblems(entry, path, secrets, profile)) {
        reader.problem(...source.told(problem));
      }
      return make(secrets);
    });
    return fromFiles === undefined ? value : { ...value, fromFiles };
  };
  const directory = file?.directory;
  return {
    operators: (file?.operators ?? []).flatMap((entry, index) => {
      const profile = profiles[index];
      if (profile === undefined) return [];
      return made(['operators', index], (to) => settingsOf(entry, profile, to, forAll), profile);
    }),
    directory: directory && made(['directory'], (to) => directoryOf(directory, to, forAll.egress)),
  };
}

type SimulatorPlace = Record<'authUrl' | 'simSwapUrl' | 'clientId' | 'clientSecret', string>;

/** The one operator of a source, with the simulator's address and credentials, known once it runs, in place of its own. */
export function readSimulated(
  source: OperatorsSource,
  read: EnvironmentReader,
  forAll: ForAllOperators,
): (place: SimulatorPlace) => OperatorSettings {
  const { file, profiles } = parse(source, read, UNREAD);
  const [entry, profile] = [file?.operators[0], profiles[0]];
  return ({ authUrl, simSwapUrl, clientId, clientSecret }) => {
    if (entry === undefined || profile === undefined) throw new Error('It has not been read.');
    const known = { ...UNREAD, read: () => clientSecret };
    const client = { ...entry.client, id: clientId };
    return settingsOf({ ...entry, authUrl, simSwapUrl, client }, profile, known, forAll);
  };
}

/** What each operator of OPERATORS_FILE bills, by its name; neither secrets nor profiles are read for it. */
export function readPrices(read: EnvironmentReader) {
  const source = operatorsInFile(read);
  const operators = (source && parse(source, read, UNREAD, []).file?.operators) ?? [];
  const prices = new Map(operators.map(({ name, price }) => [name, price]));
  return {
    priceOf: (operator: string) => prices.get(operator),
    currency: operators.find(({ price }) => price !== undefined)?.price?.currency,
  };
}

const UNREAD: PointedTo = {
  read: () => 'not read',
  source: () => ({ kind: 'text', text: 'not read' }),
};

/**
 * Reports all problems.
 *
 * @returns the operators where there is none, and the profiles that can be used
 */
function parse(
  source: OperatorsSource,
  read: EnvironmentReader,
  secrets: PointedTo,
  readings = listOf(valueAt(source.value, ['operators'])).map((one) =>
    readProfile(valueAt(one, ['profile']) ?? 'vodafone', source.folder),
  ),
): { readonly file?: OperatorsFile; readonly profiles: readonly (LoadedProfile | undefined)[] } {
  const { value } = source;
  const profiles = readings.map(({ loaded }) => loaded);
  const parsed = operatorsFile.safeParse(value, { ...AS_DATA, error: wordingOf });
  const entries = listOf(valueAt(value, ['operators']));
  const cross = [
    ...crossProblems(value, profiles),
    ...readings.flatMap(({ problems }, index) =>
      problems.map((what) => ({ path: ['operators', index, 'profile'], what })),
    ),
    ...secretProblems(valueAt(value, ['directory']), ['directory'], secrets),
    ...entries.flatMap((entry, index) =>
      Array.from(secretProblems(entry, ['operators', index], secrets, profiles[index])),
    ),
  ];
  // A member that is gone is reported once, with what took its place.
  const issues = (parsed.error?.issues ?? [])
    .flatMap(problemsOf)
    .filter(
      ({ path, what }) =>
        !what.startsWith('is not a known member') ||
        cross.every((other) => path.some((part, index) => other.path[index] !== part)),
    );
  // A file that is not JSON has no members.
  const found =
    source.problems.length > 0
      ? source.problems
      : [...issues, ...cross].toSorted((a, b) => source.lineOf(a.path) - source.lineOf(b.path));
  for (const problem of found) read.problem(...source.told(problem));
  return found.length > 0 || parsed.data === undefined
    ? { profiles }
    : { file: parsed.data, profiles };
}

/**
 * What the definition found, in words for people. They name members and what may be there, and never quote what is there:
 * it may be a secret in the wrong place. Pure.
 */
function problemsOf(issue: z.core.$ZodIssue): readonly FileProblem[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code !== 'unrecognized_keys') return [{ path, what: issue.message }];
  const known = issue.message.split(' ');
  return issue.keys.map((key) => ({
    path: [...path, key],
    what: `is not a known member${didYouMean(key, known)}`,
  }));
}

/** Of members that are not known: those that are. */
function wordingOf(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  if (input === undefined) return 'is missing';
  const isNumber = typeof input === 'number';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value': {
      const values = issue.values.map(quoted);
      const hint = typeof input === 'string' ? didYouMean(quoted(input), values) : '';
      return `must be ${values.length === 1 ? '' : 'one of '}${values.join(', ')}${hint}`;
    }
    case 'too_small':
      return isNumber ? `must be ${Number(issue.minimum)} or more` : 'must not be empty';
    case 'too_big':
      return isNumber ? `must be ${Number(issue.maximum)} or less` : 'must be shorter';
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'unrecognized_keys':
      return issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape).join(' ') : '';
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list, in [ ]',
  object: 'an object, in { }',
  record: 'an object, in { }',
};

function quoted(value: unknown): string {
  return JSON.stringify(String(value));
}

/** @param folder that names of files are relative to */
function secretsOf(read: EnvironmentReader, folder: string): PointedTo {
  const textOf = ({ kind, name }: SecretEntry): string =>
    kind === 'file'
      ? (read.textOf(resolve(folder, name))?.replace(/\r?\n$/, '') ?? '')
      : (read.namedVariable(name) ?? '');
  return {
    read: textOf,
    source: (entry) =>
      entry.kind === 'file'
        ? { kind: 'file', path: resolve(folder, entry.name) }
        : { kind: 'text', text: textOf(entry) },
  };
}

/** What is wrong with the secrets that an entry points to, whose members may be anything. */
function* secretProblems(
  entry: unknown,
  path: Path,
  secrets: PointedTo,
  loaded?: LoadedProfile,
): Generator<FileProblem> {
  for (const { entry: secret, path: at } of secretsIn(entry, path)) {
    const text = secrets.read(secret);
    // Where a header holds it, a line break in it would begin another header.
    const fits = at.includes('headers') ? /^[\t\x20-\x7e]*$/ : /^[^\r\n]*$/;
    const isPem = PEM_MEMBERS.has(at.at(-1));
    if (text === '') {
      yield { path: [...at, secret.kind], what: MISSING[secret.kind] };
    } else if (!isPem && !fits.test(text)) {
      const what = 'leads to more than one line, or to what no header carries';
      yield { path: [...at, secret.kind], what };
    }
  }
  const [key] = secretsIn(valueAt(entry, ['client', 'key']), [...path, 'client', 'key']);
  const pem = key === undefined ? '' : secrets.read(key.entry);
  if (key === undefined || loaded === undefined || pem === '') return;
  if (algFor(pem, loaded.profile) !== undefined) return;
  const algs = loaded.profile.authentication.assertion.algs.join(' or ');
  yield { path: key.path, what: `must be a private key for ${algs} in PEM` };
}

const PEM_MEMBERS = new Set<string | number | undefined>(['key', 'certificate', 'ca']);

const MISSING: Readonly<Record<SecretEntry['kind'], string>> = {
  file: 'names a file that cannot be read, or is empty',
  variable: 'names a variable that is not set',
};

function* secretsIn(
  value: unknown,
  path: Path,
): Generator<{ readonly entry: SecretEntry; readonly path: Path }> {
  if (typeof value !== 'object' || value === null) return;
  const members = Object.entries(value);
  const [[kind, name] = [], ...others] = members;
  if ((kind === 'file' || kind === 'variable') && typeof name === 'string' && others.length === 0) {
    yield { entry: { kind, name }, path };
    return;
  }
  for (const [member, inner] of members) {
    yield* secretsIn(inner, [...path, Array.isArray(value) ? Number(member) : member]);
  }
}
