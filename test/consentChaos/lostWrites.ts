/** The numbers that a server held, by their last digits or in whatever way tells them. */
export type Holds = (number: string) => boolean;

interface Loss {
  readonly what: string;
  /** Whether answers alone are lost, since of prompts it must be known that something is not known. */
  readonly isOfAnswers: boolean;
  readonly holds: Holds;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A write is known to a master, and acknowledged, before its replica has it; on a busy machine, so much before. */
const REPLICATION_MS = 1000;
/** What is written next follows what speaks against a prompt by no more. */
const WRITTEN_WITHIN_MS = 500;

/**
 * Which writes a cluster may have lost although it had acknowledged them (docs/reliability.md): replication is
 * asynchronous, and a master that dies with its replica takes all along.
 */
export class LostWrites {
  readonly #losses: Loss[] = [];

  /** A master was replaced by its replica that had no time to pass its last writes on. */
  failedOver(holds: Holds, fromMs: number, untilMs: number): void {
    const what = 'a master was replaced by its replica meanwhile';
    this.#losses.push({
      what,
      isOfAnswers: false,
      holds,
      fromMs: fromMs - REPLICATION_MS - WRITTEN_WITHIN_MS,
      untilMs,
    });
  }

  /** A master and its replica came back empty: the doubt must cover the prompts that lived. */
  forgot(holds: Holds, atMs: number): void {
    this.#losses.push({ what: 'forgotten', isOfAnswers: true, holds, fromMs: 0, untilMs: atMs });
  }

  /** Why what was written at a time may be unknown; `undefined` where it must be known. */
  reasonFor(number: string, writtenAtMs: number, isAnswer: boolean): string | undefined {
    return this.#losses.find(
      ({ isOfAnswers, holds, fromMs, untilMs }) =>
        (isAnswer || !isOfAnswers) &&
        fromMs <= writtenAtMs &&
        writtenAtMs <= untilMs &&
        holds(number),
    )?.what;
  }
}
