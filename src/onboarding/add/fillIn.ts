import { valueAt, type FileProblem } from '../../config/operatorsFile/document.ts';
import { textAt, withMember, withoutMember, type Draft } from './draft.ts';
import { entriesOf, entryProblems } from './entryProblems.ts';
import { interview, type Answers, type Unanswered } from './interview.ts';
import { profileNames, readProfile, STANDARD_PROFILE } from './profiles.ts';
import { NAME, profileQuestion, QUESTIONS, REPLACE } from './questions.ts';

/** The names of all questions that may be asked before the entry is written. */
export const QUESTION_IDS: readonly string[] = [
  'profile',
  NAME.id,
  REPLACE.id,
  ...QUESTIONS.map(({ id }) => id),
];

/** What came of the questions. */
export type FilledIn =
  | {
      readonly kind: 'filled in';
      readonly entry: Draft;
      /** Where it goes: in the place of an entry, or behind all of them. */
      readonly index: number;
      readonly isNew: boolean;
    }
  | { readonly kind: 'not filled in'; readonly unanswered: readonly Unanswered[] }
  /** An entry of this name is there and is to stay. */
  | { readonly kind: 'kept' };

/** What the questions are asked with. */
export interface FillInParts {
  /** All of the file, which may be anything. */
  readonly file: unknown;
  readonly answers: Answers;
  /** Finds what is wrong with the secrets that a value points to. */
  readonly secretProblems: (value: unknown) => Iterable<FileProblem>;
  /** Hears what the profile says to ask the operator. */
  readonly onNotes: (notes: string) => void;
}

/** Asks for an operator's entry, from the profile on. */
export async function fillIn({
  file,
  answers,
  secretProblems,
  onNotes,
}: FillInParts): Promise<FilledIn> {
  const chosen = await interview(
    {},
    [profileQuestion(profileNames(), STANDARD_PROFILE)],
    answers,
    () => [],
  );
  // Without a profile the questions are those of the standard: all that is missing is told at once.
  const profile = readProfile(textAt(chosen.draft, ['profile']) ?? STANDARD_PROFILE);
  if (profile.notes !== '') onNotes(profile.notes);
  const entries = entriesOf(file);
  const problemsAt =
    (index: number) =>
    (draft: Draft): readonly FileProblem[] =>
      entryProblems({ file, index }, draft, secretProblems);

  const start = withoutMember(profile.entry, ['prefixes']);
  const named = await interview(start, [NAME], answers, (draft) =>
    problemsAt(indexNamed(entries, draft))(draft),
  );
  const index = named.unanswered.length > 0 ? entries.length : indexNamed(entries, named.draft);
  const isNew = index === entries.length;
  const replacing = isNew ? undefined : await interview({}, [REPLACE], answers, () => []);
  if (replacing !== undefined && textAt(replacing.draft, ['replace']) !== 'yes') {
    return { kind: 'kept' };
  }
  const first =
    entries.length === 0 ? withMember(named.draft, ['prefixes'], ['default']) : named.draft;
  const filled = await interview(first, QUESTIONS, answers, problemsAt(index));
  const unanswered = [...chosen.unanswered, ...named.unanswered, ...filled.unanswered];
  if (unanswered.length > 0) return { kind: 'not filled in', unanswered };
  // What no question is about, such as members of a profile that meet.
  const left = problemsAt(index)(filled.draft).map(({ path, what }) => ({
    id: path.join('.'),
    what,
  }));
  return left.length > 0
    ? { kind: 'not filled in', unanswered: left }
    : { kind: 'filled in', entry: filled.draft, index, isNew };
}

/** Of the entry with the draft's name, or the number of entries where none has it. Pure. */
function indexNamed(entries: readonly unknown[], draft: Draft): number {
  const index = entries.findIndex((entry) => valueAt(entry, ['name']) === draft['name']);
  return index < 0 ? entries.length : index;
}
