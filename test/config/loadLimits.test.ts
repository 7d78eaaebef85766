import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  heapForRequestsBytes,
  loadLimits,
  youngGenerationBytes,
} from '../../src/config/loadLimits.ts';
import { MemoryGroup } from '../support/memoryGroup.ts';

const MIB = 1024 * 1024;
const LIMITS = new URL('../../src/config/loadLimits.ts', import.meta.url).href;
const PRINTS = `
  import { getHeapStatistics } from 'node:v8';
  import { loadLimits, youngGenerationBytes } from ${JSON.stringify(LIMITS)};
  const memoryBytes = process.constrainedMemory();
  const heapLimitBytes = getHeapStatistics().heap_size_limit;
  const youngBytes = youngGenerationBytes(memoryBytes);
  console.log(JSON.stringify({ memoryBytes, heapLimitBytes, youngBytes, limits: loadLimits(undefined, 100, true) }));`;

interface Printed {
  readonly memoryBytes: number;
  readonly heapLimitBytes: number;
  readonly youngBytes: number;
  readonly limits: ReturnType<typeof loadLimits>;
}

/** Runs Node in a group with so much memory; `undefined` where no group can be made here. */
function inContainer(memoryMib: number, flags: readonly string[]): Printed | undefined {
  using group = MemoryGroup.make(memoryMib);
  const words = [...flags, '--input-type=module', '--eval', PRINTS];
  const run = group?.entered(process.execPath, words);
  return run && (JSON.parse(execFileSync(...run).toString()) as Printed);
}

/** Whether a group can be made here. */
function canContain(): boolean {
  using group = MemoryGroup.make(512);
  return group !== undefined;
}

describe.skipIf(!canContain())('in a container, by its memory group', () => {
  // What of the memory is young differs from one Node to the next.
  it.each([
    [256, 1052, 1095],
    // That of deploy/.
    [512, 3328, 3328],
    [1024, 5000, 5000],
  ])('of %i MiB, a process has %i to %i places', (memoryMib, min, max) => {
    const printed = inContainer(memoryMib, []);
    expect(printed?.memoryBytes).toBe(memoryMib * MIB);
    expect(printed?.limits.numbers.atWork).toBeGreaterThanOrEqual(min);
    expect(printed?.limits.numbers.atWork).toBeLessThanOrEqual(max);
  });

  it.each([320, 512, 600, 1024, 2048])(
    'of %i MiB, V8 has the young generation that is taken off its limit',
    (memoryMib) => {
      const printed = inContainer(memoryMib, ['--max-old-space-size=128']);
      const youngMib = Math.round((printed?.youngBytes ?? 0) / MIB);
      expect(Math.round((printed?.heapLimitBytes ?? 0) / MIB) - 128).toBe(youngMib);
      expect(printed?.limits.numbers.atWork).toBe(1280);
    },
  );
});

describe('the heap for requests', () => {
  it.each([
    ['a large machine', 4096, 24_105, 4048, 4048],
    ['--max-old-space-size=2048 on it', 2048, 24_105, 2000, 2000],
    // What is left of it differs by what is young.
    ['a container that is smaller than its heap may be', 2048, 990, 675, 703],
    ['hardly any memory', 256, 100, 16, 16],
  ])('follows %s', (_what, oldMib, memoryMib, minMib, maxMib) => {
    const memoryBytes = memoryMib * MIB;
    const limitBytes = oldMib * MIB + youngGenerationBytes(memoryBytes);
    const heapMib = heapForRequestsBytes(limitBytes, memoryBytes) / MIB;
    expect(heapMib).toBeGreaterThanOrEqual(minMib);
    expect(heapMib).toBeLessThanOrEqual(maxMib);
  });
});
