import { OPERATIONS } from '../../domain/question.ts';
import type { Micros, Price } from '../../domain/price.ts';
import { mayBeAudited, readAuditedLine, type AuditedLine } from './auditedLine.ts';

export const DIMENSIONS = ['day', 'operator', 'operation', 'client', 'subject', 'purpose'] as const;

export type Dimension = (typeof DIMENSIONS)[number];

/** More groups than that go into one: a subject may be each person that has the app. */
export const MAX_GROUPS = 100_000;

/** What a line that tells nothing of a dimension is counted under. */
const NOT_TOLD = '-';

export interface UsageRange {
  /** From then on, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Before then. */
  readonly untilMs?: number | undefined;
}

export interface Usage {
  /** The values of the dimensions, in their order. */
  readonly group: readonly string[];
  lookups: number;
  /** Exchanges of lookups that may have reached the operator: what an invoice is held against. */
  attempts: number;
  consents: number;
  /** Answers that were shared or kept, for which no lookup was made. */
  saved: number;
  /** Lookups and prompts of which only the line before was written: their process ended, or they are under way. */
  unfinished: number;
  readonly outcomes: Map<string, number>;
  /** `undefined` where the operator's price is not known. */
  price: Micros | undefined;
}

/** What a file of the audit log comes to, and what of it could not be read. */
export interface UsageCount {
  lines: number;
  /** Lines that look like the audit log's but are torn. */
  torn: number;
  /** Lines of groups that no longer found a place among {@link MAX_GROUPS}. */
  overflowed: number;
}

/** Sums up the audit log, in memory that does not grow with it. */
export class UsageReport {
  readonly count: UsageCount = { lines: 0, torn: 0, overflowed: 0 };
  readonly #dimensions: readonly Dimension[];
  readonly #range: UsageRange;
  readonly #priceOf: (operator: string) => Price | undefined;
  readonly #groups = new Map<string, Usage>();

  constructor(
    dimensions: readonly Dimension[],
    range: UsageRange,
    priceOf: (operator: string) => Price | undefined,
  ) {
    this.#dimensions = dimensions;
    this.#range = range;
    this.#priceOf = priceOf;
  }

  /** Adds a line; one that is not the audit log's is passed over. */
  add(line: string): void {
    this.count.lines += 1;
    if (!mayBeAudited(line)) return;
    const entry = readAuditedLine(line);
    if (entry === undefined) {
      this.count.torn += 1;
      return;
    }
    const { sinceMs = -Infinity, untilMs = Infinity } = this.#range;
    if (!(entry.atMs >= sinceMs && entry.atMs < untilMs)) return;
    if (entry.event !== 'lookup' && entry.event !== 'consent-request') return;
    this.#add(entry);
  }

  get usages(): readonly Usage[] {
    return (
      [...this.#groups.values()]
        // A range may begin between the two lines of a lookup.
        .map((usage) => ({ ...usage, unfinished: Math.max(0, usage.unfinished) }))
        .toSorted((a, b) => compare(a.group, b.group))
    );
  }

  #add(entry: AuditedLine): void {
    const usage = this.#usageOf(entry);
    switch (entry.audit) {
      case 'before':
        usage.unfinished += 1;
        return;
      case 'after':
        usage.unfinished -= 1;
        this.#addEnded(usage, entry);
        return;
      case 'shared':
      case 'kept':
        usage.saved += 1;
        return;
      default:
        // A line of a version to come.
        return;
    }
  }

  #addEnded(usage: Usage, { event, operation, operator, outcome, attempts }: AuditedLine): void {
    usage.outcomes.set(outcome, (usage.outcomes.get(outcome) ?? 0) + 1);
    if (event === 'consent-request') {
      usage.consents += 1;
      return;
    }
    usage.lookups += 1;
    usage.attempts += attempts;
    const known = OPERATIONS.find((one) => one === operation);
    const price = this.#priceOf(operator);
    usage.price =
      usage.price === undefined || price === undefined || known === undefined
        ? undefined
        : usage.price + attempts * price.microsPerLookup[known];
  }

  #usageOf(entry: AuditedLine): Usage {
    const group = this.#dimensions.map((dimension) => valueOf(dimension, entry));
    const key = JSON.stringify(group);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const isFull = this.#groups.size >= MAX_GROUPS;
    if (isFull) this.count.overflowed += 1;
    const others = isFull ? this.#groups.get(OTHERS) : undefined;
    if (others !== undefined) return others;
    const usage = noUsage(isFull ? this.#dimensions.map(() => 'others') : group);
    this.#groups.set(isFull ? OTHERS : key, usage);
    return usage;
  }
}

export function noUsage(group: readonly string[]): Usage {
  return {
    group,
    lookups: 0,
    attempts: 0,
    consents: 0,
    saved: 0,
    unfinished: 0,
    outcomes: new Map(),
    price: 0,
  };
}

/** No group's key: those are JSON. */
const OTHERS = 'others';

function valueOf(dimension: Dimension, entry: AuditedLine): string {
  if (dimension !== 'day') return entry[dimension] || NOT_TOLD;
  return Number.isNaN(entry.atMs) ? NOT_TOLD : new Date(entry.atMs).toISOString().slice(0, 10);
}

function compare(a: readonly string[], b: readonly string[]): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  if (differing < 0) return 0;
  return (a[differing] ?? '') < (b[differing] ?? '') ? -1 : 1;
}
