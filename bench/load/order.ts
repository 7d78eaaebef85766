/** What the clients are to send. */
export interface LoadOrder {
  /** One of each process that serves. */
  readonly urls: readonly string[];
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: number;
  /** How many are under way at a time. */
  readonly concurrency: number;
}

/** How it went; every answer was the same. */
export interface LoadResult {
  readonly latenciesMs: readonly number[];
  readonly answer: string;
}
