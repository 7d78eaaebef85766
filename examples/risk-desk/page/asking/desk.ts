import type { DeskRow } from '../model/deskRow.ts';
import { isOutage } from '../model/outage.ts';
import { pagesOf, PAGES_AT_A_TIME } from '../model/pages.ts';
import type { E164 } from '../model/phoneNumber.ts';
import type { Quota } from '../model/quotas.ts';
import { retryPlan } from '../model/retry.ts';
import { PART_SIZE, type ListedNumber, type ListFile } from '../model/upload.ts';
import {
  answerOf,
  failureOf,
  verdictName,
  verdictOf,
  withAnswer,
  withFailure,
  type RowState,
} from '../model/verdict.ts';
import { isKnown, WINDOWS_HOURS, type Answer, type WindowHours } from '../model/windows.ts';
import type { Questions, Reply } from './questions.ts';
import { NOTHING_ASKED, type Told } from './readAnswers.ts';

/** Why a run is paused. */
export type PauseReason = 'person' | 'outage' | 'quota' | 'signedOut';

/** How far the checking of a list is. */
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
  /** By the whole list so far, over all its runs. */
  readonly spentMs: number;
}

/** As the service counted them, reply by reply: others of the same caller are not among them. */
export interface LookupCount {
  readonly count: number;
  /** Not where a reply is missing, or came before the owner's: what the service counted for that is not known. */
  readonly isExact: boolean;
}

/** What the page shows; every change makes a new one. */
export interface DeskState {
  readonly rows: readonly DeskRow[];
  /** What the rows were read from: its export has every row of it. `null` for a single number. */
  readonly file: ListFile | null;
  readonly run: Run;
  readonly quotas: readonly Quota[];
  /** Of all checks of the numbers that are on the desk. */
  readonly lookups: LookupCount;
  /** A single case that the session was too old to query. */
  readonly isSignedOut: boolean;
}

const EMPTY: DeskState = {
  rows: [],
  file: null,
  run: { kind: 'idle' },
  quotas: [],
  lookups: { count: 0, isExact: true },
  isSignedOut: false,
};

/** A consent that does not say when it ends is given up after so long. */
const MAX_CONSENT_WAIT_MS = 10 * 60_000;
const MIN_CONSENT_RETRY_MS = 1000;

/** Single numbers that stay on the desk. */
const MAX_ADDED = 100;

/** An earlier check of a number. */
export interface EarlierCheck {
  readonly atMs: number;
  /** Such as `No change`. */
  readonly verdict: string;
}

/** What was checked since the page was opened, in memory only. */
export class SessionChecks {
  readonly #checks = new Map<E164, EarlierCheck[]>();

  note(e164: E164, check: EarlierCheck): void {
    const checks = this.#checks.get(e164);
    if (checks === undefined) this.#checks.set(e164, [check]);
    else checks.push(check);
  }

  /** The earliest first, without the latest. */
  before(e164: E164): readonly EarlierCheck[] {
    return this.#checks.get(e164)?.slice(0, -1) ?? [];
  }

  latest(e164: E164): EarlierCheck | undefined {
    return this.#checks.get(e164)?.at(-1);
  }

  clear(): void {
    this.#checks.clear();
  }
}

/** The clock and the timer of the page, so that tests can hand in their own. */
export interface DeskClock {
  now(): number;
  /** Ends early, without an error, when the signal does. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * All that the page knows, in memory only: closing the page, signing out or `clear()` ends what is under way
 * and leaves nothing. Checks in pages, some at a time; a number whose owner would be prompted waits for
 * `askOwner()`.
 */
export class Desk {
  readonly #questions: Questions;
  readonly #clock: DeskClock;
  readonly #checks: SessionChecks;
  readonly #listeners = new Set<() => void>();
  #state: DeskState = EMPTY;
  #nextId = 1;
  /** Ends all requests. */
  #life = new AbortController();
  #list: ListRun | undefined;

  constructor(questions: Questions, clock: DeskClock, checks: SessionChecks) {
    this.#questions = questions;
    this.#clock = clock;
    this.#checks = checks;
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

  /** Whether a check has yet to end. */
  isUnderWay(): boolean {
    return this.#state.rows.some(
      ({ state }) => state.kind === 'asking' || verdictOf(state).kind === 'pending',
    );
  }

  setQuotas(quotas: readonly Quota[]): void {
    this.#change({ quotas });
  }

  /** Ends what is under way and forgets every row. */
  clear(): void {
    this.#life.abort();
    this.#life = new AbortController();
    this.#list = undefined;
    this.#change({ ...EMPTY, quotas: this.#state.quotas });
  }

  /** Takes the place of what was on the desk; nothing is checked yet. */
  load(numbers: readonly ListedNumber[], file: ListFile | null = null): void {
    this.clear();
    this.#change({ rows: numbers.map((number) => this.#newRow(number)), file });
  }

  /** Adds a number to those that are there, unless it is one of them; the oldest goes where they are too many. */
  add(e164: E164): number {
    const { rows } = this.#state;
    const row = rows.find((one) => one.e164 === e164) ?? this.#newRow({ e164, line: 1, own: [] });
    if (!rows.includes(row)) this.#change({ rows: [...rows, row].slice(-MAX_ADDED) });
    return row.id;
  }

