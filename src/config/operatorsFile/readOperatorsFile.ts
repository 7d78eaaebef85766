import type { NumberDirectorySettings, OperatorSettings } from '../../operator/operatorSettings.ts';
import type { EnvironmentReader } from '../environment.ts';
import { crossProblems } from './crossChecks.ts';
import { operatorsFile, type SecretEntry } from './definition.ts';
import { readDocument, type FileProblem, type JsonDocument, type Path } from './document.ts';
import { Secrets } from './secrets.ts';
import { directoryOf, settingsOf } from './settings.ts';
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
  const text = read.file(OPERATORS_FILE, '');
  if (text === undefined) return NOTHING;
  if (text.length > MAX_CHARACTERS) {
    read.problem(OPERATORS_FILE, `must have ${MAX_CHARACTERS} characters at most`);
    return NOTHING;
  }
  const { document, problems } = readDocument(text.replace(/^\uFEFF/, ''));
  const tell = (found: Iterable<FileProblem>): void => {
    for (const problem of found) read.problem(OPERATORS_FILE, sentence(problem, document));
  };
  if (problems.length > 0) {
    tell(problems);
    return NOTHING;
  }
  const secrets = new Secrets(read.text(OPERATORS_FILE, ''), read);
  const parsed = operatorsFile.safeParse(document.value);
  const issues = parsed.error?.issues.flatMap((issue) => problemsOf(issue, document.value)) ?? [];
  const found = [
    ...issues,
    ...crossProblems(document.value),
    ...secrets.problems(document.value),
  ].toSorted((a, b) => document.lineOf(a.path) - document.lineOf(b.path));
  tell(found);
  if (!parsed.success || found.length > 0) return NOTHING;
  const secretOf = (entry: SecretEntry): string => secrets.read(entry);
  const { operators, directory } = parsed.data;
  return {
    operators: operators.map((entry) => settingsOf(entry, secretOf, keepFactsSeconds)),
    directory: directory === undefined ? undefined : directoryOf(directory, secretOf),
  };
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
