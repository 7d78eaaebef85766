import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Operation } from '../domain/question.ts';
import type { ByOperation, OperatorRefusals } from './consentOperator.ts';

/** Numbers at which an operation was refused, each with the count that it is for, and until when they count. */
interface Refused {
  readonly noted: ReadonlySet<string>;
  readonly untilMs: number;
}

/** The refusals of one operator in one process, by its monotonic clock. */
export class MemoryRefusals implements OperatorRefusals {
  readonly #clock: Clock;
  readonly #refusedUntilMs: Partial<Record<Operation, number>> = {};
  readonly #refused: Partial<Record<Operation, Refused>> = {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  leftMs(): Promise<ByOperation> {
    const nowMs = this.#clock.monotonicMs();
    const { 'retrieve-date': date = 0, check = 0 } = this.#refusedUntilMs;
    return Promise.resolve({
      'retrieve-date': Math.max(0, date - nowMs),
      check: Math.max(0, check - nowMs),
    });
  }

  refuse(
    number: PhoneNumber,
    operation: Operation,
    afterNumbers: number,
    forMs: number,
  ): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const untilMs = nowMs + forMs;
    const before = this.#refused[operation];
    const isOver = before === undefined || before.untilMs <= nowMs;
    const kind = `${afterNumbers}:`;
    const noted = new Set(isOver ? [] : before.noted).add(kind + number);
    const isBarred = [...noted].filter((one) => one.startsWith(kind)).length >= afterNumbers;
    if (isBarred) this.#refusedUntilMs[operation] = untilMs;
    this.#refused[operation] = { noted: isBarred ? new Set([kind + number]) : noted, untilMs };
    return Promise.resolve();
  }

  answered(operation: Operation): Promise<void> {
    delete this.#refused[operation];
    return Promise.resolve();
  }
}
