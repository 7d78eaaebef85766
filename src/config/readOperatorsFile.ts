import { dirname, resolve } from 'node:path';
import type { NumberDirectorySettings, OperatorSettings } from '../operator/operatorSettings.ts';
import type { Price } from '../domain/price.ts';
import type { FromFiles } from '../system/fromFiles.ts';
import type { EnvironmentReader } from './environment.ts';
import { crossProblems } from './crossChecks.ts';
import { operatorsFile, type OperatorsFile } from './definition.ts';
import {
  readDocument,
  sentence,
  valueAt,
  type FileProblem,
  type JsonDocument,
  type Path,
} from './document.ts';
import { readProfile, type LoadedProfile } from './profiles.ts';
import { Secrets } from './secrets.ts';
import {
  algFor,
  directoryOf,
  priceOf,
  settingsOf,
  type ForAllOperators,
  type PointedTo,
} from './entrySettings.ts';
import { IN_WORDS, problemsOf } from './wording.ts';

export interface ReadOperators {
  readonly operators: readonly OperatorSettings[];
  readonly directory: NumberDirectorySettings | undefined;
}

const NOTHING: ReadOperators = { operators: [], directory: undefined };

export interface OperatorsSource extends JsonDocument {
  /** Names of files in it are relative to its folder. */
  readonly path: string;
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
    path: read.text(name) ?? '',
    told: (problem) => [name, sentence(problem, document)],
  };
}

/** Operators that a program hands in. Names of files are relative to its working folder. */
export function operatorsHandedIn(value: object): OperatorsSource {
  const document = { value, problems: [], lineOf: () => 0 };
  return {
    ...document,
    path: 'operators',
    told: (problem) => ['operators, as handed in:', sentence(problem, document, '')],
  };
}

/**
 * Reads operators, their profiles, and the secrets that they point to. Every problem is told at once, each with where it
 * stands, and none with what stands there.
 */
export function readOperatorsOf(
  source: OperatorsSource,
  read: EnvironmentReader,
  forAll: ForAllOperators,
): ReadOperators {
  const secrets = new Secrets(source.path, read);
  const parsed = parse(source, read, secrets);
  if (parsed === undefined) return NOTHING;
  const { operators, directory } = parsed.file;
  return {
    operators: operators.flatMap((entry, index) => {
      const profile = parsed.profiles[index];
      if (profile === undefined) return [];
      const make = (pointedTo: PointedTo): OperatorSettings =>
        settingsOf(entry, profile, pointedTo, forAll);
      return withFiles(source, secrets, ['operators', index], make, profile);
    }),
    directory:
      directory &&
      withFiles(source, secrets, ['directory'], (to) => directoryOf(directory, to, forAll.egress)),
  };
}

