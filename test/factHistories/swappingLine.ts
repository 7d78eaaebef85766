import type { DateFact, Fact } from '../../src/domain/fact.ts';
import type { Lookup } from '../../src/domain/question.ts';
import { HOUR_MS } from '../support/values.ts';
import type { Ask, Line } from './history.ts';

/** An operator's reply, and the truth about it. */
export interface Said {
  readonly fact: Fact;
  readonly answeredAtMs: number;
  /** The change of a disclosed date. */
  readonly changeAtMs?: number;
}

/** A line and its operator; times count from the start of the history. */
export class SwappingLine {
  readonly #line: Line;
  readonly #activatedAtMs: number;

  constructor(line: Line) {
    this.#line = line;
    this.#activatedAtMs = Math.min(line.activatedAtMs, ...line.swapsAtMs.map((at) => at - 1));
  }

  /** Whether it was swapped after one moment and no later than the other. */
  swappedBetween(afterMs: number, untilMs: number): boolean {
    return this.#line.swapsAtMs.some((atMs) => atMs > afterMs && atMs <= untilMs);
  }

  /** @param wallMs the replica's clock when its request left */
  answer(lookup: Lookup, ask: Ask, answeredAtMs: number, wallMs: number): Said {
    switch (lookup.operation) {
      case 'check': {
        const fromMs = answeredAtMs - lookup.maxAgeHours * HOUR_MS;
        const swapped =
          this.swappedBetween(fromMs, answeredAtMs) ||
          (this.#line.countsActivation && this.#activatedAtMs > fromMs);
        return { fact: { ...lookup, swapped, sentAtMs: wallMs }, answeredAtMs };
      }
      case 'retrieve-date':
        return this.#dateAsTold(ask, answeredAtMs, wallMs);
    }
  }

  #dateAsTold(ask: Ask, answeredAtMs: number, sentAtMs: number): Said {
    const { swapsAtMs, lateMs, dateErrorMs } = this.#line;
    const known = swapsAtMs.filter((atMs) => atMs + lateMs <= answeredAtMs);
    const changes = [this.#activatedAtMs, ...known].toSorted((a, b) => a - b);
    const withheld: DateFact = { operation: 'retrieve-date', latestSimChange: null, sentAtMs };
    switch (ask.date) {
      case 'withheld':
        return { fact: withheld, answeredAtMs };
      case 'withheld, with a period': {
        const monitoredPeriodDays = ask.periodDays;
        const sinceMs = answeredAtMs - monitoredPeriodDays * 24 * HOUR_MS;
        const isTrue = !known.some((atMs) => atMs > sinceMs);
        return { fact: isTrue ? { ...withheld, monitoredPeriodDays } : withheld, answeredAtMs };
      }
      case 'told':
      case 'told as before the last change': {
        const changeAtMs = changes.at(ask.date === 'told' ? -1 : -2) ?? this.#activatedAtMs;
        // An operator never reports a future date.
        const toldAtMs = Math.min(changeAtMs + dateErrorMs, answeredAtMs);
        const epochMs = EPOCH_MS + Math.round(toldAtMs);
        const latestSimChange = { text: new Date(epochMs).toISOString(), epochMs };
        return { fact: { ...withheld, latestSimChange }, answeredAtMs, changeAtMs };
      }
    }
  }
}

/** The start of a history, by an exact clock. */
export const EPOCH_MS = Date.UTC(2026, 0, 15, 12);
