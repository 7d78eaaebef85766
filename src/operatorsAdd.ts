import { statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { settingsOf } from './auditArguments.ts';
import { readOperatorsFileName, secretProblemsBy } from './config.ts';
import { pathText, readDocument, valueAt, type Path } from './config/operatorsFile/document.ts';
import { errorName } from './errors.ts';
import { placeholdersIn, textAt, type Draft } from './onboarding/add/draft.ts';
import { emptyFile, withEntryText } from './onboarding/add/fileText.ts';
import { fillIn, QUESTION_IDS, type FilledIn } from './onboarding/add/fillIn.ts';
import { interview, type Answers, type Unanswered } from './onboarding/add/interview.ts';
import { WRITE } from './onboarding/add/questions.ts';
import { replaceFile, textOf } from './onboarding/add/replaceFile.ts';
import { TypedAnswers } from './onboarding/add/typedAnswers.ts';
import { readAnswers, WrittenAnswers } from './onboarding/add/writtenAnswers.ts';
import { fail } from './termination.ts';

export const ADD_USAGE = `npm run operators -- add [--file FILE]
  Asks what the onboarding papers of an operator say, and writes its entry; everything else in the file stays.
  FILE  where it goes; OPERATORS_FILE if left out, or else operators.jsonc
  Without a terminal the answers are read from standard input, name = answer, one a line:
  ${QUESTION_IDS.join(', ')}
`;

/** `operators -- add`. Ends the program where nothing is written. */
export async function addOperator(words: readonly string[]): Promise<void> {
  const { path, isSet } = filePath(words);
  const before = await existing(path);
  const text = before ?? emptyFile(schemaFrom(path));
  const desk = process.stdin.isTTY ? typedDesk() : await writtenDesk();
  const filled = await fillIn({
    file: parsed(path, text),
    answers: desk.answers,
    secretProblems: secretProblemsBy(path),
    onNotes: (notes) => desk.say(`\n${notes}\n\n`),
  });
  const { entry, index, isNew } = desk.complete(filled);
  desk.say(`\n${JSON.stringify(entry, null, 2)}\n\n`);
  if (!(await desk.confirm())) fail(NOTHING_WRITTEN);
  const replaced = await replaceFile(path, before, withEntryText(text, entry, index, isNew));
  switch (replaced.kind) {
    case 'written':
      process.stdout.write(farewell(path, isSet, entry));
      return;
    case 'changed meanwhile':
      return fail(`${path} has changed meanwhile. ${NOTHING_WRITTEN} Run the command again.`);
    case 'being written':
      return fail(
        `Another add writes ${path} just now. ${NOTHING_WRITTEN} If none does, remove ${replaced.by} and run the command again.`,
      );
    case 'failed':
      return fail(`${path} cannot be written (${replaced.code}). ${NOTHING_WRITTEN}`);
  }
}

const NOTHING_WRITTEN = 'Nothing was written.';

/** Where questions are answered. */
interface Desk {
  readonly answers: Answers;
  say(text: string): void;
  /** The entry, or the end of the program. */
  complete(filled: FilledIn): Extract<FilledIn, { kind: 'filled in' }>;
  confirm(): Promise<boolean>;
}

function typedDesk(): Desk {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  const answers = new TypedAnswers(reader);
  // It may be waiting for nothing else by then.
  reader.once('close', leave);
  return {
    answers,
    say: (text) => void process.stdout.write(text),
    complete: (filled) => {
      switch (filled.kind) {
        case 'filled in':
          return filled;
        case 'kept':
          return fail(`The entry stays as it is. ${NOTHING_WRITTEN}`);
        case 'not filled in':
          return fail(missingText(filled.unanswered));
      }
    },
    async confirm() {
      const { draft } = await interview({}, [WRITE], answers, () => []);
      reader.off('close', leave);
      reader.close();
      return textAt(draft, ['write']) === 'yes';
    },
  };
}

async function writtenDesk(): Promise<Desk> {
  const { answers, problems } = readAnswers(await readAll(process.stdin), QUESTION_IDS);
  if (problems.length > 0) fail([...problems, NOTHING_WRITTEN].join('\n'));
  return {
    answers: new WrittenAnswers(answers),
    say: () => undefined,
    complete: (filled) => {
      switch (filled.kind) {
        case 'filled in':
          return filled;
        case 'kept':
          return fail(
            `An entry has this name already. ${NOTHING_WRITTEN} Answer replace = yes to put this one in its place.`,
          );
        case 'not filled in':
          return fail(missingText(filled.unanswered));
      }
    },
    confirm: () => Promise.resolve(true),
  };
}

function leave(): never {
  return fail(`\n${NOTHING_WRITTEN}`);
}

function missingText(unanswered: readonly Unanswered[]): string {
  return [
    `${NOTHING_WRITTEN} These answers are needed, name = answer, one a line:`,
    ...unanswered.map(({ id, what }) => `  ${id} ${what}`),
  ].join('\n');
}

/** Where the entry goes, and whether the settings name that file. */
function filePath(words: readonly string[]): { readonly path: string; readonly isSet: boolean } {
  try {
    const { values } = parseArgs({ args: [...words], options: { file: { type: 'string' } } });
    const set = settingsOf(readOperatorsFileName);
    const path = resolve(values.file ?? set ?? 'operators.jsonc');
    return { path, isSet: set !== undefined && resolve(set) === path };
  } catch {
    return fail(ADD_USAGE);
  }
}

async function existing(path: string): Promise<string | undefined> {
  try {
    return await textOf(path);
  } catch (error) {
    return fail(`${path} cannot be read (${errorName(error)}).`);
  }
}

function parsed(path: string, text: string): unknown {
  const { document, problems } = readDocument(text.replace(/^\uFEFF/, ''));
  const [problem] = problems;
  const { value } = document;
  if (problem !== undefined) {
    fail(`${path} ${pathText(problem.path)} ${problem.what}. Correct it first. ${NOTHING_WRITTEN}`);
  }
  const operators = valueAt(value, ['operators']);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || (operators !== undefined && !Array.isArray(operators))) {
    fail(`${path} is no file of operators, an object with a list "operators". ${NOTHING_WRITTEN}`);
  }
  return value;
}

/** As the new file names it, for editors. */
function schemaFrom(path: string): string {
  const schema = fileURLToPath(new URL('../schema/operators.schema.json', import.meta.url));
  const from = relative(dirname(path), schema);
  return from.startsWith('.') ? from : `./${from}`;
}

function farewell(path: string, isSet: boolean, entry: Draft): string {
  const name = textAt(entry, ['name']) ?? '';
  const open = placeholdersIn(entry).map(pathText);
  const shared = secretFiles(entry).filter((file) => isReadByOthers(resolve(dirname(path), file)));
  return [
    `Written to ${path}.`,
    ...(open.length > 0 ? [`Still to be filled in there: ${open.join(', ')}.`] : []),
    ...shared.map((file) => `Others can read ${file}: chmod 600 ${file}`),
    `Now try it; nobody is asked about:`,
    `  ${isSet ? '' : `OPERATORS_FILE=${path} `}npm run operators -- check --operator ${name}`,
    '',
  ].join('\n');
}

/** The files that an entry points to. Pure. */
function secretFiles(value: unknown, path: Path = []): readonly string[] {
  if (typeof value === 'string') return path.at(-1) === 'file' ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => secretFiles(member, [...path, name]));
}

function isReadByOthers(path: string): boolean {
  try {
    return (statSync(path).mode & 0o077) !== 0;
  } catch {
    return false;
  }
}
