import { quotaChannel } from '../../log/diagnostics.ts';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import type { Identity } from '../../domain/identity.ts';
import type { CountClaim, HourlyCounts } from './hourlyCounts.ts';

export interface CallerQuotas {
  /** Distinct numbers. */
  readonly numbersPerHour: number;
  /** At each operator. */
  readonly lookupsPerHour: number;
  /** Prompts to the owner of one number. */
  readonly promptsPerHour: number;
}

/** How much may be asked in an hour: by any caller, and by callers of the clients that have quotas of their own. */
export interface QuotaSettings extends CallerQuotas {
  /** By client id, as tokens name it. What is absent is as for any caller. */
  readonly clients: ReadonlyMap<string, Partial<CallerQuotas>>;
  /** Prompts to the owner of one number, by all callers together. */
  readonly promptsPerHourAllCallers: number;
}

export type QuotaName = 'numbers' | 'lookups' | 'prompts';

interface QuotaClaim extends CountClaim {
  readonly quota: QuotaName;
}

/** What was counted; it may be given back, when it turns out that nothing left. */
export interface WithinQuota {
  readonly kind: 'within';
  /** Once at most. Never rejects. */
  readonly giveBack: () => Promise<void> | void;
}

/** What was not counted, since the quota is used up. */
export interface OverQuota {
  readonly kind: 'over';
  readonly over: QuotaName;
  readonly retryAfterSeconds: number;
}

export interface QuotaStanding {
  readonly quota: 'numbers' | 'lookups';
  readonly limit: number;
  readonly left: number;
  /** Until the hour is over and the whole limit is left again. */
  readonly resetSeconds: number;
}

/**
 * Counts distinct numbers per caller, lookups per caller and operator, and prompts per number, each in an hour that starts with
 * the first of them. A caller that scans comes to an end, however many processes it asks.
 */
export class Quotas {
  readonly #settings: QuotaSettings;
  /** The whole quotas of each client that has some of its own. */
  readonly #clients: ReadonlyMap<string, CallerQuotas>;
  readonly #counts: HourlyCounts;
  readonly #operators: readonly string[];

  /** @param operators the names of all of them */
  constructor(settings: QuotaSettings, counts: HourlyCounts, operators: readonly string[]) {
    this.#settings = settings;
    this.#clients = new Map(
      [...settings.clients].map(([client, quotas]) => [client, { ...settings, ...quotas }]),
    );
    this.#counts = counts;
    this.#operators = operators;
  }

  countLookup(
    caller: Identity,
    number: PhoneNumber,
    operator: string,
    timeLimitMs: number,
  ): Promise<WithinQuota | OverQuota> {
    const limit = this.#quotasOf(caller).lookupsPerHour;
    const lookup = { quota: 'lookups', count: lookupsAt(operator), limit } as const;
    const claims = [this.#numberClaim(caller, number), lookup];
    return this.#claim(this.#callerWindow(caller), claims, timeLimitMs);
  }

  /** Counts a number that is asked about without a lookup. */
  countNumber(
    caller: Identity,
    number: PhoneNumber,
    timeLimitMs: number,
  ): Promise<WithinQuota | OverQuota> {
    const claims = [this.#numberClaim(caller, number)];
    return this.#claim(this.#callerWindow(caller), claims, timeLimitMs);
  }

  countPrompt(
    caller: Identity,
    number: PhoneNumber,
    timeLimitMs: number,
  ): Promise<WithinQuota | OverQuota> {
    const { promptsPerHour } = this.#quotasOf(caller);
    const { promptsPerHourAllCallers } = this.#settings;
    const claims = [
      { quota: 'prompts', count: this.#counts.nameOf(caller.key), limit: promptsPerHour },
      { quota: 'prompts', count: 'all', limit: promptsPerHourAllCallers },
    ] as const;
    return this.#claim(this.#counts.windowOf('number', number), claims, timeLimitMs);
  }

  /** What a caller has left of each of its quotas. Anonymous callers have none. */
  async standingOf(caller: Identity, timeLimitMs: number): Promise<readonly QuotaStanding[]> {
    if (caller.kind === 'anonymous') return [];
    const window = this.#callerWindow(caller);
    const names = ['numbers', ...this.#operators.map(lookupsAt)];
    const found = await this.#counts.read(window, names, timeLimitMs);
    const [numbers = 0, ...lookups] = found.counts;
    const { numbersPerHour, lookupsPerHour } = this.#quotasOf(caller);
    const standing = (quota: 'numbers' | 'lookups', limit: number, used: number) => ({
      quota,
      limit,
      left: Math.max(0, limit - used),
      resetSeconds: secondsOf(found.resetMs),
    });
    return [
      standing('numbers', numbersPerHour, numbers),
      // That of the operator with the least left, without its name.
      standing('lookups', lookupsPerHour, Math.max(0, ...lookups)),
    ];
  }

  /** A number counts once an hour. */
  #numberClaim(caller: Identity, number: PhoneNumber): QuotaClaim {
    const member = this.#counts.nameOf(`${caller.key} ${number}`);
    const limit = this.#quotasOf(caller).numbersPerHour;
    return { quota: 'numbers', count: 'numbers', limit, member };
  }

  #quotasOf(caller: Identity): CallerQuotas {
    switch (caller.kind) {
      case 'anonymous':
        return this.#settings;
      case 'token':
        return this.#clients.get(caller.client ?? '') ?? this.#settings;
    }
  }

  #callerWindow(caller: Identity): string {
    return this.#counts.windowOf('caller', caller.key);
  }

  async #claim(
    window: string,
    claims: readonly QuotaClaim[],
    timeLimitMs: number,
  ): Promise<WithinQuota | OverQuota> {
    const claimed = await this.#counts.claim(window, claims, timeLimitMs);
    for (const [index, { quota, limit }] of claims.entries()) {
      const used = Math.min(1, (claimed.counts[index] ?? 0) / limit);
      quotaChannel.publish({ quota, used });
    }
    const over = claimed.over === undefined ? undefined : claims[claimed.over];
    return over === undefined
      ? { kind: 'within', giveBack: claimed.giveBack }
      : { kind: 'over', over: over.quota, retryAfterSeconds: secondsOf(claimed.resetMs) };
  }
}

/** The operator's name comes from the settings, so that there are few of these. */
function lookupsAt(operator: string): string {
  return `lookups ${operator}`;
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
