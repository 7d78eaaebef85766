import { saysSwapped, type DateFact, type Fact } from './fact.ts';
import type { MaxAgeHours } from './maxAge.ts';

const HOUR_MS = 3_600_000;

/** How far the operator's dates may be believed. */
export interface DateTrust {
  /** How far a date may be off: operators round, mislabel zones, and clocks differ. */
  readonly dateMarginHours: number;
  /** Whether `monitoredPeriod` beside a null date means "no swap in that period". */
  readonly trustMonitoredPeriod: boolean;
}

/** An answer about a window, and the fact that it follows from. */
export interface Deduced {
  readonly swapped: boolean;
  /** When the operator was asked for that fact, milliseconds since 1970. */
  readonly asOfMs: number;
}

/**
 * Whether the SIM changed within the window, as far as it follows from the facts; `undefined` where it
 * does not (docs/design.md, "What a fact answers"). Where facts contradict each other, `true` wins: the safe side.
 * Where several say the same, the latest of them gives `asOfMs`.
 */
export function deduceSwapped(
  maxAgeHours: MaxAgeHours,
  facts: readonly Fact[],
  trust: DateTrust,
): Deduced | undefined {
  const someCheckSaidTrue = facts.some(saysSwapped);
  let deduced: Deduced | undefined;
  for (const fact of facts) {
    const swapped = factSays(fact, maxAgeHours, someCheckSaidTrue, trust);
    if (swapped === undefined) continue;
    const found = { swapped, asOfMs: fact.sentAtMs };
    if (deduced === undefined || outweighs(found, deduced)) deduced = found;
  }
  return deduced;
}

function outweighs(found: Deduced, known: Deduced): boolean {
  return found.swapped === known.swapped ? found.asOfMs > known.asOfMs : found.swapped;
}

function factSays(
  fact: Fact,
  maxAgeHours: MaxAgeHours,
  someCheckSaidTrue: boolean,
  trust: DateTrust,
): boolean | undefined {
  switch (fact.operation) {
    case 'check':
      return checkSays(fact.maxAgeHours, fact.swapped, maxAgeHours);
    case 'retrieve-date':
      return dateSays(fact, maxAgeHours, someCheckSaidTrue, trust);
  }
}

/** `true` holds for every larger window, `false` for every smaller one. */
function checkSays(
  checkedHours: MaxAgeHours,
  swapped: boolean,
  maxAgeHours: MaxAgeHours,
): boolean | undefined {
  if (swapped) return checkedHours <= maxAgeHours ? true : undefined;
  return checkedHours >= maxAgeHours ? false : undefined;
}

/** A date may be the SIM's activation; only beside a check that said `true` is it known to be a swap. */
function dateSays(
  fact: DateFact,
  maxAgeHours: MaxAgeHours,
  isSwap: boolean,
  trust: DateTrust,
): boolean | undefined {
  if (fact.latestSimChange === null) {
    return isWithinMonitoredPeriod(fact, maxAgeHours, trust) ? false : undefined;
  }
  if (isOlderThanWindow(fact, fact.latestSimChange.epochMs, maxAgeHours, trust)) return false;
  const windowStartMs = fact.sentAtMs - maxAgeHours * HOUR_MS;
  const isInside = fact.latestSimChange.epochMs > windowStartMs + trust.dateMarginHours * HOUR_MS;
  return isSwap && isInside ? true : undefined;
}

/**
 * The answer where nothing but the date can be asked (docs/design.md, "One operation alone"): `true` unless the date
 * proves `false`. It may overstate (an activation, the margin), it never misses a swap.
 */
export function deduceSwappedFromDateAlone(
  maxAgeHours: MaxAgeHours,
  fact: DateFact,
  trust: DateTrust,
): boolean | undefined {
  if (fact.latestSimChange === null) {
    return isWithinMonitoredPeriod(fact, maxAgeHours, trust) ? false : undefined;
  }
  return !isOlderThanWindow(fact, fact.latestSimChange.epochMs, maxAgeHours, trust);
}

function isOlderThanWindow(
  fact: DateFact,
  latestSimChangeMs: number,
  maxAgeHours: MaxAgeHours,
  trust: DateTrust,
): boolean {
  return latestSimChangeMs < fact.sentAtMs - (maxAgeHours + trust.dateMarginHours) * HOUR_MS;
}

function isWithinMonitoredPeriod(
  fact: DateFact,
  maxAgeHours: MaxAgeHours,
  trust: DateTrust,
): boolean {
  return maxAgeHours <= monitoredHours(fact, trust);
}

/** The longest window that a withheld date answers by its `monitoredPeriod`; 0 where it answers none. */
export function monitoredHours(
  { monitoredPeriodDays }: DateFact,
  { trustMonitoredPeriod, dateMarginHours }: DateTrust,
): number {
  if (!trustMonitoredPeriod || monitoredPeriodDays === undefined) return 0;
  return Math.max(0, Math.floor(monitoredPeriodDays * 24 - dateMarginHours));
}
