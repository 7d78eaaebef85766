import type { NumberDirectorySettings, OperatorSettings } from '../../operator/operatorSettings.ts';
import type { Price } from '../../domain/price.ts';
import type { EnvironmentReader } from '../environment.ts';
import { crossProblems } from './crossChecks.ts';
import { AS_DATA, operatorsFile, type OperatorsFile, type SecretEntry } from './definition.ts';
import { readDocument, type FileProblem, type JsonDocument, type Path } from './document.ts';
import { Secrets } from './secrets.ts';
import { directoryOf, priceOf, settingsOf } from './settings.ts';
import { problemsOf } from './wording.ts';

/** The variable that names the file. */
export const OPERATORS_FILE = 'OPERATORS_FILE';

/** What the file of operators comes to. */
export interface ReadOperators {
  readonly operators: readonly OperatorSettings[];
  readonly directory: NumberDirectorySettings | undefined;
}

const NOTHING: ReadOperators = { operators: [], directory: undefined };

/** A longer file is not that of operators. */
const MAX_CHARACTERS = 1_000_000;

/**
 * Reads the file that OPERATORS_FILE names, and the secrets that it points to. Every problem is told at once, each with
 * its line and the path of its member, and none with what stands there.
 *
 * @param keepFactsSeconds of operators that do not say it themselves
 */
export function readOperatorsFile(
  read: EnvironmentReader,
  keepFactsSeconds: number | undefined,
): ReadOperators {
  const secrets = new Secrets(read.text(OPERATORS_FILE) ?? '', read);
  const file = parseFile(read, (value) => secrets.problems(value));
  if (file === undefined) return NOTHING;
  const secretOf = (entry: SecretEntry): string => secrets.read(entry);
  const { operators, directory } = file;
  return {
    operators: operators.map((entry) => settingsOf(entry, secretOf, keepFactsSeconds)),
    directory: directory === undefined ? undefined : directoryOf(directory, secretOf),
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
  const text = read.file(OPERATORS_FILE, '');
  if (text === undefined) return undefined;
  if (text.length > MAX_CHARACTERS) {
    read.problem(OPERATORS_FILE, `must have ${MAX_CHARACTERS} characters at most`);
    return undefined;
  }
  const { document, problems } = readDocument(text.replace(/^\uFEFF/, ''));
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
  for (const problem of found) read.problem(OPERATORS_FILE, sentence(problem, document));
  return found.length > 0 ? undefined : parsed.data;
}

function sentence({ path, what }: FileProblem, document: JsonDocument): string {
  if (path.length === 0) return what;
  return `(line ${document.lineOf(path)}): ${pathText(path)} ${what}`;
}

/** `operators[0].client.secret`. Pure. */
function pathText(path: Path): string {
  return path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      return /^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
    })
    .join('')
    .replace(/^\./, '');
}
