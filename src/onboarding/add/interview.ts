import type { FileProblem, Path } from '../../config/operatorsFile/document.ts';
import type { Draft } from './draft.ts';
import type { Question } from './questions.ts';

/** Where answers come from: a person at a terminal, or a file. */
export interface Answers {
  /**
   * The answer to a question, the empty text where it is left to its default, or `undefined` where there is none to
   * be had: also to a question that was answered badly, with what is wrong.
   */
  to(question: AskedQuestion, problem?: string): Promise<string | undefined>;
}

/** A question as it is asked now. */
export interface AskedQuestion extends Pick<Question, 'id' | 'asks' | 'choices' | 'isOptional'> {
  readonly standard: string | undefined;
}

/** What is wrong with an entry as it would stand in the file. */
export type ProblemsOf = (draft: Draft) => readonly FileProblem[];

/** A question that was left without a good answer. */
export interface Unanswered {
  readonly id: string;
  /** The end of a sentence: `is missing`. */
  readonly what: string;
}

export interface Interviewed {
  readonly draft: Draft;
  readonly unanswered: readonly Unanswered[];
}

/**
 * Asks what the entry has to know. Each answer is judged by the reader of the file itself, in its place in the file,
 * and asked for again while there is another one to be had.
 */
export async function interview(
  start: Draft,
  questions: readonly Question[],
  answers: Answers,
  problemsOf: ProblemsOf,
): Promise<Interviewed> {
  let draft = start;
  const unanswered: Unanswered[] = [];
  for (const question of questions) {
    if (!question.isAsked(draft)) continue;
    const answered = await answerTo(question, draft, answers, problemsOf);
    switch (answered.kind) {
      case 'answered':
        draft = answered.draft;
        break;
      case 'unanswered':
        unanswered.push({ id: question.id, what: answered.what });
    }
  }
  return { draft, unanswered };
}

type Answered =
  | { readonly kind: 'answered'; readonly draft: Draft }
  | { readonly kind: 'unanswered'; readonly what: string };

async function answerTo(
  question: Question,
  draft: Draft,
  answers: Answers,
  problemsOf: ProblemsOf,
): Promise<Answered> {
  const { id, asks, choices, isOptional } = question;
  const standard = question.defaultOf(draft);
  const asked: AskedQuestion = {
    id,
    asks,
    isOptional,
    standard,
    ...(choices === undefined ? {} : { choices }),
  };
  let problem: string | undefined;
  for (;;) {
    const given = await answers.to(asked, problem);
    if (given === undefined) return { kind: 'unanswered', what: problem ?? 'is missing' };
    const text = given.trim() === '' ? standard : given.trim();
    if (text === undefined && isOptional) return { kind: 'answered', draft };
    if (text !== undefined && choices?.includes(text) === false) {
      problem = `must be one of ${choices.join(', ')}`;
      continue;
    }
    const answered = text === undefined ? undefined : question.apply(draft, text);
    problem =
      answered === undefined ? 'is missing' : problemAt(question.path, problemsOf(answered));
    if (problem === undefined && answered !== undefined)
      return { kind: 'answered', draft: answered };
  }
}

/** The first problem with what stands at the path or below it; what was answered is not quoted. Pure. */
function problemAt(path: readonly string[], problems: readonly FileProblem[]): string | undefined {
  return problems.find((problem) => isBelow(problem.path, path))?.what;
}

function isBelow(path: Path, above: readonly string[]): boolean {
  return above.every((part, index) => path[index] === part);
}
