import type { NumberDirectorySettings, OperatorSettings } from '../operator/operatorSettings.ts';
import type { Price } from '../domain/price.ts';
import type { FromFiles } from '../files/fromFiles.ts';
import type { EnvironmentReader } from './environment.ts';
import { crossProblems } from './crossChecks.ts';
import { AS_DATA, operatorsFile, type OperatorsFile } from './definition.ts';
import {
  readDocument,
  sentence,
  valueAt,
  type FileProblem,
  type JsonDocument,
  type Path,
} from './document.ts';
import { Secrets } from './secrets.ts';
import {
  directoryOf,
  priceOf,
  settingsOf,
  type ForAllOperators,
  type PointedTo,
} from './entrySettings.ts';
import { problemsOf } from './wording.ts';

const SOURCE = 'OPERATORS_FILE';

/** What the file of operators comes to. */
export interface ReadOperators {
  readonly operators: readonly OperatorSettings[];
  readonly directory: NumberDirectorySettings | undefined;
}

const NOTHING: ReadOperators = { operators: [], directory: undefined };

/**
 * Reads the file that names the operators, and the secrets that it points to. Every problem is told at once, each with
 * its line and the path of its member, and none with what stands there.
 */
export function readOperatorsFile(read: EnvironmentReader, forAll: ForAllOperators): ReadOperators {
  const secrets = new Secrets(read.text(SOURCE) ?? '', read);
  const parsed = parseFile(read, (value) => secrets.problems(value));
  if (parsed === undefined) return NOTHING;
  const { operators, directory } = parsed.file;
  const follow: Followed = { read, secrets, parsed };
  return {
    operators: operators.map((entry, index) =>
      withFiles(follow, ['operators', index], (pointedTo) => settingsOf(entry, pointedTo, forAll)),
    ),
    directory:
      directory === undefined
        ? undefined
        : withFiles(follow, ['directory'], (pointedTo) =>
            directoryOf(directory, pointedTo, forAll.egress),
          ),
  };
}

/** What is read again when a file changes that it points to. */
interface Followed {
  readonly read: EnvironmentReader;
  readonly secrets: Secrets;
  readonly parsed: ParsedFile;
}

/** Settings that can be made again of what their files hold by then. */
type WithFiles<T> = T & { readonly fromFiles?: FromFiles<T> };

/** @param path where the entry stands in the file */
function withFiles<T extends object>(
  { read, secrets, parsed }: Followed,
  path: Path,
  make: (pointedTo: PointedTo) => T,
): WithFiles<T> {
  const texts = new Map<string, string | undefined>();
  const made = make({
    secretOf(entry) {
      if (entry.kind === 'file') texts.set(secrets.pathOf(entry), secrets.textOf(entry));
      return secrets.read(entry);
    },
    sourceOf: (entry) => secrets.source(entry),
  });
  if (texts.size === 0) return made;
  const fromFiles: FromFiles<T> = {
    texts,
    read(now) {
      const again = new Secrets(read.text(SOURCE) ?? '', read, (file) => now.get(file) ?? '');
      const { document } = parsed;
      const problems = [...again.problems(valueAt(document.value, path), path)].filter(
        // Of connections other files are told of where they are used.
        (problem) => !isOfConnection(problem.path),
      );
      return problems.length > 0
        ? {
            kind: 'flawed',
            flaw: problems.map((one) => `${SOURCE} ${sentence(one, document)}.`).join(' '),
          }
        : { kind: 'read', value: make(pointedToBy(again)) };
    },
  };
  return { ...made, fromFiles };
}

function pointedToBy(secrets: Secrets): PointedTo {
  return {
    secretOf: (entry) => secrets.read(entry),
    sourceOf: (entry) => secrets.source(entry),
  };
}

function isOfConnection(path: Path): boolean {
  return path.includes('tls') || path.includes('proxy');
}

/** Reads what each operator of the file bills, by its name; no secret is read for it. */
export function readOperatorPrices(read: EnvironmentReader): ReadonlyMap<string, Price> {
  const operators = parseFile(read, () => [])?.file.operators ?? [];
  return new Map(
    operators.flatMap(({ name, price }) =>
      price === undefined ? [] : [[name, priceOf(price)] as const],
    ),
  );
}

interface ParsedFile {
  readonly document: JsonDocument;
  readonly file: OperatorsFile;
}

/** The file, where nothing is wrong with it; otherwise all problems are told. */
function parseFile(
  read: EnvironmentReader,
  furtherProblems: (value: unknown) => Iterable<FileProblem>,
): ParsedFile | undefined {
  const text = read.file(SOURCE, '');
  if (text === undefined) return undefined;
  const { document, problems } = readDocument(text);
  const { value } = document;
  const parsed = operatorsFile.safeParse(value, AS_DATA);
  const issues = parsed.error?.issues.flatMap((issue) => problemsOf(issue, value)) ?? [];
  // What is no JSON has no members to speak of.
  const found =
    problems.length > 0
      ? problems
      : [...issues, ...crossProblems(value), ...furtherProblems(value)].toSorted(
          (a, b) => document.lineOf(a.path) - document.lineOf(b.path),
        );
  for (const problem of found) read.problem(SOURCE, sentence(problem, document));
  return found.length > 0 || parsed.data === undefined
    ? undefined
    : { document, file: parsed.data };
}
