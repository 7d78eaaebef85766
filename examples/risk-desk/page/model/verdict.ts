import { reasonOf } from './reasons.ts';
import {
  activatedAtMs,
  isAnyKnown,
  WINDOWS_HOURS,
  type Answer,
  type WindowHours,
} from './windows.ts';

/** Where a row is. */
export type RowState =
  | { readonly kind: 'waiting' }
  | {
      readonly kind: 'asking';
      /** What an earlier check brought. */
      readonly before?: Answer | undefined;
    }
  /** A check would ring the owner's phone: it waits for a click. */
  | { readonly kind: 'needsConsent' }
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** The latest check brought no answer. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** What an earlier check brought: it stays, with its time. */
      readonly before?: Answer | undefined;
    };

/** What the desk makes of a row; a union, so that no screen can forget a case. */
export type Verdict =
  | { readonly kind: 'swapped'; readonly withinHours: WindowHours }
  /** No swap, and yet a new SIM: the line itself is new. Never to be taken for `clear`. */
  | { readonly kind: 'activated'; readonly atMs: number }
  /** Never to be taken for `clear`. */
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      /** How far back the operator reports no change all the same. */
      readonly clearHours: WindowHours | null;
    }
  | { readonly kind: 'pending'; readonly expiresAtMs: number | null }
  | { readonly kind: 'needsConsent' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'clear' };

/** What is known of a row, from its latest check or from the one before. */
export function answerOf(state: RowState): Answer | undefined {
  switch (state.kind) {
    case 'waiting':
    case 'needsConsent':
      return undefined;
    case 'asking':
    case 'failed':
      return state.before;
    case 'answered':
      return state.answer;
  }
}

/** Why the latest check of a row failed, while the verdict is of an earlier one; or else `null`. */
export function refreshFailure(state: RowState): string | null {
  return state.kind === 'failed' && state.before !== undefined ? state.reason : null;
}

/** Why a row has no answer, or none that is new; `null` where it has. */
export function failureOf(state: RowState): string | null {
  if (state.kind === 'failed') return state.reason;
  const verdict = verdictOf(state);
  return verdict.kind === 'unknown' ? verdict.reason : null;
}

/**
 * A row after a check. An answer that says nothing leaves an earlier one in place, unless what it says is
 * about this number.
 */
export function withAnswer(before: Answer | undefined, answer: Answer): RowState {
  const state: RowState = { kind: 'answered', answer };
  const failure = failureOf(state);
  return failure === null || isAnyKnown(answer) ? state : withFailure(before, failure, state);
}

/** @param otherwise where nothing is kept */
export function withFailure(
  before: Answer | undefined,
  reason: string,
  otherwise: RowState = { kind: 'failed', reason },
): RowState {
  return before === undefined || reasonOf(reason).isAboutNumber
    ? otherwise
    : { kind: 'failed', reason, before };
}

/** Said of a window that was never checked and follows from no other. */
const NOT_ASKED = 'NOT_ASKED';

/** Judges a row. Only four windows without a swap and without a new line are `clear`. */
export function verdictOf(state: RowState): Verdict {
  switch (state.kind) {
    case 'answered':
      return judge(state.answer);
    case 'asking':
      return state.before === undefined ? { kind: 'asking' } : judge(state.before);
    case 'failed':
      return state.before === undefined
        ? { kind: 'unknown', reason: state.reason, clearHours: null }
        : judge(state.before);
    case 'waiting':
    case 'needsConsent':
      return { kind: state.kind };
  }
}

function judge(answer: Answer): Verdict {
  const { windows } = answer;
  const withinHours = WINDOWS_HOURS.find((hours) => windows[hours].kind === 'swapped');
  if (withinHours !== undefined) return { kind: 'swapped', withinHours };
  const atMs = activatedAtMs(answer);
  if (atMs !== null) return { kind: 'activated', atMs };
  // What was checked in vain says more than what was not checked.
  const open =
    WINDOWS_HOURS.find((hours) => windows[hours].kind === 'unknown') ??
    WINDOWS_HOURS.find((hours) => windows[hours].kind !== 'notSwapped');
  if (open === undefined) return { kind: 'clear' };
  const window = windows[open];
  const clearHours =
    WINDOWS_HOURS.findLast((hours) => hours < open && windows[hours].kind === 'notSwapped') ?? null;
  if (window.kind !== 'unknown') return { kind: 'unknown', reason: NOT_ASKED, clearHours };
  if (window.reason === 'CONSENT_PENDING') {
    return { kind: 'pending', expiresAtMs: window.expiresAtMs };
  }
  return { kind: 'unknown', reason: window.reason, clearHours };
}

/** The outcomes that people filter and count by, the most pressing first. */
export const OUTCOMES = [
  'within24h',
  'within72h',
  'within7d',
  'within30d',
  'activated',
  'unknown',
  'consent',
  'open',
  'clear',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export function outcomeOf(verdict: Verdict): Outcome {
  switch (verdict.kind) {
    case 'swapped':
      return SWAP_OUTCOMES[verdict.withinHours];
    case 'activated':
    case 'unknown':
    case 'clear':
      return verdict.kind;
    case 'pending':
    case 'needsConsent':
      return 'consent';
    case 'asking':
    case 'waiting':
      return 'open';
  }
}

const SWAP_OUTCOMES = {
  24: 'within24h',
  72: 'within72h',
  168: 'within7d',
  720: 'within30d',
} as const satisfies Readonly<Record<WindowHours, Outcome>>;

/** In words, for filters and charts. */
export const OUTCOME_NAMES: Readonly<Record<Outcome, string>> = {
  within24h: 'Changed in 24 h',
  within72h: 'Changed 24–72 h ago',
  within7d: 'Changed 3–7 days ago',
  within30d: 'Changed 7–30 days ago',
  activated: 'New line',
  unknown: 'Unknown',
  consent: 'Needs consent',
  open: 'Not checked',
  clear: 'No change',
};

/** In the table and the export. */
export function verdictName(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'swapped':
      return 'SIM changed';
    case 'activated':
      return 'New line';
    case 'unknown':
      return 'Unknown';
    case 'pending':
      return 'Waiting for consent';
    case 'needsConsent':
      return 'Needs consent';
    case 'asking':
      return 'Checking …';
    case 'waiting':
      return 'Not checked';
    case 'clear':
      return 'No change';
  }
}

/** The order of risk. Unknown is apart from safe, with what is still open between them. */
export function rankOf(verdict: Verdict): number {
  switch (verdict.kind) {
    case 'swapped':
      return WINDOWS_HOURS.indexOf(verdict.withinHours);
    case 'activated':
      return 5;
    case 'unknown':
      return 10;
    case 'pending':
      return 20;
    case 'needsConsent':
      return 21;
    case 'asking':
      return 30;
    case 'waiting':
      return 31;
    case 'clear':
      return 40;
  }
}
