import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Finding } from './finding.ts';

const SUM_AFTER_MS = 60_000;

/** Different findings that are kept apart at a time; the rest is summed up as one. */
const MAX_FINDINGS = 100;

const REST: Finding = {
  level: 'warn',
  message: 'Further exchanges with the operator failed, in other ways.',
  details: {},
};

interface Repeated {
  readonly finding: Finding;
  readonly sinceMs: number;
  repeats: number;
}

/**
 * What exchanges with one operator come to, in the log: each finding at once when it is new, and once a
 * minute how often it came again. An outage is some lines a minute, and not one an exchange.
 *
 * There is no timer: a sum is written with the first exchange after its minute, or at the end.
 */
export class ExchangeLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #findings = new Map<string, Repeated>();
  #sumUpAtMs = Number.POSITIVE_INFINITY;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** @param correlator of the exchange; it stands in the line of the first only */
  report(finding: Finding, correlator: string): void {
    this.sumUp();
    const known = this.#findings.get(keyOf(finding));
    if (known !== undefined) {
      known.repeats += 1;
    } else if (this.#findings.size < MAX_FINDINGS || finding === REST) {
      this.#write(finding, { correlator });
      this.#remember(finding, this.#clock.monotonicMs());
    } else {
      this.report(REST, correlator);
    }
  }

  /** Writes the sums whose minute is over. Costs next to nothing: to be called with every exchange. */
  sumUp(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#sumUpAtMs) this.#sumUpFrom(nowMs - SUM_AFTER_MS, nowMs);
  }

  /** Writes what is left. */
  close(): void {
    this.#sumUpFrom(Number.POSITIVE_INFINITY, this.#clock.monotonicMs());
    this.#findings.clear();
  }

  #sumUpFrom(untilMs: number, nowMs: number): void {
    this.#sumUpAtMs = Number.POSITIVE_INFINITY;
    for (const [key, { finding, sinceMs, repeats }] of this.#findings) {
      if (sinceMs > untilMs) {
        this.#sumUpAtMs = Math.min(this.#sumUpAtMs, sinceMs + SUM_AFTER_MS);
        continue;
      }
      this.#findings.delete(key);
      if (repeats === 0) continue;
      this.#write(finding, { repeats, seconds: Math.round((nowMs - sinceMs) / 1000) });
      this.#remember(finding, nowMs);
    }
  }

  #remember(finding: Finding, nowMs: number): void {
    this.#findings.set(keyOf(finding), { finding, sinceMs: nowMs, repeats: 0 });
    this.#sumUpAtMs = Math.min(this.#sumUpAtMs, nowMs + SUM_AFTER_MS);
  }

  #write({ level, message, details }: Finding, more: Finding['details']): void {
    this.#log[level](message, { ...details, ...more });
  }
}

function keyOf({ level, message, details }: Finding): string {
  return JSON.stringify([level, message, details]);
}
