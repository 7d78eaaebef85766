/** What a question can be about. */
export type Answerable = 'date' | 'window';

/** A prompt, or a question before it. */
export interface Asked {
  readonly number: string;
  readonly caller: string;
  readonly operation: Answerable;
}

/** A lookup that ended at the operator. */
export interface LookedUp {
  readonly number: string;
  readonly caller: string;
  readonly replica: string;
  readonly atMs: number;
}

interface Known {
  readonly number: string;
  readonly what: 'an answer' | 'a failure';
  readonly replica: string;
  readonly atMs: number;
  readonly untilMs: number;
}

/** How long a failure after consent is told where the operator names no time. */
const FAILURE_SECONDS = 60;
/**
 * An exchange is given up by then (OPERATOR_TIMEOUT_MS). The service counts from sending, and the operator from
 * receiving: so much earlier it may prompt.
 */
export const WAY_MS = 2000;
/** What a replica heard so long before it was killed may not have been stored, for Redis may be frozen. */
export const UNSTORED_MS = 3000;

/**
 * Tells which prompts were not needed: an answer, or a failure after consent, was there to be told to the
 * caller. Denials and prompts whose fate is unknown are another's business.
 */
export class PromptNeeds {
  readonly #keepMs: number;
  readonly #known = new Map<string, Known>();
  /** What ends at the operator after that reaches no replica. */
  readonly #killed = new Set<string>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** An answer reached the replica, and answers these questions of its caller. */
  answered({ number, caller, replica, atMs }: LookedUp, answers: readonly Answerable[]): void {
    if (this.#killed.has(replica)) return;
    for (const operation of answers) {
      const untilMs = atMs + this.#keepMs - WAY_MS;
      this.#known.set(nameOf({ number, caller, operation }), {
        what: 'an answer',
        number,
        replica,
        atMs,
        untilMs,
      });
    }
  }

  /** A failure speaks for the number, whatever is asked. */
  failed(lookedUp: LookedUp, retryAfterSeconds = FAILURE_SECONDS): void {
    const { number, caller, replica, atMs } = lookedUp;
    if (this.#killed.has(replica)) return;
    const untilMs = atMs + retryAfterSeconds * 1000 - WAY_MS;
    for (const operation of ['date', 'window'] as const) {
      const name = nameOf({ number, caller, operation });
      const known = this.#known.get(name);
      if ((known?.untilMs ?? 0) < untilMs)
        this.#known.set(name, { what: 'a failure', number, replica, atMs, untilMs });
    }
  }

  /** @param isUnstored whether what a replica learned about a number by then may not have been stored */
  replicaKilled(replica: string, isUnstored: (number: string, atMs: number) => boolean): void {
    this.#killed.add(replica);
    for (const [name, { number, replica: by, atMs }] of this.#known) {
      if (by === replica && isUnstored(number, atMs)) this.#known.delete(name);
    }
  }

  /** What there was to be told in place of a prompt, and since when; `undefined` where it was needed. */
  reasonAgainst(
    asked: Asked,
    nowMs: number,
  ): { readonly what: string; readonly sinceMs: number } | undefined {
    const known = this.#known.get(nameOf(asked));
    if (known === undefined || nowMs >= known.untilMs) return undefined;
    const what = `${known.what} to ${known.replica} ${nowMs - known.atMs} ms ago`;
    return { what, sinceMs: known.atMs };
  }
}

function nameOf({ number, caller, operation }: Asked): string {
  return `${number} ${caller} ${operation}`;
}
