/** The windows that the desk looks at, in hours, from the smallest. */
export const WINDOWS_HOURS = [24, 72, 168, 720] as const;
export type WindowHours = (typeof WINDOWS_HOURS)[number];

/** The largest of them: what is not swapped there is not swapped in any. */
export const LONGEST_WINDOW_HOURS: WindowHours = 720;

const HOUR_MS = 3_600_000;

/** What is known of one window. */
export type WindowAnswer =
  | { readonly kind: 'swapped'; readonly asOfMs: number }
  | { readonly kind: 'notSwapped'; readonly asOfMs: number }
  | {
      readonly kind: 'unknown';
      /** A code of the schema, one that a later service has, or one of this page's own. */
      readonly reason: string;
      readonly retryAfterSeconds: number | null;
      readonly expiresAtMs: number | null;
      /** The longest window that can be checked, with PERIOD_NOT_SUPPORTED. */
      readonly maxAgeHours: number | null;
    }
  /** It was not checked: the owner's phone would have rung for it. */
  | { readonly kind: 'notAsked' };

export type Windows = Readonly<Record<WindowHours, WindowAnswer>>;

/** The moment of the last change as the operator gives it. */
export type LastChange =
  | { readonly kind: 'at'; readonly atMs: number }
  | { readonly kind: 'withheld' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'notAsked' };

/** What the operator said about a number. */
export interface Answer {
  readonly windows: Windows;
  readonly lastChange: LastChange;
}

/** In words, such as `24 h` and `7 days`. */
export function windowName(hours: number): string {
  return hours % 24 === 0 && hours > 72 ? `${hours / 24} days` : `${hours} h`;
}

/**
 * When the line was activated, where that is what the date means: it lies within a window in which, says
 * the operator, the SIM was not swapped.
 */
export function activatedAtMs({ windows, lastChange }: Answer): number | null {
  if (lastChange.kind !== 'at') return null;
  const { atMs } = lastChange;
  const isActivation = WINDOWS_HOURS.some((hours) => {
    const window = windows[hours];
    return window.kind === 'notSwapped' && atMs > window.asOfMs - hours * HOUR_MS;
  });
  return isActivation ? atMs : null;
}

/**
 * Adds what follows: not swapped within a window is not swapped within a smaller one, swapped within a
 * window is swapped within a larger one. Only what was not checked is filled in; an answer stays as given.
 */
export function withImplied(windows: Windows): Windows {
  const filled = { ...windows };
  for (const hours of WINDOWS_HOURS) {
    if (windows[hours].kind === 'notAsked') filled[hours] = implied(windows, hours);
  }
  return filled;
}

function implied(windows: Windows, hours: WindowHours): WindowAnswer {
  const larger = WINDOWS_HOURS.filter((one) => one > hours).map((one) => windows[one]);
  const smaller = WINDOWS_HOURS.filter((one) => one < hours).map((one) => windows[one]);
  return (
    smaller.find(({ kind }) => kind === 'swapped') ??
    larger.find(({ kind }) => kind === 'notSwapped') ?? { kind: 'notAsked' }
  );
}

/** Whether the operator said anything about any window. */
export function isAnyKnown({ windows }: Answer): boolean {
  return WINDOWS_HOURS.some((hours) => isKnown(windows[hours]));
}

export function isKnown({ kind }: WindowAnswer): boolean {
  return kind === 'swapped' || kind === 'notSwapped';
}

/** When the oldest of the answers was given; `null` where none is known. */
export function asOfMs({ windows }: Answer): number | null {
  const times = WINDOWS_HOURS.flatMap((hours) => {
    const window = windows[hours];
    return window.kind === 'swapped' || window.kind === 'notSwapped' ? [window.asOfMs] : [];
  });
  return times.length === 0 ? null : Math.min(...times);
}

/** A stretch of the past between two windows, and what is known of it. */
export interface Stretch {
  readonly fromHours: number;
  readonly toHours: number;
  readonly kind: StretchKind;
}

export type StretchKind =
  | 'clear'
  | 'swap'
  | 'activation'
  /** Behind the last change: operators report none before it. */
  | 'earlier'
  | 'notKnown';

/** The windows as stretches of the past, by the moments of the answers: they do not move as time passes. */
export function stretches(answer: Answer): readonly Stretch[] {
  const { windows } = answer;
  const activatedAt = activatedAtMs(answer);
  let isBehindChange = false;
  return WINDOWS_HOURS.map((toHours, index): Stretch => {
    const before = WINDOWS_HOURS[index - 1];
    const fromHours = before ?? 0;
    const kindOf = (): StretchKind => {
      if (isBehindChange) return 'earlier';
      switch (windows[toHours].kind) {
        case 'swapped':
          isBehindChange = true;
          // Where the window that ends before it is not known to be clear, the change may lie there.
          return before === undefined || windows[before].kind === 'notSwapped'
            ? 'swap'
            : 'notKnown';
        case 'notSwapped':
          isBehindChange =
            activatedAt !== null && activatedAt > windows[toHours].asOfMs - toHours * HOUR_MS;
          return isBehindChange ? 'activation' : 'clear';
        case 'unknown':
        case 'notAsked':
          return 'notKnown';
      }
    };
    return { fromHours, toHours, kind: kindOf() };
  });
}
