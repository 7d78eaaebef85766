import type { Customer, DeskRow } from '../model/deskRow.ts';
import { isOutage } from '../model/outage.ts';
import { pagesOf, PAGES_AT_A_TIME } from '../model/pages.ts';
import type { Quota } from '../model/quotas.ts';
import { retryPlan } from '../model/retry.ts';
import type { ListedNumber } from '../model/upload.ts';
import type { RowState } from '../model/verdict.ts';
import { WINDOWS_HOURS, type Answer, type WindowHours } from '../model/windows.ts';
import type { Questions, Reply } from './questions.ts';
import { NOTHING_ASKED } from './readAnswers.ts';

/** Why the asking stands still. */
export type PauseReason = 'person' | 'outage' | 'quota' | 'signedOut';

/** How the asking of a list stands. */
export type Run =
  | { readonly kind: 'idle' }
  | RunProgress<'asking'>
  | (RunProgress<'paused'> & { readonly why: PauseReason })
  | RunProgress<'cancelled'>
  | RunProgress<'done'>;

interface RunProgress<Kind> {
  readonly kind: Kind;
  readonly done: number;
  readonly total: number;
  /** Without the pauses. */
  readonly activeMs: number;
}

/** What the page shows; every change makes a new one. */
export interface DeskState {
  readonly rows: readonly DeskRow[];
  readonly run: Run;
  readonly quotas: readonly Quota[];
  /** A single case that the session was too old to ask. */
  readonly isSignedOut: boolean;
}

const EMPTY: DeskState = { rows: [], run: { kind: 'idle' }, quotas: [], isSignedOut: false };

/** A consent that does not say when it ends is given up after so long. */
const MAX_CONSENT_WAIT_MS = 10 * 60_000;
const MIN_CONSENT_RETRY_MS = 1000;

/** The clock and the timer of the page, so that tests can hand in their own. */
export interface DeskClock {
  now(): number;
  /** Ends early, without an error, when the signal does. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * All that the page knows, in memory alone: closing the page, signing out or `clear()` ends what is asked
 * and leaves nothing. Asks in pages, some at a time; a number whose owner would be prompted waits for
 * `askOwner()`.
 */
export class Desk {
  readonly #questions: Questions;
  readonly #clock: DeskClock;
  readonly #listeners = new Set<() => void>();
  #state: DeskState = EMPTY;
  #nextId = 1;
  /** Ends everything that is asked. */
  #life = new AbortController();
  #list: ListRun | undefined;

  constructor(questions: Questions, clock: DeskClock) {
    this.#questions = questions;
    this.#clock = clock;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly state = (): DeskState => this.#state;

  row(id: number): DeskRow | undefined {
    // Ids count on from the first row's.
    const [first] = this.#state.rows;
    return first === undefined ? undefined : this.#state.rows[id - first.id];
  }

  setQuotas(quotas: readonly Quota[]): void {
    this.#change({ quotas });
  }

  /** Ends what is asked and forgets every number. */
  clear(): void {
    this.#life.abort();
    this.#life = new AbortController();
    this.#list = undefined;
    this.#change({ rows: [], run: { kind: 'idle' }, isSignedOut: false });
  }

  /** Takes the place of what was on the desk; nothing is asked yet. */
  load(numbers: readonly ListedNumber[]): void {
    this.clear();
    const rows = numbers.map(({ e164, line }): DeskRow => {
      const id = this.#nextId++;
      return {
        id,
        e164,
        line,
        customer: undefined,
        state: { kind: 'waiting' },
        retryAtMs: 0,
      };
    });
    this.#change({ rows });
  }

  /** Asks about all rows that were not asked yet. */
  askList(): Promise<void> {
    return this.#ask(this.#state.rows.filter(({ state }) => state.kind === 'waiting'));
  }

  /** Asks again what failed for a reason that may pass. */
  retry(): Promise<void> {
    return this.#ask(retryPlan(this.#state.rows, this.#clock.now()).due);
  }

  /** Asks about one row; its owner is not prompted. */
  askAgain(id: number): Promise<void> {
    const row = this.row(id);
    return row === undefined ? Promise.resolve() : this.#askPage([row], this.#life.signal);
  }

  pause(): void {
    this.#list?.pause('person');
  }

  /** Goes on after a pause, whatever it was for. */
  resume(): void {
    this.#change({ isSignedOut: false });
    this.#list?.resume();
  }

  /** Ends the requests under way; nothing further is asked. */
  cancel(): void {
    this.#list?.cancel();
  }

  /**
   * Asks the owner of a line for consent to one question, which rings the phone, and asks on until the
   * answer is there, the question is over, or the desk is cleared.
   */
  async askOwner(id: number, hours: WindowHours): Promise<void> {
    const { signal } = this.#life;
    const givesUpAtMs = this.#clock.now() + MAX_CONSENT_WAIT_MS;
    const before = this.row(id)?.state;
    const known = before?.kind === 'answered' ? knownWindows(before.answer) : NOTHING_ASKED;
    this.#setStates([id], { kind: 'asking' });
    for (;;) {
      const row = this.row(id);
      if (row === undefined) return;
      const reply = await this.#questions.withConsent(row.e164, hours, known, signal);
      if (reply.kind !== 'answered') {
        this.#fail([row], reply);
        return;
      }
      this.#setAnswer(row, reply.told.customer, reply.told.said);
      const window = reply.told.said.windows[hours];
      if (window.kind !== 'unknown' || window.reason !== 'CONSENT_PENDING') return;
      const endsAtMs = Math.min(window.expiresAtMs ?? givesUpAtMs, givesUpAtMs);
      const leftMs = endsAtMs - this.#clock.now();
      const waitMs = Math.max((window.retryAfterSeconds ?? 1) * 1000, MIN_CONSENT_RETRY_MS);
      // Asked once more after its end, it would ring the phone again.
      if (leftMs <= waitMs) {
        await this.#clock.sleep(Math.max(leftMs, 0), signal);
        if (!signal.aborted) this.#setStates([id], { kind: 'failed', reason: 'CONSENT_EXPIRED' });
        return;
      }
      await this.#clock.sleep(waitMs, signal);
      if (signal.aborted) return;
    }
  }

  async #ask(rows: readonly DeskRow[]): Promise<void> {
    if (rows.length === 0) return;
    this.#list?.cancel();
    const list = new ListRun(pagesOf(rows), this.#life.signal, this.#clock, (run) => {
      if (this.#list === list) this.#change({ run });
    });
    this.#list = list;
    await list.ask(async (page, signal) => {
      await this.#askPage(page, signal);
      return page.map(({ id }) => this.row(id)?.state ?? { kind: 'waiting' });
    });
  }

