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
 * Which lost writes no living process knows of. A process that wrote into a number's bucket since the snapshot knows how many
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

  /** Whether a prompt of this moment is in the loss, and every process that could notice it has been killed. */
  isKnownToNobody(number: string, promptedAtMs: number): boolean {
    const { sinceMs, untilMs } = this.#loss;
    const isLost = (atMs: number): boolean => sinceMs <= atMs && atMs < untilMs;
    const exchanges = this.#exchanges.get(bucketOf(number)) ?? [];
    const knowing = exchanges.filter(({ process, atMs }) => {
      return isLost(atMs) && !this.#killed.has(process);
    });
    return isLost(promptedAtMs) && knowing.length === 0;
  }
}

function bucketOf(number: string): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a number in its one form
  return bucketOfNumber(number as PhoneNumber);
}
