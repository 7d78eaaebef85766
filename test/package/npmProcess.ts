import { onTestFinished } from 'vitest';
import { Program } from '../support/program.ts';

/** `npm …` in a process group of its own, as a terminal starts it; all of it ends with the test. */
export class NpmProcess extends Program {
  constructor(words: readonly string[], settings: Readonly<Record<string, string>> = {}) {
    super('npm', words, settings, { hasOwnGroup: true });
    onTestFinished(() => this[Symbol.asyncDispose]());
  }
}