  async #askPage(page: readonly DeskRow[], signal: AbortSignal): Promise<void> {
    this.#setStates(
      page.map(({ id }) => id),
      { kind: 'asking' },
    );
    const consents = await this.#questions.consents(
      page.map(({ e164 }) => e164),
      signal,
    );
    if (consents.kind !== 'answered') {
      this.#fail(page, consents);
      return;
    }
    const silent: DeskRow[] = [];
    const changes: DeskRow[] = [];
    for (const [index, row] of page.entries()) {
      const { customer, said } = consents.told[index] ?? {
        customer: null,
        said: { kind: 'unknown', reason: 'NO_ANSWER' } as const,
      };
      switch (said.kind) {
        case 'notNeeded':
          silent.push(row);
          changes.push({ ...row, customer, state: { kind: 'asking' } });
          break;
        case 'needed':
          changes.push({ ...row, customer, state: { kind: 'needsConsent' } });
          break;
        case 'unknown':
          changes.push({ ...row, customer, state: { kind: 'failed', reason: said.reason } });
          break;
      }
    }
    this.#replace(changes);
    if (silent.length === 0) return;
    const answers = await this.#questions.simSwaps(
      silent.map(({ e164 }) => e164),
      signal,
    );
    if (answers.kind !== 'answered') {
      this.#fail(silent, answers);
      return;
    }
    this.#replace(
      silent.map((row, index): DeskRow => {
        const told = answers.told[index];
        return told === undefined
          ? { ...row, state: { kind: 'failed', reason: 'NO_ANSWER' } }
          : answered(row, told.customer, told.said, this.#clock.now());
      }),
    );
  }

  #fail(rows: readonly DeskRow[], reply: Exclude<Reply<never>, { kind: 'answered' }>): void {
    const nowMs = this.#clock.now();
    const current = rows.map((row) => this.row(row.id) ?? row);
    switch (reply.kind) {
      case 'failed': {
        const { retryAfterSeconds: seconds } = reply;
        const retryAtMs = seconds === null ? 0 : nowMs + seconds * 1000;
        const state: RowState = { kind: 'failed', reason: reply.reason };
        this.#replace(current.map((row) => ({ ...row, state, retryAtMs })));
        break;
      }
      case 'signedOut':
        this.#replace(
          current.map((row) => ({ ...row, state: { kind: 'failed', reason: 'UNAUTHENTICATED' } })),
        );
        this.#change({ isSignedOut: true });
        this.#list?.pause('signedOut');
        break;
      case 'aborted':
        this.#replace(
          current.map((row) => ({ ...row, state: { kind: 'failed', reason: 'CANCELLED' } })),
        );
        break;
    }
  }

  #setAnswer(row: DeskRow, customer: Customer | null, answer: Answer): void {
    this.#replace([answered(row, customer, answer, this.#clock.now())]);
  }

  #setStates(ids: readonly number[], state: RowState): void {
    this.#replace(ids.flatMap((id) => this.row(id) ?? []).map((row) => ({ ...row, state })));
  }

  /** Rows that are no longer on the desk stay off it. */
  #replace(rows: readonly DeskRow[]): void {
    const [first] = this.#state.rows;
    if (first === undefined) return;
    const next = [...this.#state.rows];
    for (const row of rows) {
      if (next[row.id - first.id] !== undefined) next[row.id - first.id] = row;
    }
    this.#change({ rows: next });
  }

  #change(change: Partial<DeskState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function answered(row: DeskRow, customer: Customer | null, answer: Answer, nowMs: number): DeskRow {
  const waits = WINDOWS_HOURS.map((hours) => {
    const window = answer.windows[hours];
    return window.kind === 'unknown' ? (window.retryAfterSeconds ?? 0) : 0;
  });
  const longestSeconds = Math.max(...waits);
  const retryAtMs = longestSeconds === 0 ? 0 : nowMs + longestSeconds * 1000;
  return { ...row, customer, state: { kind: 'answered', answer }, retryAtMs };
}

