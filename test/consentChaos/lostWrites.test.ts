import { expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { bucketOfNumber } from '../../src/sharedState/redis.ts';
import { LostWrites } from './lostWrites.ts';

const [ALICE = '', ...OTHERS] = Array.from(
  { length: 1000 },
  (_, n) => `+447700900${String(n).padStart(3, '0')}`,
);
const NEIGHBOUR = someoneElse((bucket) => bucket === bucketOfNumber(ALICE as PhoneNumber));
const STRANGER = someoneElse((bucket) => bucket !== bucketOfNumber(ALICE as PhoneNumber));

function someoneElse(isIn: (bucket: number) => boolean): string {
  return OTHERS.find((number) => isIn(bucketOfNumber(number as PhoneNumber))) ?? '';
}

/** The store went back to its snapshot of 1000 at 5000; `first` prompted about Alice, and `second` prompts again. */
it.each<
  readonly [
    excused: boolean,
    when: string,
    promptedAtMs: number,
    killed: readonly string[],
    others: readonly (readonly [process: string, number: string, atMs: number])[],
    againAtMs?: number,
  ]
>([
  [true, 'the process that prompted was killed', 2000, ['first'], []],
  [false, 'the process that prompted lives', 2000, [], []],
  [true, 'that process has had no time to look', 2000, [], [], 5499],
  [false, 'that process has had time to look', 2000, [], [], 5500],
  [false, 'the prompt is in the snapshot, and nobody has looked', 999, ['first'], [], 5499],
  [false, 'another process was killed', 2000, ['third'], []],
  [false, 'the prompt is in the snapshot', 999, ['first'], []],
  [true, 'the prompt is the first that is not in it', 1000, ['first'], []],
  [false, 'the prompt came after the loss', 5000, ['first'], []],
  [false, 'a living process polled', 2000, ['first'], [['third', ALICE, 3000]]],
  [true, 'the one that polled was killed too', 2000, ['first', 'third'], [['third', ALICE, 3000]]],
  [false, 'the one that prompts again had polled', 2000, ['first'], [['second', ALICE, 3000]]],
  [false, 'a living process wrote beside it', 2000, ['first'], [['third', NEIGHBOUR, 3000]]],
  [true, 'it wrote there before the snapshot', 2000, ['first'], [['third', NEIGHBOUR, 900]]],
  [true, 'it wrote there after the loss', 2000, ['first'], [['third', NEIGHBOUR, 5500]]],
  [true, 'it wrote into another bucket', 2000, ['first'], [['third', STRANGER, 3000]]],
])(
  'a second prompt is excused: %s, where %s',
  (excused, _, promptedAtMs, killed, others, againAtMs = 6000) => {
    const lost = new LostWrites();
    lost.exchanged('first', ALICE, promptedAtMs);
    for (const [process, number, atMs] of others) lost.exchanged(process, number, atMs);
    for (const process of killed) lost.killed(process);
    lost.wentBack(1000, 5000);
    expect(lost.isNoticedByNobody(ALICE, promptedAtMs, againAtMs)).toBe(excused);
  },
);

it('no second prompt is excused while the store has lost nothing', () => {
  const lost = new LostWrites();
  lost.exchanged('first', ALICE, 2000);
  lost.killed('first');
  expect(lost.isNoticedByNobody(ALICE, 2000, 2100)).toBe(false);
});
