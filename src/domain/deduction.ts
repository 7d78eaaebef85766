import { saysSwapped, type DateFact, type TimedFact } from './fact.ts';
import type { OperatorProfile } from './profile.ts';
import type { MaxAgeHours } from './question.ts';

const HOUR_MS = 3_600_000;

export interface DateTrust extends Pick<
  OperatorProfile,
  'dateMarginHours' | 'trustMonitoredPeriod'
> {
  /** The trust in the dates of other operators, whose facts may be kept, by their identities. */
  readonly trusts?: ReadonlyMap<string, DateTrust>;
}

export interface Deduced {
  readonly kind: 'window';
  readonly swapped: boolean;
  /** When the latest lookup with this answer left, in milliseconds since 1970. */
  readonly asOfMs: number;
  readonly from: readonly TimedFact[];
}

/**
 * `undefined` where the facts do not decide (docs/design.md, "What a fact answers"). Where facts contradict each other,
 * `true` wins: the safe side. `unrequested` facts answer nothing, but a `false` must agree with them.
 */
export function deduceSwapped(
  maxAgeHours: MaxAgeHours,
  facts: readonly TimedFact[],
  trust: DateTrust,
  unrequested: readonly TimedFact[] = [],
): Deduced | undefined {
  if (facts.length === 0) return undefined;
  const windowMs = maxAgeHours * HOUR_MS;
  if (facts.some(saysSwapped)) {
    const swaps = facts.filter(saysSwapped);
    const sayingTrue = facts.filter((fact) => saysTrue(fact, windowMs, trust));
    if (sayingTrue.length > 0) return deduced(true, sayingTrue, sayingTrue.concat(swaps));
  }
  const isFalse = (fact: TimedFact): boolean => {
    const isOutdated = (other: TimedFact): boolean => outdates(other, fact, trust);
    return (
      saysFalse(fact, windowMs, trust) && !facts.some(isOutdated) && !unrequested.some(isOutdated)
    );
  };
  // Most numbers have one fact, and need no second list.
  const sayingFalse = facts.every(isFalse) ? facts : facts.filter(isFalse);
  return sayingFalse.length > 0 ? deduced(false, sayingFalse, sayingFalse) : undefined;
}

/** @param from the facts that make a date that of a swap, in addition to those that say so */
function deduced(
  swapped: boolean,
  saying: readonly TimedFact[],
  from: readonly TimedFact[],
): Deduced {
  const asOfMs = saying.reduce((latest, { sentAtMs }) => Math.max(latest, sentAtMs), -Infinity);
  return { kind: 'window', swapped, asOfMs, from };
}

/** A date may be the SIM's activation. It is known to be a swap once a check has said `true`. */
function saysTrue(fact: TimedFact, windowMs: number, trust: DateTrust): boolean {
  switch (fact.operation) {
    case 'check':
      return fact.swapped && fact.maxAgeHours * HOUR_MS <= windowMs;
    case 'retrieve-date': {
      const { latestSimChange, sentAtMs, isUndated = false } = fact;
      if (latestSimChange === null || isUndated) return false;
      return latestSimChange.epochMs > sentAtMs - windowMs + marginMs(fact, trust);
    }
  }
}

function saysFalse(fact: TimedFact, windowMs: number, trust: DateTrust): boolean {
  const unchangedMs = unchangedForMs(fact, trust);
  // A change at the very start of a window lies within it.
  return isDisclosed(fact) ? unchangedMs > windowMs : unchangedMs >= windowMs;
}

/** How long before the lookup left nothing had changed; below 0 where it may have changed since. */
function unchangedForMs(fact: TimedFact, trust: DateTrust): number {
  switch (fact.operation) {
    case 'check':
      return fact.swapped ? -Infinity : fact.maxAgeHours * HOUR_MS;
    case 'retrieve-date': {
      const { latestSimChange, sentAtMs, isUndated = false } = fact;
      if (latestSimChange === null) return monitoredHours(fact, trust) * HOUR_MS;
      // It may have changed until the reply arrived.
      if (isUndated) return fact.leftAtMs - fact.repliedAtMs;
      return sentAtMs - latestSimChange.epochMs - marginMs(fact, trust);
    }
  }
}

function marginMs(fact: TimedFact, trust: DateTrust): number {
  return trustIn(fact, trust).dateMarginHours * HOUR_MS;
}

function trustIn({ toldBy }: TimedFact, trust: DateTrust): DateTrust {
  return trust.trusts?.get(toldBy) ?? trust;
}

function unchangedSinceMs(fact: TimedFact, trust: DateTrust): number {
  return fact.leftAtMs - unchangedForMs(fact, trust);
}

/** A `false` counts no longer where the SIM is known to have changed (docs/design.md, "Facts in the order of time"). */
function outdates(other: TimedFact, fact: TimedFact, trust: DateTrust): boolean {
  const sinceMs = unchangedSinceMs(fact, trust);
  if (!isDisclosed(other)) {
    return (
      other.operation === 'check' &&
      other.swapped &&
      other.leftAtMs - other.maxAgeHours * HOUR_MS >= sinceMs
    );
  }
  // What came in the same reply as the date was said at the same moment.
  if (other.replyId === fact.replyId) return false;
  const changedAtMs = unchangedSinceMs(other, trust);
  switch (fact.operation) {
    case 'check':
      // Two lookups under way at a time may be answered in either order.
      return other.repliedAtMs > fact.leftAtMs && changedAtMs > fact.leftAtMs;
    case 'retrieve-date':
      return changedAtMs > sinceMs;
  }
}

function isDisclosed(fact: TimedFact): boolean {
  return fact.operation === 'retrieve-date' && fact.latestSimChange !== null;
}

/** The longest window that a withheld date answers by its `monitoredPeriod`; 0 where it answers none. */
export function monitoredHours(fact: TimedFact & DateFact, trust: DateTrust): number {
  const { monitoredPeriodDays } = fact;
  const { trustMonitoredPeriod, dateMarginHours } = trustIn(fact, trust);
  if (!trustMonitoredPeriod || monitoredPeriodDays === undefined) return 0;
  return Math.max(0, Math.floor(monitoredPeriodDays * 24 - dateMarginHours));
}
