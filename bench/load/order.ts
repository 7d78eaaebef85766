/** What the clients are to send. */
export interface LoadOrder {
  /** One of each process that serves. */
  readonly urls: readonly string[];
  /** One of each client: so many are under way at a time. */
  readonly bodies: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: number;
  /** After each answer, before the next query. */
  readonly pauseMs: number;
}

/** How it went; every answer was the same. */
export interface LoadResult {
  readonly latenciesMs: readonly number[];
  readonly answer: string;
}
