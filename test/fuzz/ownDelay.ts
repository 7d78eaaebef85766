const EVERY_MS = 5;

/**
 * How long this thread keeps its own event loop from turning. Another program that has the processor
 * delays the wall clock's timers as well, and is no fault of ours: counted is what this thread computed.
 */
export class OwnDelay {
  longestMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #usage = process.threadCpuUsage();

  start(): void {
    this.#usage = process.threadCpuUsage();
    this.#timer = setInterval(() => {
      const { user, system } = process.threadCpuUsage(this.#usage);
      this.#usage = process.threadCpuUsage();
      this.longestMs = Math.max(this.longestMs, (user + system) / 1000);
    }, EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
