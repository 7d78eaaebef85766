interface Event {
  readonly atMs: number;
  readonly what: string;
  /** Absent where it concerns all. */
  readonly number: string | undefined;
}

/** How far back a story goes. */
const TOLD_MS = 20_000;
/** Older ones are dropped now and then. */
const MAX_EVENTS = 20_000;

/** What happened to which numbers, to report an offence with what led to it. */
export class Chronicle {
  #events: Event[] = [];

  happened(what: string, number?: string): void {
    if (this.#events.length >= MAX_EVENTS) this.#events = this.#events.slice(MAX_EVENTS / 2);
    this.#events.push({ atMs: Date.now(), what, number });
  }

  /** What is wrong, and the latest events of the number, a line each, with how long ago they were. */
  story(wrong: string, number: string): string {
    const nowMs = Date.now();
    const told = this.#events
      .filter((event) => event.atMs > nowMs - TOLD_MS && (event.number ?? number) === number)
      .map(({ atMs, what }) => `${String(Math.round(atMs - nowMs)).padStart(7)} ms  ${what}`);
    return [`${wrong}: ${number}`, ...told].join('\n  ');
  }
}
