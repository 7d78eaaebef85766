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

interface Told {
  readonly promptedAtMs?: number;
  readonly killed?: readonly string[];
  readonly others?: readonly (readonly [process: string, number: string, atMs: number])[];
  readonly againAtMs?: number;
}

const KILLED = { killed: ['first'] } as const;

/** The store went back to its snapshot of 1000 at 5000; `first` prompted about Alice, and `second` prompts again. */
it.each<readonly [excused: boolean, when: string, told: Told]>([
  [true, 'the process that prompted was killed', KILLED],
  [false, 'the process that prompted lives', {}],
  [true, 'that process has had no time to look', { againAtMs: 6999 }],
  [false, 'that process has had time to look', { againAtMs: 7000 }],
  [false, 'another process was killed', { killed: ['third'] }],
  [false, 'the prompt is in the snapshot', { ...KILLED, promptedAtMs: 999 }],
  [false, 'it is, and nobody has looked', { ...KILLED, promptedAtMs: 999, againAtMs: 6999 }],
  [true, 'the prompt is the first that is not in it', { ...KILLED, promptedAtMs: 1000 }],
  [false, 'the prompt came after the loss', { ...KILLED, promptedAtMs: 5000 }],
  [false, 'a living process polled', { ...KILLED, others: [['third', ALICE, 3000]] }],
  [
    true,
    'the one that polled was killed too',
    { killed: ['first', 'third'], others: [['third', ALICE, 3000]] },
  ],
  [
    false,
    'the one that prompts again had polled',
    { ...KILLED, others: [['second', ALICE, 3000]] },
  ],
  [false, 'a living process wrote beside it', { ...KILLED, others: [['third', NEIGHBOUR, 3000]] }],
  [true, 'it did before the snapshot', { ...KILLED, others: [['third', NEIGHBOUR, 900]] }],
  [true, 'it did after the loss', { ...KILLED, others: [['third', NEIGHBOUR, 5500]] }],
  [true, 'it wrote into another bucket', { ...KILLED, others: [['third', STRANGER, 3000]] }],
])('a second prompt is excused: %s, where %s', (excused, _, told) => {
  const { promptedAtMs = 2000, killed = [], others = [], againAtMs = 8000 } = told;
  const lost = new LostWrites();
  lost.exchanged('first', ALICE, promptedAtMs);
  for (const [process, number, atMs] of others) lost.exchanged(process, number, atMs);
  for (const process of killed) lost.killed(process);
  lost.wentBack(1000, 5000);
  expect(lost.isNoticedByNobody(ALICE, promptedAtMs, againAtMs)).toBe(excused);
});

it('no second prompt is excused while the store has lost nothing', () => {
  const lost = new LostWrites();
  lost.exchanged('first', ALICE, 2000);
  lost.killed('first');
  expect(lost.isNoticedByNobody(ALICE, 2000, 2100)).toBe(false);
});