interface SimulatorPlace {
  readonly authUrl: string;
  readonly simSwapUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * The one operator of a source, with the simulator's address and credentials in the place of its own; `undefined` where
 * something is wrong with it.
 */
export function readSimulated(
  source: OperatorsSource,
  read: EnvironmentReader,
  forAll: ForAllOperators,
): (place: SimulatorPlace) => OperatorSettings {
  const { file, profiles } = parse(source, read, NO_SECRETS) ?? {};
  const [entry, profile] = [file?.operators[0], profiles?.[0]];
  return ({ authUrl, simSwapUrl, clientId, clientSecret }) => {
    if (entry === undefined || profile === undefined) throw new Error('It has not been read.');
    const known: PointedTo = {
      read: () => clientSecret,
      source: () => ({ kind: 'text', text: clientSecret }),
    };
    const client = { ...entry.client, id: clientId };
    return settingsOf({ ...entry, authUrl, simSwapUrl, client }, profile, known, forAll);
  };
}

/** The simulator's are known once it runs. */
const NO_SECRETS: LookedAt = { problems: () => [], at: () => '' };

/** Settings that can be made again of what their files hold by then. */
type WithFiles<T> = T & { readonly fromFiles?: FromFiles<T> };

/** @param path where the entry stands in the file */
function withFiles<T extends object>(
  source: OperatorsSource,
  secrets: Secrets,
  path: Path,
  make: (pointedTo: PointedTo) => T,
  profile?: LoadedProfile,
): WithFiles<T> {
  const texts = new Map<string, string | undefined>();
  const made = make({
    read(entry) {
      if (entry.kind === 'file') texts.set(secrets.pathOf(entry), secrets.textOf(entry));
      return secrets.read(entry);
    },
    source: (entry) => secrets.source(entry),
  });
  if (texts.size === 0) return made;
  const fromFiles: FromFiles<T> = {
    texts,
    read(now) {
      const again = secrets.readingFrom((file) => now.get(file) ?? '');
      const entry = valueAt(source.value, path);
      const problems = [
        ...again.problems(entry, path),
        ...keyProblems(entry, path, profile, again),
        // Problems of the files of connections are reported where those are used.
      ].filter((problem) => !problem.path.includes('tls') && !problem.path.includes('proxy'));
      const flaw = problems.map((one) => `${source.told(one).join(' ')}.`).join(' ');
      return flaw === '' ? { kind: 'read', value: make(again) } : { kind: 'flawed', flaw };
    },
  };
  return { ...made, fromFiles };
}

/** Reads what each operator of the file bills, by its name; neither secrets nor profiles are read for it. */
export function readOperatorPrices(read: EnvironmentReader): ReadonlyMap<string, Price> {
  const source = operatorsInFile(read);
  const operators = (source && parse(source, read))?.file.operators ?? [];
  return new Map(operators.flatMap(({ name, price }) => (price ? [[name, priceOf(price)]] : [])));
}

type LookedAt = Pick<Secrets, 'at'> & { problems(value: unknown): Iterable<FileProblem> };

interface ParsedOperators {
  readonly file: OperatorsFile;
  readonly profiles: readonly (LoadedProfile | undefined)[];
}

/**
 * The operators, where nothing is wrong with them; otherwise all problems are told.
 *
 * @param secrets neither they nor profiles are looked at where absent
 */
function parse(
  source: OperatorsSource,
  read: EnvironmentReader,
  secrets?: LookedAt,
): ParsedOperators | undefined {
  const { value, profiles: named } = withNames(source.value);
  const readings =
    secrets === undefined
      ? []
      : named.map((one) => readProfile(one, dirname(resolve(source.path))));
  const profiles = readings.map((one) => (one.kind === 'loaded' ? one : undefined));
  const parsed = operatorsFile.safeParse(value, IN_WORDS);
  const issues = parsed.error?.issues.flatMap(problemsOf) ?? [];
  const cross = [
    ...crossProblems(
      value,
      profiles.map((one) => one?.profile),
    ),
    ...readings.flatMap((one, index) =>
      one.kind === 'loaded'
        ? []
        : one.problems.map((what) => ({ path: ['operators', index, 'profile'], what })),
    ),
    ...(secrets?.problems(value) ?? []),
    ...profiles.flatMap((profile, index) => {
      const path = ['operators', index];
      return [...keyProblems(valueAt(value, path), path, profile, secrets)];
    }),
  ];
  const isTold = ({ path, what }: FileProblem): boolean =>
    what.startsWith('is not a known member') &&
    cross.some((other) => path.every((part, index) => other.path[index] === part));
  // A file that is not JSON has no members. A member that is gone is reported once, with what took its place.
  const found =
    source.problems.length > 0
      ? source.problems
      : [...issues.filter((issue) => !isTold(issue)), ...cross].toSorted(
          (a, b) => source.lineOf(a.path) - source.lineOf(b.path),
        );
  for (const problem of found) read.problem(...source.told(problem));
  return found.length > 0 || parsed.data === undefined
    ? undefined
    : { file: parsed.data, profiles };
}

/** The operators with the names of their profiles alone, as the definition has them: a program may hand in a profile. */
function withNames(value: unknown): { value: unknown; profiles: readonly unknown[] } {
  const operators = valueAt(value, ['operators']);
  if (!Array.isArray(operators)) return { value, profiles: [] };
  const profiles = operators.map((one: unknown) => valueAt(one, ['profile']) ?? 'vodafone');
  if (!profiles.some(isHandedIn)) return { value, profiles };
  const named = operators.map((one: unknown, index) =>
    isHandedIn(profiles[index]) ? { ...Object(one), profile: 'handed in' } : one,
  );
  return { value: { ...Object(value), operators: named }, profiles };
}

/** A key that none of the profile's algorithms signs with. */
function* keyProblems(
  entry: unknown,
  path: Path,
  loaded: LoadedProfile | undefined,
  secrets: LookedAt = NO_SECRETS,
): Generator<FileProblem> {
  const pem = secrets.at(valueAt(entry, ['client', 'key']));
  if (loaded === undefined || pem === '' || algFor(pem, loaded.profile) !== undefined) return;
  const algs = loaded.profile.authentication.assertion.algs.join(' or ');
  const what = `must be a private key for ${algs} in PEM`;
  yield { path: [...path, 'client', 'key'], what };
}

function isHandedIn(profile: unknown): boolean {
  return typeof profile === 'function' || (typeof profile === 'object' && profile !== null);
}
