import type { Identity } from '../domain/asker.ts';
import type { Correlator } from '../http/correlator.ts';

/** What each error of a reply says beside its code, so that it can be looked up without its reply's headers. */
export interface ErrorReference {
  /** With which the exchanges of the request begin, and which its lines of the logs have. */
  readonly correlator: string;
  /** The heading of the code in docs/errors.md; absent without DOCS_URL. */
  readonly docs?: string;
}

/**
 * What one request came to, for those who run the service: no number and no answer. Of what a caller
 * wrote it has the correlator alone, sanitised, and without numbers.
 */
export interface RequestReport {
  readonly correlator: Correlator;
  /** Absent where the request was refused before that was known. */
  readonly caller: Identity | undefined;
  /** The name of the trusted document; absent for every other. */
  readonly document: string | undefined;
  readonly status: number;
  readonly tookMs: number;
  /** How often the reply has each error code. */
  readonly codes: ReadonlyMap<string, number>;
  /** How often a field about a number came to each outcome: `answered`, or a code. */
  readonly answers: ReadonlyMap<string, number>;
  /** Fields that asked what another field of the same operation had asked already. */
  readonly repeatedQuestions: number;
}

/** Gathers what one request comes to. */
export class RequestRecord {
  readonly codes = new Map<string, number>();
  readonly answers = new Map<string, number>();
  readonly correlator: Correlator;
  caller: Identity | undefined;
  document: string | undefined;
  repeatedQuestions = 0;
  readonly #docsUrl: string | undefined;

  /** @param docsUrl where docs/ can be read, if that is known */
  constructor(correlator: Correlator, docsUrl: string | undefined) {
    this.correlator = correlator;
    this.#docsUrl = docsUrl;
  }

  /** What an error with this code refers to. */
  reference(code: string): ErrorReference {
    const correlator = this.correlator.name;
    if (this.#docsUrl === undefined) return { correlator };
    return { correlator, docs: `${this.#docsUrl}/errors.md#${code.toLowerCase()}` };
  }

  /** An error code of the reply. */
  code(code: string): void {
    count(this.codes, code);
  }

  /** What a field about a number came to. */
  answer(outcome: string): void {
    count(this.answers, outcome);
  }

  report(status: number, tookMs: number): RequestReport {
    const { correlator, caller, document, codes, answers, repeatedQuestions } = this;
    return { correlator, caller, document, status, tookMs, codes, answers, repeatedQuestions };
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
