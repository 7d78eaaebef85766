import type { NumberDirectorySettings, OperatorSettings } from '../../operator/operatorSettings.ts';
import type { Price } from '../../domain/price.ts';
import type { EnvironmentReader } from '../environment.ts';
import { crossProblems } from './crossChecks.ts';
import { AS_DATA, operatorsFile, type OperatorsFile } from './definition.ts';
import { operatorsPart } from '../settingsFile/settingsFile.ts';
import { readDocument, sentence, type FileProblem, type JsonDocument } from './document.ts';
import { Secrets } from './secrets.ts';
import { directoryOf, priceOf, settingsOf, type PointedTo } from './settings.ts';
import { problemsOf } from './wording.ts';

/** The variable that names the file in which operators stand. */
export type OperatorsSource = 'OPERATORS_FILE' | 'SETTINGS_FILE';

/** Where several operators stand; `undefined` where the one of OPERATOR_… is asked. */
export function operatorsSource(read: EnvironmentReader): OperatorsSource | undefined {
  if (read.isSet('OPERATORS_FILE')) return 'OPERATORS_FILE';
  return read.settingsFile?.hasOperators === true ? 'SETTINGS_FILE' : undefined;
}

/** What the file of operators comes to. */
export interface ReadOperators {
  readonly operators: readonly OperatorSettings[];
  readonly directory: NumberDirectorySettings | undefined;
}

const NOTHING: ReadOperators = { operators: [], directory: undefined };

/**
 * Reads the file that names the operators, and the secrets that it points to. Every problem is told at once, each with
 * its line and the path of its member, and none with what stands there.
 *
 * @param keepFactsSeconds of operators that do not say it themselves
 */
export function readOperatorsFile(
  read: EnvironmentReader,
  keepFactsSeconds: number | undefined,
): ReadOperators {
  const secrets = new Secrets(pathOf(read), read);
  const file = parseFile(read, (value) => secrets.problems(value));
  if (file === undefined) return NOTHING;
  const pointedTo: PointedTo = {
    secretOf: (entry) => secrets.read(entry),
    sourceOf: (entry) => secrets.source(entry),
  };
  const { operators, directory } = file;
  return {
    operators: operators.map((entry) => settingsOf(entry, pointedTo, keepFactsSeconds)),
    directory: directory === undefined ? undefined : directoryOf(directory, pointedTo),
  };
}

/** Reads what each operator of the file bills, by its name; no secret is read for it. */
export function readOperatorPrices(read: EnvironmentReader): ReadonlyMap<string, Price> {
  const operators = parseFile(read, () => [])?.operators ?? [];
  return new Map(
    operators.flatMap(({ name, price }) =>
      price === undefined ? [] : [[name, priceOf(price)] as const],
    ),
  );
}

/** The file, where nothing is wrong with it; otherwise all problems are told. */
function parseFile(
  read: EnvironmentReader,
  furtherProblems: (value: unknown) => Iterable<FileProblem>,
): OperatorsFile | undefined {
  const source = operatorsSource(read);
  const opened = source === undefined ? undefined : openDocument(read, source);
  if (source === undefined || opened === undefined) return undefined;
  const { document, value, problems } = opened;
  const parsed = operatorsFile.safeParse(value, AS_DATA);
  const issues = parsed.error?.issues.flatMap((issue) => problemsOf(issue, value)) ?? [];
  // What is no JSON has no members to speak of.
  const found =
    problems.length > 0
      ? problems
      : [...issues, ...crossProblems(value), ...furtherProblems(value)].toSorted(
          (a, b) => document.lineOf(a.path) - document.lineOf(b.path),
        );
  for (const problem of found) read.problem(source, sentence(problem, document));
  return found.length > 0 ? undefined : parsed.data;
}

/** Of the file, from whose folder the paths in it are taken. */
function pathOf(read: EnvironmentReader): string {
  const source = operatorsSource(read);
  return source === undefined ? '' : (read.text(source) ?? '');
}

interface OpenedDocument {
  readonly document: JsonDocument;
  /** What of the document is about operators. */
  readonly value: unknown;
  readonly problems: readonly FileProblem[];
}

function openDocument(
  read: EnvironmentReader,
  source: OperatorsSource,
): OpenedDocument | undefined {
  switch (source) {
    case 'OPERATORS_FILE': {
      const text = read.file(source, '');
      if (text === undefined) return undefined;
      const { document, problems } = readDocument(text);
      return { document, value: document.value, problems };
    }
    case 'SETTINGS_FILE': {
      const document = read.settingsFile?.document;
      if (document === undefined) return undefined;
      return { document, value: operatorsPart(document.value), problems: [] };
    }
  }
}
