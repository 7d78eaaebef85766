import type { Interface } from 'node:readline/promises';
import type { Answers, AskedQuestion } from './interview.ts';
import { NOTHING } from './questions.ts';

/** Asks a person at a terminal, who may leave at any question: by Ctrl-C or Ctrl-D. */
export class TypedAnswers implements Answers {
  readonly #reader: Interface;
  readonly #closing = new AbortController();

  constructor(reader: Interface) {
    this.#reader = reader;
    reader.once('close', () => this.#closing.abort());
  }

  async to(asked: AskedQuestion, problem?: string): Promise<string | undefined> {
    const retry = problem === undefined ? '' : `  Your answer ${problem}.\n`;
    try {
      return await this.#reader.question(`${retry}${promptFor(asked)}`, {
        signal: this.#closing.signal,
      });
    } catch {
      return undefined;
    }
  }

  /** Whether the person has left. */
  get hasLeft(): boolean {
    return this.#closing.signal.aborted;
  }
}

/** `Client id [demo]: `. Pure. */
export function promptFor({ asks, choices, standard, isOptional }: AskedQuestion): string {
  const listed = choices === undefined ? '' : ` (${choices.join(', ')})`;
  const otherwise = isOptional ? (standard ?? 'nothing') : standard;
  const clears = isOptional && standard !== undefined ? `, ${NOTHING} for nothing` : '';
  return `${asks}${listed}${otherwise === undefined ? '' : ` [${otherwise}${clears}]`}: `;
}
