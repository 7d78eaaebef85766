import { expect, test } from 'vitest';
import { notAllowed } from '../../scripts/licences.ts';

test.each([
  ['MIT', true],
  ['Apache-2.0', true],
  ['(MIT AND BSD-3-Clause)', true],
  ['MIT OR GPL-3.0-only', true],
  ['(GPL-3.0-only OR MIT)', true],
  ['MIT AND GPL-3.0-only', false],
  ['MIT AND (ISC OR GPL-3.0-only)', false],
  ['GPL-3.0-only', false],
  ['Elastic-2.0', false],
  ['UNLICENSED', false],
  ['SEE LICENSE IN LICENSE.md', false],
  ['Apache-2.0 WITH LLVM-exception', false],
  ['', false],
  [undefined, false],
])('%j may be shipped: %j', (licence, isAllowed) => {
  const problems = notAllowed([{ name: 'a', version: '1.0.0', licence }]);
  expect(problems).toEqual(isAllowed ? [] : [`a@1.0.0: ${licence ?? 'no licence'}`]);
});