/** What a further question need not bring again. */
function knownWindows({ windows }: Answer): Answer['windows'] {
  const known = { ...NOTHING_ASKED };
  for (const hours of WINDOWS_HOURS) {
    const { kind } = windows[hours];
    if (kind === 'swapped' || kind === 'notSwapped') known[hours] = windows[hours];
  }
  return known;
}

type AskPage = (page: readonly DeskRow[], signal: AbortSignal) => Promise<readonly RowState[]>;

/** One way through a list of pages: some at a time, with pauses, until it is done or cancelled. */
class ListRun {
  readonly #pages: readonly (readonly DeskRow[])[];
  readonly #clock: DeskClock;
  readonly #tell: (run: Run) => void;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #total: number;
  #nextPage = 0;
  #done = 0;
  /** The states in the order in which they came, for as long as they tell of an outage. */
  #latest: readonly RowState[] = [];
  #activeBeforeMs = 0;
  #activeSinceMs: number;
  #paused: { why: PauseReason; over: PromiseWithResolvers<void> } | undefined;

  constructor(
    pages: readonly (readonly DeskRow[])[],
    life: AbortSignal,
    clock: DeskClock,
    tell: (run: Run) => void,
  ) {
    this.#pages = pages;
    this.#clock = clock;
    this.#tell = tell;
    this.#signal = AbortSignal.any([life, this.#stop.signal]);
    this.#total = pages.reduce((sum, page) => sum + page.length, 0);
    this.#activeSinceMs = clock.now();
  }

  async ask(askPage: AskPage): Promise<void> {
    this.#tellProgress();
    await Promise.all(Array.from({ length: PAGES_AT_A_TIME }, () => this.#work(askPage)));
    const kind = this.#stop.signal.aborted ? 'cancelled' : 'done';
    if (kind === 'done') this.#tell({ ...this.#progress(), kind });
  }

  pause(why: PauseReason): void {
    if (this.#paused !== undefined || this.#stop.signal.aborted) return;
    if (this.#done === this.#total) return;
    this.#activeBeforeMs = this.#activeMs();
    this.#paused = { why, over: Promise.withResolvers<void>() };
    this.#tellProgress();
  }

  resume(): void {
    const paused = this.#paused;
    if (paused === undefined) return;
    this.#paused = undefined;
    this.#latest = [];
    this.#activeSinceMs = this.#clock.now();
    this.#tellProgress();
    paused.over.resolve();
  }

  cancel(): void {
    if (this.#stop.signal.aborted || this.#done === this.#total) return;
    const progress = this.#progress();
    this.#stop.abort();
    this.#paused?.over.resolve();
    this.#tell({ ...progress, kind: 'cancelled' });
  }

  async #work(askPage: AskPage): Promise<void> {
    for (;;) {
      await this.#paused?.over.promise;
      if (this.#signal.aborted) return;
      const page = this.#pages[this.#nextPage];
      if (page === undefined) return;
      this.#nextPage += 1;
      const states = await askPage(page, this.#signal);
      if (this.#signal.aborted) return;
      this.#done += page.length;
      this.#latest = [...this.#latest, ...states].slice(-100);
      if (states.some(isQuotaSpent)) this.pause('quota');
      else if (isOutage(this.#latest)) this.pause('outage');
      if (this.#nextPage < this.#pages.length || this.#done < this.#total) this.#tellProgress();
    }
  }

  #tellProgress(): void {
    const progress = this.#progress();
    const why = this.#paused?.why;
    this.#tell(
      why === undefined ? { ...progress, kind: 'asking' } : { ...progress, kind: 'paused', why },
    );
  }

  #progress(): Omit<RunProgress<never>, 'kind'> {
    return { done: this.#done, total: this.#total, activeMs: this.#activeMs() };
  }

  #activeMs(): number {
    return this.#paused === undefined
      ? this.#activeBeforeMs + this.#clock.now() - this.#activeSinceMs
      : this.#activeBeforeMs;
  }
}

function isQuotaSpent(state: RowState): boolean {
  switch (state.kind) {
    case 'failed':
      return state.reason === 'RATE_LIMITED';
    case 'answered':
      return WINDOWS_HOURS.some((hours) => {
        const window = state.answer.windows[hours];
        return window.kind === 'unknown' && window.reason === 'RATE_LIMITED';
      });
    case 'waiting':
    case 'asking':
    case 'needsConsent':
      return false;
  }
}
