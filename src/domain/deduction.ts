import type { DateFact, Fact } from './fact.ts';
import type { MaxAgeHours } from './maxAge.ts';

const HOUR_MS = 3_600_000;

/** How far the operator's dates may be believed. */
export interface DateTrust {
  /** How far a date may be off: operators round, mislabel zones, and clocks differ. */
  readonly dateMarginHours: number;
  /** Whether `monitoredPeriod` beside a null date means "no swap in that period". */
  readonly trustMonitoredPeriod: boolean;
}

/**
 * Whether the SIM changed within the window, as far as it follows from the facts; `undefined` where it
 * does not (design §3, rules 3 to 5). Where facts contradict each other, `true` wins: the safe side.
 */
export function deduceSwapped(
  maxAgeHours: MaxAgeHours,
  facts: readonly Fact[],
  trust: DateTrust,
): boolean | undefined {
  const someCheckSaidTrue = facts.some((fact) => fact.operation === 'check' && fact.swapped);
  let swapped: boolean | undefined;
  for (const fact of facts) {
    const says =
      fact.operation === 'check'
        ? checkSays(fact.maxAgeHours, fact.swapped, maxAgeHours)
        : dateSays(fact, maxAgeHours, someCheckSaidTrue, trust);
    if (says === true) return true;
    swapped ??= says;
  }
  return swapped;
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
 * The answer where nothing but the date can be asked (design §3, rule 6): `true` unless the date
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
  const monitored = monitoredHours(fact, trust);
  return monitored !== undefined && maxAgeHours <= monitored;
}

/** How far back a null date says that nothing happened; `undefined` where it says nothing of a period. */
export function monitoredHours(
  { monitoredPeriodDays }: DateFact,
  { trustMonitoredPeriod, dateMarginHours }: DateTrust,
): number | undefined {
  if (!trustMonitoredPeriod || monitoredPeriodDays === undefined) return undefined;
  return monitoredPeriodDays * 24 - dateMarginHours;
}
