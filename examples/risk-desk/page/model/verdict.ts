import { WINDOWS_HOURS, type Answer, type WindowHours } from './windows.ts';

/** Where a row stands. */
export type RowState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'asking' }
  /** Asking would ring the owner's phone: it waits for a click. */
  | { readonly kind: 'needsConsent' }
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** No answer came for it. */
  | { readonly kind: 'failed'; readonly reason: string };

/** What the desk makes of a row; a union, so that no screen can forget a case. */
export type Verdict =
  | { readonly kind: 'swapped'; readonly withinHours: WindowHours }
  /** Never to be taken for `clear`. */
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      /** How far back the operator vouches all the same. */
      readonly clearHours: WindowHours | null;
    }
  | { readonly kind: 'pending'; readonly expiresAtMs: number | null }
  | { readonly kind: 'needsConsent' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'clear' };

/** Said of a window that was never asked and follows from no other. */
const NOT_ASKED = 'NOT_ASKED';

/** Judges a row. Only four windows for which the operator vouches are `clear`; whatever else there is, is not. */
export function verdictOf(state: RowState): Verdict {
  switch (state.kind) {
    case 'waiting':
    case 'asking':
    case 'needsConsent':
      return { kind: state.kind };
    case 'failed':
      return { kind: 'unknown', reason: state.reason, clearHours: null };
    case 'answered':
      return judge(state.answer);
  }
}

function judge({ windows }: Answer): Verdict {
  const withinHours = WINDOWS_HOURS.find((hours) => windows[hours].kind === 'swapped');
  if (withinHours !== undefined) return { kind: 'swapped', withinHours };
  // What was asked and came to nothing says more than what was not asked.
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
export const OUTCOMES = ['swapped', 'unknown', 'consent', 'open', 'clear'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export function outcomeOf(verdict: Verdict): Outcome {
  switch (verdict.kind) {
    case 'swapped':
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

/** In words, for filters, the chart and the export. */
export const OUTCOME_NAMES: Readonly<Record<Outcome, string>> = {
  swapped: 'SIM changed',
  unknown: 'Unknown',
  consent: 'Needs consent',
  open: 'Not asked yet',
  clear: 'No change',
};

/** What stands in the table. */
export function verdictName(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'swapped':
      return 'SIM changed';
    case 'unknown':
      return 'Unknown';
    case 'pending':
      return 'Waiting for consent';
    case 'needsConsent':
      return 'Needs consent';
    case 'asking':
      return 'Asking …';
    case 'waiting':
      return 'Not asked yet';
    case 'clear':
      return 'No change';
  }
}

/** Unknown stands apart from safe, with what is still open between them. */
export function rankOf(verdict: Verdict): number {
  switch (verdict.kind) {
    case 'swapped':
      return WINDOWS_HOURS.indexOf(verdict.withinHours);
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