  #newRow({ e164, line, own }: ListedNumber): DeskRow {
    return {
      id: this.#nextId++,
      e164,
      line,
      own,
      customer: undefined,
      state: { kind: 'waiting' },
      retryAtMs: 0,
      correlator: null,
    };
  }

  /** Checks what was not checked yet, a part of a long list at a time, and again what may pass by now. */
  checkList(): Promise<void> {
    const { rows } = this.#state;
    const waiting = rows.filter(({ state }) => state.kind === 'waiting').slice(0, PART_SIZE);
    return this.#ask([...waiting, ...retryPlan(rows, this.#clock.now()).due]);
  }

  /** Checks one row; its owner is not prompted. */
  checkAgain(id: number): Promise<void> {
    const row = this.row(id);
    return row === undefined ? Promise.resolve() : this.#askPage([row], this.#life.signal);
  }

  pause(): void {
    this.#list?.pause('person');
  }

  /** After a pause for any reason. */
  resume(): void {
    this.#change({ isSignedOut: false });
    this.#list?.resume();
  }

  /** Ends the requests under way; what they were about is as it was before. */
  cancel(): void {
    this.#list?.cancel();
  }

  /**
   * Asks the owner of a number for consent to one check, which prompts them, and polls until the answer is
   * there, the prompt has expired, or the desk is cleared.
   */
  async askOwner(id: number, hours: WindowHours): Promise<void> {
    const life = this.#life;
    const { signal } = life;
    const givesUpAtMs = this.#clock.now() + MAX_CONSENT_WAIT_MS;
    const asked = this.row(id);
    if (asked === undefined) return;
    const before = answerOf(asked.state);
    const known = before === undefined ? NOTHING_ASKED : knownWindows(before);
    this.#start([asked]);
    for (;;) {
      const row = this.row(id);
      if (row === undefined) return;
      const reply = await this.#questions.withConsent(row.e164, hours, known, signal);
      const window = reply.kind === 'answered' ? reply.told.said.windows[hours] : undefined;
      const isPending = window?.kind === 'unknown' && window.reason === 'CONSENT_PENDING';
      this.#count(reply, life, isPending);
      if (reply.kind !== 'answered') {
        this.#fail([row], reply);
        return;
      }
      this.#settle([answered(row, before, reply.told, reply.correlator, this.#clock.now())]);
      if (!isPending) return;
      const endsAtMs = Math.min(window.expiresAtMs ?? givesUpAtMs, givesUpAtMs);
      const leftMs = endsAtMs - this.#clock.now();
      const waitMs = Math.max((window.retryAfterSeconds ?? 1) * 1000, MIN_CONSENT_RETRY_MS);
      // Checked once more after its end, it would prompt the owner again.
      if (leftMs <= waitMs) {
        await this.#clock.sleep(Math.max(leftMs, 0), signal);
        const state: RowState = { kind: 'failed', reason: 'CONSENT_EXPIRED' };
        const expired = this.row(id);
        if (!signal.aborted && expired !== undefined) this.#settle([{ ...expired, state }]);
        return;
      }
      await this.#clock.sleep(waitMs, signal);
      if (signal.aborted) return;
    }
  }

