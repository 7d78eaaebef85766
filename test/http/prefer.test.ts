import { expect, it } from 'vitest';
import { preferredWaitMs } from '../../src/http/headers.ts';

it.each<[string | undefined, number | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['wait=25', 25_000],
  ['wait=0', 0],
  ['WAIT = "10"', 10_000],
  ['respond-async, wait=10', 10_000],
  ['wait=10; strict', 10_000],
  ['wait=10, wait=20', 10_000],
  ['wait=ten, wait=20', undefined],
  ['wait', undefined],
  ['wait=-1', undefined],
  ['wait=1.5', undefined],
  ['wait=9999999999', undefined],
  ['waiting=10', undefined],
  ['handling=lenient', undefined],
])('reads %j as %j ms', (prefer, waitMs) => {
  expect(preferredWaitMs(prefer)).toBe(waitMs);
});
