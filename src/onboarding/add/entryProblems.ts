import { crossProblems } from '../../config/operatorsFile/crossChecks.ts';
import { operatorsFile } from '../../config/operatorsFile/definition.ts';
import { valueAt, type FileProblem } from '../../config/operatorsFile/document.ts';
import { problemsOf } from '../../config/operatorsFile/wording.ts';
import type { Draft } from './draft.ts';

/** Where an entry goes: into a file as it is, at an index. */
export interface EntryPlace {
  /** All of the file, which may be anything. */
  readonly file: unknown;
  /** Of an entry that is there, or the number of entries. */
  readonly index: number;
}

/**
 * What the reader of the file would say of an entry in its place, with paths from the entry on. Problems of other
 * entries are left out.
 *
 * @param further finds what takes more than the file, such as the secrets that it points to
 */
export function entryProblems(
  { file, index }: EntryPlace,
  draft: Draft,
  further: (value: unknown) => Iterable<FileProblem>,
): readonly FileProblem[] {
  const value = withEntry(file, index, draft);
  const issues = operatorsFile.safeParse(value).error?.issues ?? [];
  const problems = [
    ...issues.flatMap((issue) => problemsOf(issue, value)),
    ...crossProblems(value),
    ...further({ operators: { [index]: draft } }),
  ];
  return problems
    .filter(({ path }) => path[0] === 'operators' && String(path[1]) === String(index))
    .map(({ path, what }) => ({ path: path.slice(2), what }));
}

/** The entries of a file, which may be anything. Pure. */
export function entriesOf(file: unknown): readonly unknown[] {
  const entries = valueAt(file, ['operators']);
  return Array.isArray(entries) ? entries : [];
}

function withEntry(file: unknown, index: number, draft: Draft): unknown {
  const entries = entriesOf(file);
  const operators = [...entries.slice(0, index), draft, ...entries.slice(index + 1)];
  return typeof file === 'object' && file !== null ? { ...file, operators } : { operators };
}
