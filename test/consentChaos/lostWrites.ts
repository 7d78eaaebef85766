import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { bucketOfNumber } from '../../src/sharedState/redis.ts';

/** Writes from the first moment until just before the last one are lost, in milliseconds since 1970. */
interface Loss {
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface Exchange {
  readonly process: string;
  readonly atMs: number;
}

/**
 * A process that knows of the loss looks at all buckets once its connection is made again, within half a second on a machine
 * that has time. A prompt that was decided before may have left.
 */
const LOOKS_WITHIN_MS = 2000;

/**
 * Which lost writes no living process has noticed. A process that wrote into a number's bucket since the snapshot knows how many
 * writes that had, so that it notices the loss; it writes before each of its exchanges.
 */
export class LostWrites {
  readonly #killed = new Set<string>();
  readonly #exchanges = new Map<number, Exchange[]>();
  #loss: Loss = { sinceMs: Infinity, untilMs: -Infinity };

  killed(process: string): void {
    this.#killed.add(process);
  }

  exchanged(process: string, number: string, atMs: number): void {
    const bucket = bucketOf(number);
    const exchanges = this.#exchanges.get(bucket) ?? [];
    exchanges.push({ process, atMs });
    this.#exchanges.set(bucket, exchanges);
  }

  wentBack(sinceMs: number, atMs: number): void {
    this.#loss = { sinceMs, untilMs: atMs };
  }

  /** Whether a prompt of this moment is in the loss, and every process that could have noticed it by now has been killed. */
  isNoticedByNobody(number: string, promptedAtMs: number, nowMs: number): boolean {
    const { sinceMs, untilMs } = this.#loss;
    const isLost = (atMs: number): boolean => sinceMs <= atMs && atMs < untilMs;
    if (!isLost(promptedAtMs)) return false;
    if (nowMs < untilMs + LOOKS_WITHIN_MS) return true;
    const exchanges = this.#exchanges.get(bucketOf(number)) ?? [];
    return !exchanges.some(({ process, atMs }) => isLost(atMs) && !this.#killed.has(process));
  }
}

function bucketOf(number: string): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a number in its one form
  return bucketOfNumber(number as PhoneNumber);
}
