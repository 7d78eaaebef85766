import { dirname, resolve } from 'node:path';
import { crossProblems } from './crossChecks.ts';
import {
  directoryEntry,
  operatorEntry,
  operatorsFile,
  type OperatorsFile,
  type SecretEntry,
} from './definition.ts';
import {
  listOf,
  parsed,
  readDocument,
  sentence,
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
import { HEADER_TEXT } from '../wire/headers.ts';
import { memberAt } from '../wire/json.ts';
import type { EnvironmentReader } from './environment.ts';
import { readProfile, type LoadedProfile } from './profiles.ts';

/** The source of operators: a file, another program, or OPERATOR_…. */
export interface OperatorsSource extends JsonDocument {
  /** Names of files are relative to this folder. */
  readonly folder: string;
  /** A problem as a sentence, and the first name in it. */
  readonly described: (problem: FileProblem) => readonly [name: string, what: string];
  /** The variables, by the members of the entry that they set. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The file in OPERATORS_FILE; `undefined` where it cannot be read. */
export function operatorsInFile(read: EnvironmentReader): OperatorsSource | undefined {
  const name = 'OPERATORS_FILE';
  const text = read.file(name);
  if (text === undefined) return undefined;
  const document = readDocument(text);
  return {
    ...document,
    folder: dirname(resolve(read.value(name) ?? '')),
    described: (problem) => [name, sentence(problem, `(line ${document.lineOf(problem.path)}): `)],
  };
}

/** Operators from a value without a file. */
export function operatorsIn(
  value: unknown,
  described: OperatorsSource['described'],
): OperatorsSource {
  return { value, problems: [], lineOf: () => 0, folder: process.cwd(), described: described };
}

/**
 * Reads operators, their profiles and their secrets. All problems are reported together, each with its place and without
 * the value.
 */
export function readOperatorsOf(
  source: OperatorsSource,
  read: EnvironmentReader,
  forAll: ForAllOperators,
  secretsBy = (reader: EnvironmentReader) => secretsOf(reader, source.folder),
) {
  const { variables } = source;
  const { file, profiles } = parse(source, read, secretsBy(read));
  /** Settings that can be made again from their files. */
  const made = <T extends object>(
    path: Path,
    make: (pointedTo: PointedTo) => T,
    profile?: LoadedProfile,
  ) => {
    // Problems of the files of connections are reported where they are used.
    const members = Object.entries(Object(memberAt(source.value, path)));
    const entry = Object.fromEntries(
      members.filter(([name]) => name !== 'tls' && name !== 'proxy'),
    );
    const { value, fromFiles } = read.made((reader) => {
      const secrets = secretsBy(reader);
      for (const problem of secretProblems(entry, path, secrets, profile)) {
        reader.problem(...source.described(problem));
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
      return made(
        ['operators', index],
        (to) => ({ ...settingsOf(entry, profile, to, forAll), variables }),
        profile,
      );
    }),
    directory: directory && made(['directory'], (to) => directoryOf(directory, to, forAll.egress)),
  };
}

/** The price of each operator of OPERATORS_FILE by its name, read without secrets and profiles. */
export function readPrices(read: EnvironmentReader) {
  const source = operatorsInFile(read);
  const operators =
    (source && parse(source, read, placeholderSecrets('not read'), []).file?.operators) ?? [];
  const prices = new Map(operators.map(({ name, price }) => [name, price]));
  return {
    priceOf: (operator: string) => prices.get(operator),
    currency: operators.find(({ price }) => price !== undefined)?.price?.currency,
  };
}

/** A placeholder for all secrets. */
export function placeholderSecrets(text: string): PointedTo {
  return { read: () => text, source: () => ({ kind: 'text', text }) };
}

/**
 * Reports all problems.
 *
 * @returns the operators where there are none, and the profiles that can be used
 */
function parse(
  source: OperatorsSource,
  read: EnvironmentReader,
  secrets: PointedTo,
  readings = listOf(memberAt(source.value, ['operators'])).map((one) =>
    readProfile(memberAt(one, ['profile']) ?? 'vodafone', source.folder),
  ),
): { readonly file?: OperatorsFile; readonly profiles: readonly (LoadedProfile | undefined)[] } {
  const { value } = source;
  const profiles = readings.map(({ loaded }) => loaded);
  const { data: file, problems } = parsed(operatorsFile, value);
  const entries = listOf(memberAt(value, ['operators'])).map((one, index) => {
    const name = memberAt(one, ['name']);
    return {
      name: typeof name === 'string' ? name : `operator ${index}`,
      entry: parsed(operatorEntry, one).data,
      loaded: profiles[index],
    };
  });
  const crossing = crossProblems(
    entries,
    parsed(directoryEntry, memberAt(value, ['directory'])).data,
  );
  const withSecrets = [
    ...secretProblems(memberAt(value, ['directory']), ['directory'], secrets),
    ...listOf(memberAt(value, ['operators'])).flatMap((entry, index) =>
      Array.from(secretProblems(entry, ['operators', index], secrets, profiles[index])),
    ),
  ];
  const profileProblems = readings.flatMap((reading, index) =>
    reading.problems.map((what) => ({ path: ['operators', index, 'profile'], what })),
  );
  // A file that is not JSON has no members.
  const found =
    source.problems.length > 0
      ? source.problems
      : [...problems, ...crossing, ...profileProblems, ...withSecrets].toSorted(
          (a, b) => source.lineOf(a.path) - source.lineOf(b.path),
        );
  for (const problem of found) read.problem(...source.described(problem));
  return found.length > 0 || file === undefined ? { profiles } : { file, profiles };
}

/** @param folder names of files are relative to it */
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

/** The problems of the secrets of an entry, whose members may have any type. */
function* secretProblems(
  entry: unknown,
  path: Path,
  secrets: PointedTo,
  loaded?: LoadedProfile,
): Generator<FileProblem> {
  for (const { entry: secret, path: at } of secretsIn(entry, path)) {
    const text = secrets.read(secret);
    // In a header, a line break in it would begin another header.
    const fits = at.includes('headers') ? HEADER_TEXT : /^[^\r\n]*$/;
    const isPem = PEM_MEMBERS.has(at.at(-1));
    if (text.trim() === '') {
      yield { path: [...at, secret.kind], what: MISSING[secret.kind] };
    } else if (!isPem && !fits.test(text)) {
      const what = 'refers to more than one line, or to characters that no header can have';
      yield { path: [...at, secret.kind], what };
    }
  }
  const [key] = secretsIn(memberAt(entry, ['client', 'key']), [...path, 'client', 'key']);
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
