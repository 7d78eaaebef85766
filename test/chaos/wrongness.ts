/** What must be zero, each, by what reports call it. */
export const WRONG = {
  wrongAnswers: 'wrong answers',
  falseForUnknown: 'false for unknown',
  tokensUsedTwice: 'tokens used twice',
  tokensOnAnotherSubject: 'tokens on another number or scope',
  tokensPastTheirEnd: 'tokens past their end',
  /** Numbers that reached an operator whose they are not. */
  numbersOfOthers: "numbers at another's operator",
  billedTwice: 'lookups billed twice on a doubt',
  promptsWhileOneLived: 'prompts while an earlier one lived',
  withoutAnEnd: 'requests without an end',
} as const;

export type Wrongness = Readonly<Record<keyof typeof WRONG, number>>;

export function wrongnessOf(wrong: Wrongness): number {
  return Object.values<number>({ ...wrong }).reduce((sum, one) => sum + one, 0);
}
