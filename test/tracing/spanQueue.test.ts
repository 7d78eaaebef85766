import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { SpanOutcome } from '../../src/telemetry/metricDefinitions.ts';
import { MAX_WAITING, SpanQueue } from '../../src/telemetry/spanQueue.ts';

function span(): ReadableSpan {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the queue looks into none
  return {} as ReadableSpan;
}

/** A target that takes a batch when the test says so. */
class HeldTarget {
  readonly batches: number[] = [];
  readonly counts: Record<SpanOutcome, number> = { sent: 0, failed: 0, dropped: 0 };
  readonly #held: ((reason: string | undefined) => void)[] = [];

  send(spans: readonly ReadableSpan[]): Promise<string | undefined> {
    this.batches.push(spans.length);
    return new Promise((resolve) => this.#held.push(resolve));
  }

  report(outcome: SpanOutcome, spans: number): void {
    this.counts[outcome] += spans;
  }

  take(reason?: string): void {
    this.#held.shift()?.(reason);
  }
}

it('holds a bounded number of spans while a collector takes none', async () => {
  const target = new HeldTarget();
  const queue = new SpanQueue(target);
  for (let index = 0; index < 10_000; index += 1) queue.onEnd(span());
  // One batch is under way.
  expect(target.batches).toEqual([512]);
  expect(target.counts).toEqual({ sent: 0, failed: 0, dropped: 10_000 - MAX_WAITING - 512 });

  const ending = queue.shutdown();
  queue.drop();
  target.take('closed');
  await ending;
  expect(target.counts).toEqual({ sent: 0, failed: 512, dropped: 10_000 - 512 });
});

it('sends one batch at a time, and the rest at the end', async () => {
  const target = new HeldTarget();
  const queue = new SpanQueue(target);
  for (let index = 0; index < 700; index += 1) queue.onEnd(span());
  expect(target.batches).toEqual([512]);
  const ending = queue.shutdown();
  target.take();
  await expect.poll(() => target.batches).toEqual([512, 188]);
  target.take();
  await ending;
  expect(target.counts).toEqual({ sent: 700, failed: 0, dropped: 0 });
  queue.onEnd(span());
  expect(target.counts.dropped).toBe(1);
});

it('sends a single span in time, also after a flush that waited for a slow collector', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const target = new HeldTarget();
  const queue = new SpanQueue(target);
  queue.onEnd(span());
  await vi.advanceTimersByTimeAsync(5000);
  queue.onEnd(span());
  // The next flush is due while the first batch is under way, which takes along what waits.
  await vi.advanceTimersByTimeAsync(5000);
  target.take();
  await vi.advanceTimersByTimeAsync(0);
  target.take();
  await vi.advanceTimersByTimeAsync(0);
  expect(target.counts.sent).toBe(2);

  queue.onEnd(span());
  await vi.advanceTimersByTimeAsync(5000);
  expect(target.batches).toEqual([1, 1, 1]);
});

it.each([
  [
    'throws',
    () => {
      throw new TypeError('no bytes');
    },
  ],
  ['rejects', () => Promise.reject(new TypeError('no bytes'))],
])(
  'continues after a batch at which its target %s',
  async (_, send: () => Promise<string | undefined>) => {
    const reported: unknown[] = [];
    const queue = new SpanQueue({ send, report: (...what) => void reported.push(what) });
    queue.onEnd(span());
    await queue.forceFlush();
    queue.onEnd(span());
    await queue.shutdown();
    expect(reported).toEqual([
      ['failed', 1, 'TypeError'],
      ['failed', 1, 'TypeError'],
    ]);
  },
);
