/** The numbers that a server held. */
export type Holds = (number: string) => boolean;

interface Event {
  readonly atMs: number;
  readonly what: string;
  readonly concerns: Holds;
}

/** How far back it is told how something came about. */
const TOLD_MS = 20_000;
/** Older ones are dropped now and then. */
const MAX_EVENTS = 20_000;

/** What happened, and to which numbers: so that an offence can be told with all that led to it. */
export class Chronicle {
  #events: Event[] = [];

  happened(what: string, concerns: Holds = () => true, atMs = Date.now()): void {
    if (this.#events.length >= MAX_EVENTS) this.#events = this.#events.slice(MAX_EVENTS / 2);
    this.#events.push({ atMs, what, concerns });
  }

  happenedTo(number: string, what: string, atMs?: number): void {
    this.happened(what, (one) => one === number, atMs);
  }

  /** What concerned a number lately, a line each, with how long ago it was. */
  about(number: string): readonly string[] {
    const nowMs = Date.now();
    return this.#events
      .filter(({ atMs, concerns }) => atMs > nowMs - TOLD_MS && concerns(number))
      .toSorted((one, other) => one.atMs - other.atMs)
      .map(({ atMs, what }) => `${String(Math.round(atMs - nowMs)).padStart(7)} ms  ${what}`);
  }
}
