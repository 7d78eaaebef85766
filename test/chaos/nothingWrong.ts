import type { Wrongness } from './chaos.ts';

/** What a run finds whose guards are all awake. */
export const NOTHING_WRONG: Wrongness = {
  wrongAnswers: 0,
  falseForUnknown: 0,
  tokensUsedTwice: 0,
  tokensOnAnotherSubject: 0,
  tokensPastTheirEnd: 0,
  numbersOfOthers: 0,
  billedTwice: 0,
  promptsWhileOneLived: 0,
  withoutAnEnd: 0,
};
