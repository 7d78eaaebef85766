import { nearestName } from '../../config/settingNames.ts';
import type { Answers, AskedQuestion } from './interview.ts';

/** Answers that were written down: what is read of them, and the lines that say nothing. */
export interface ReadAnswers {
  readonly answers: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/** Reads `client.id = demo`, one a line; empty lines, and those that begin with #, are passed over. Pure. */
export function readAnswers(text: string, known: readonly string[]): ReadAnswers {
  const answers = new Map<string, string>();
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const { name = '', answer = '' } = LINE.exec(line)?.groups ?? {};
    const at = `Line ${index + 1}`;
    if (name === '') problems.push(`${at} is not name = answer.`);
    else if (!known.includes(name)) problems.push(`${at}: ${unknown(name, known)}`);
    else if (answers.has(name)) problems.push(`${at}: ${name} is answered twice.`);
    else answers.set(name, answer);
  }
  return { answers, problems };
}

const LINE = /^\s*(?<name>[A-Za-z][\w.-]*)\s*=\s*(?<answer>.*?)\s*$/;

function unknown(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known)?.name;
  return meant === undefined
    ? `${name} is not asked for. Questions: ${known.join(', ')}.`
    : `${name} is not asked for. Did you mean ${meant}?`;
}

/** Answers each question once, from what was written down. */
export class WrittenAnswers implements Answers {
  readonly #answers: ReadonlyMap<string, string>;

  constructor(answers: ReadonlyMap<string, string>) {
    this.#answers = answers;
  }

  to({ id }: AskedQuestion, problem?: string): Promise<string | undefined> {
    return Promise.resolve(problem === undefined ? (this.#answers.get(id) ?? '') : undefined);
  }
}