  async #ask(rows: readonly DeskRow[]): Promise<void> {
    if (rows.length === 0) return;
    this.#list?.cancel();
    const { run: before } = this.#state;
    const spentMs = before.kind === 'idle' ? 0 : before.spentMs;
    const list = new ListRun(pagesOf(rows), this.#life.signal, this.#clock, spentMs, (run) => {
      if (this.#list === list) this.#change({ run });
    });
    this.#list = list;
    await list.ask(async (page, signal) => {
      await this.#askPage(page, signal);
      return page.map(({ id }) => this.row(id)?.state ?? { kind: 'waiting' });
    });
  }

  async #askPage(page: readonly DeskRow[], signal: AbortSignal): Promise<void> {
    const life = this.#life;
    this.#start(page);
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
    const { correlator } = consents;
    for (const [index, row] of page.entries()) {
      const before = answerOf(row.state);
      const { customer, said } = consents.told[index] ?? {
        customer: null,
        said: { kind: 'unknown', reason: 'NO_ANSWER' } as const,
      };
      switch (said.kind) {
        case 'notNeeded':
          silent.push(row);
          changes.push({ ...row, customer, state: { kind: 'asking', before } });
          break;
        case 'needed':
          changes.push({ ...row, customer, correlator, state: { kind: 'needsConsent' } });
          break;
        case 'unknown': {
          const state = withFailure(before, said.reason);
          changes.push({ ...row, customer, correlator, state });
          break;
        }
      }
    }
    this.#settle(changes);
    if (silent.length === 0) return;
    const answers = await this.#questions.simSwaps(
      silent.map(({ e164 }) => e164),
      signal,
    );
    this.#count(answers, life);
    if (answers.kind !== 'answered') {
      this.#fail(silent, answers);
      return;
    }
    this.#settle(
      silent.map((row, index): DeskRow => {
        const before = answerOf(row.state);
        const told = answers.told[index];
        return told === undefined
          ? { ...row, state: withFailure(before, 'NO_ANSWER') }
          : answered(row, before, told, answers.correlator, this.#clock.now());
      }),
    );
  }

  /**
   * Not after the desk was cleared. A request without a session is not passed on.
   * @param isPending while an owner decides, the service may count what no reply says
   */
  #count({ kind, lookups }: Reply<unknown>, life: AbortController, isPending = false): void {
    if (kind === 'signedOut' || life !== this.#life) return;
    const { count, isExact } = this.#state.lookups;
    this.#change({
      lookups: {
        count: count + (lookups ?? 0),
        isExact: isExact && !isPending && lookups !== null,
      },
    });
  }

  /** While they are checked, rows keep what is known of them. */
  #start(rows: readonly DeskRow[]): void {
    this.#replace(
      rows.map((row) => ({ ...row, state: { kind: 'asking', before: answerOf(row.state) } })),
    );
  }

  #fail(rows: readonly DeskRow[], reply: Exclude<Reply<never>, { kind: 'answered' }>): void {
    const current = rows.map((row) => this.row(row.id) ?? row);
    const failed = (reason: string, more: Partial<DeskRow> = {}): void =>
      this.#settle(
        current.map((row) => ({
          ...row,
          ...more,
          state: withFailure(answerOf(row.state), reason),
        })),
      );
    switch (reply.kind) {
      case 'failed': {
        const { retryAfterSeconds: seconds, correlator } = reply;
        const retryAtMs = seconds === null ? 0 : this.#clock.now() + seconds * 1000;
        failed(reply.reason, { retryAtMs, correlator });
        break;
      }
      case 'signedOut':
        failed('UNAUTHENTICATED');
        this.#change({ isSignedOut: true });
        this.#list?.pause('signedOut');
        break;
      case 'aborted':
        // As before the check: it is neither answered nor failed.
        this.#replace(
          current.map((row) => {
            const answer = answerOf(row.state);
            const state: RowState =
              answer === undefined ? { kind: 'waiting' } : { kind: 'answered', answer };
            return { ...row, state };
          }),
        );
        break;
    }
  }

  /** What a check has brought. */
  #settle(rows: readonly DeskRow[]): void {
    const atMs = this.#clock.now();
    for (const { e164, state } of rows) {
      if (state.kind !== 'answered' && state.kind !== 'failed') continue;
      const verdict = verdictOf(state);
      if (verdict.kind === 'pending') continue;
      const name = failureOf(state) === null ? verdictName(verdict) : 'No answer';
      this.#checks.note(e164, { atMs, verdict: name });
    }
    this.#replace(rows);
  }

  /** Rows that are off the desk by now stay off it. */
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

function answered(
  row: DeskRow,
  before: Answer | undefined,
  { customer, said }: Told<Answer>,
  correlator: string,
  nowMs: number,
): DeskRow {
  const waits = WINDOWS_HOURS.map((hours) => {
    const window = said.windows[hours];
    return window.kind === 'unknown' ? (window.retryAfterSeconds ?? 0) : 0;
  });
  const longestSeconds = Math.max(...waits);
  const retryAtMs = longestSeconds === 0 ? 0 : nowMs + longestSeconds * 1000;
  return { ...row, customer, correlator, retryAtMs, state: withAnswer(before, said) };
}

/** What a further check need not bring again. */
function knownWindows({ windows }: Answer): Answer['windows'] {
  const known = { ...NOTHING_ASKED };
  for (const hours of WINDOWS_HOURS) {
    if (isKnown(windows[hours])) known[hours] = windows[hours];
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
  readonly #spentBeforeMs: number;
  #nextPage = 0;
  #done = 0;
  /** The states in the order in which they came, as many as say whether there is an outage. */
  #latest: readonly RowState[] = [];
  #activeBeforeMs = 0;
  #activeSinceMs: number;
  #paused: { why: PauseReason; over: PromiseWithResolvers<void> } | undefined;

  constructor(
    pages: readonly (readonly DeskRow[])[],
    life: AbortSignal,
    clock: DeskClock,
    spentBeforeMs: number,
    tell: (run: Run) => void,
  ) {
    this.#pages = pages;
    this.#clock = clock;
    this.#spentBeforeMs = spentBeforeMs;
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
    const activeMs = this.#activeMs();
    const spentMs = this.#spentBeforeMs + activeMs;
    return { done: this.#done, total: this.#total, activeMs, spentMs };
  }

  #activeMs(): number {
    return this.#paused === undefined
      ? this.#activeBeforeMs + this.#clock.now() - this.#activeSinceMs
      : this.#activeBeforeMs;
  }
}

function isQuotaSpent(state: RowState): boolean {
  if (failureOf(state) === 'RATE_LIMITED') return true;
  const answer = answerOf(state);
  return WINDOWS_HOURS.some((hours) => {
    const window = answer?.windows[hours];
    return window?.kind === 'unknown' && window.reason === 'RATE_LIMITED';
  });
}
