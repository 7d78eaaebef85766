import type { Holds } from './chronicle.ts';

interface Round {
  readonly lost: Holds;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Forgotten {
  readonly holds: Holds;
  readonly atMs: number;
}

/** A master is away, or its place is taken: nothing that it holds can be written. */
interface Away {
  readonly holds: Holds;
  readonly fromMs: number;
}

/** What an exchange taught is written so soon after it, on a machine that is not held up. */
const WRITTEN_WITHIN_MS = 500;

/** What speaks against something, and when it happened all the same. */
export interface Against {
  readonly number: string;
  /** When what speaks against it was written, at the latest. */
  readonly sinceMs: number;
  readonly atMs: number;
  /** Whether it takes what was written; that a prompt may live must be known of a store that was emptied, too. */
  readonly takesRecord: boolean;
}

/**
 * Which writes a cluster is proven to have lost although it had acknowledged them (docs/reliability.md): replication is
 * asynchronous, and a master that dies with its replica takes all along.
 */
export class LostWrites {
  readonly #rounds: Round[] = [];
  readonly #forgotten: Forgotten[] = [];
  #away: Away | undefined;

  /** Meanwhile a replica took over from its master, and of these numbers lacked what the master had acknowledged. */
  lost(lost: Holds, fromMs: number, untilMs: number): void {
    this.#rounds.push({ lost, fromMs, untilMs });
  }

  /** A master and its replica came back empty: the doubt must cover the prompts that lived. */
  forgot(holds: Holds, atMs: number): void {
    this.#forgotten.push({ holds, atMs });
  }

  /** From now on, nothing that concerns these numbers can be written, until the cluster is whole. */
  away(holds: Holds): void {
    this.#away = { holds, fromMs: Date.now() };
  }

  whole(): void {
    this.#away = undefined;
  }

  /** Whether what was learned about a number at that moment may not be stored yet. */
  isUnstored(number: string, learnedAtMs: number): boolean {
    if (this.#away?.holds(number) !== true) return false;
    return this.#away.fromMs <= learnedAtMs + WRITTEN_WITHIN_MS;
  }

  /** Why it was unavoidable; call it when all losses are known. */
  reasonFor({ number, sinceMs, atMs, takesRecord }: Against): string | undefined {
    const isLost = this.#rounds.some(
      ({ lost, fromMs, untilMs }) => fromMs <= atMs && sinceMs <= untilMs && lost(number),
    );
    if (isLost) return 'its master was replaced by a replica that lacked an acknowledged write';
    const isForgotten = this.#forgotten.some(
      ({ holds, atMs: forgottenAtMs }) => takesRecord && sinceMs <= forgottenAtMs && holds(number),
    );
    return isForgotten ? 'its master and its replica were emptied' : undefined;
  }
}
