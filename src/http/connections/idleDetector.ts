/** An endpoint is at rest when its operator's connections were neither taken nor given back for so long. */
const QUIET_MS = 60;

/**
 * Tells when an operator's connections have come to rest. All its endpoints share one: a token is followed by
 * its lookup, and what one endpoint does between the two would take processor time from the other.
 */
export class IdleDetector {
  readonly #quietMs: number;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(quietMs = QUIET_MS) {
    this.#quietMs = quietMs;
  }

  /** Something moves: the lull is put off. */
  touch(): void {
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#come(), this.#quietMs).unref();
    } else {
      this.#timer.refresh();
    }
  }

  /** Calls it each time that a lull comes; returns what ends that. */
  onIdle(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #come(): void {
    for (const listener of this.#listeners) listener();
  }
}
