import { quotaChannel } from '../../log/diagnostics.ts';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import type { Identity } from '../../domain/identity.ts';

/** A window starts with its first count. */
export const WINDOW_MS = 3_600_000;

export interface CountClaim {
  readonly count: string;
  readonly limit: number;
  /** The count rises only with the first claim of this member in the window. */
  readonly member?: string;
}

export interface Standing {
  /** In the order of their names. */
  readonly counts: readonly number[];
  /** The time until the window ends and all its counts are 0. */
  readonly resetMs: number;
}

export interface Claimed extends Standing {
  /** The index of the claim that exceeds its limit; no count was raised then. */
  readonly over: number | undefined;
  /** Gives the claims back, at most once, and only where none exceeds its limit. Never rejects. */
  readonly giveBack: () => Promise<void> | void;
}

/**
 * No method rejects. Claims are made together or not at all, in one step: two at the same moment, in any processes,
 * never both get the last place, and never count a member twice.
 */
export interface HourlyCounts {
  /** The name of a caller or a number in the store, of bounded length. */
  nameOf(text: string): string;
  windowOf(whose: 'caller' | 'number', text: string): string;
  /**
   * @param timeLimitMs for a store outside this process
   * @param shown names of counts that are read soon
   */
  claim(
    window: string,
    claims: readonly CountClaim[],
    timeLimitMs: number,
    shown?: readonly string[],
  ): Promise<Claimed> | Claimed;
  /** May lag a second behind claims by other processes. */
  read(
    window: string,
    counts: readonly string[],
    timeLimitMs: number,
  ): Promise<Standing> | Standing;
}

/** Limits on distinct numbers, lookups at each operator, and prompts to the owner of one number. */
export interface CallerQuotas {
  readonly numbersPerHour: number;
  readonly lookupsPerHour: number;
  readonly promptsPerHour: number;
}

export interface QuotaSettings extends CallerQuotas {
  /** The quotas of a client's callers, by its id in tokens. Members that are absent are those of all callers. */
  readonly clients: ReadonlyMap<string, Partial<CallerQuotas>>;
  /** Prompts to the owner of one number, by all callers together. */
  readonly promptsPerHourAllCallers: number;
}

/** What is counted together: a number without a lookup, a lookup with its number, a prompt to the number's owner. */
export type Counting = 'number' | 'lookup' | 'prompt';

interface CountedFor {
  readonly caller: Identity;
  readonly number: PhoneNumber;
  /** A name from the settings, so there are few. */
  readonly operator: string;
}

interface QuotaClaim extends CountClaim {
  readonly quota: 'numbers' | 'lookups' | 'prompts';
}

export interface WithinQuota {
  readonly kind: 'within';
  /** Called at most once, where nothing was sent. Never rejects. */
  readonly giveBack: () => Promise<void>;
}

interface OverQuota {
  readonly kind: 'over';
  readonly over: QuotaClaim['quota'];
  readonly retryAfterSeconds: number;
}

export interface QuotaStanding {
  readonly quota: 'numbers' | 'lookups';
  readonly limit: number;
  readonly left: number;
  /** The time until the whole limit is available again. */
  readonly resetSeconds: number;
}

/**
 * Counts distinct numbers per caller, lookups per caller and operator, and prompts per number, each in an hour that
 * starts with the first of them. These limits end a scan, over any number of processes.
 */
export class Quotas {
  readonly #settings: QuotaSettings;
  readonly #clients: ReadonlyMap<string, CallerQuotas>;
  readonly #counts: HourlyCounts;
  /** The counts of a caller's window. */
  readonly #names: readonly string[];
  /** A token's identity lasts as long as its verification is kept: one name serves all its requests. */
  readonly #windows = new WeakMap<Identity, string>();

  constructor(settings: QuotaSettings, counts: HourlyCounts, operators: readonly string[]) {
    this.#settings = settings;
    this.#clients = new Map(
      [...settings.clients].map(([client, quotas]) => [client, { ...settings, ...quotas }]),
    );
    this.#counts = counts;
    this.#names = ['numbers', ...operators.map(lookupsAt)];
  }

  /** Counts all claims or none. */
  async count(
    countings: readonly Counting[],
    whose: CountedFor,
    timeLimitMs: number,
  ): Promise<WithinQuota | OverQuota> {
    const counted: Claimed[] = [];
    const giveBack = async (): Promise<void> => {
      await Promise.all(counted.map(async (one) => one.giveBack()));
    };
    for (const counting of countings) {
      const { window, claims, shown } = this.#claimsFor(counting, whose);
      const claiming = this.#counts.claim(window, claims, timeLimitMs, shown);
      const claimed = claiming instanceof Promise ? await claiming : claiming;
      for (const [index, { quota, limit }] of claims.entries()) {
        quotaChannel.publish({ quota, used: Math.min(1, (claimed.counts[index] ?? 0) / limit) });
      }
      const over = claims[claimed.over ?? -1];
      if (over !== undefined) {
        await giveBack();
        // All callers share a window of prompts: when it ends would reveal when another one prompted the owner.
        const resetMs = over.quota === 'prompts' ? WINDOW_MS : claimed.resetMs;
        return { kind: 'over', over: over.quota, retryAfterSeconds: secondsOf(resetMs) };
      }
      counted.push(claimed);
    }
    return { kind: 'within', giveBack };
  }

  /** The rest of each quota of a caller. Anonymous callers have no quota. */
  async standingOf(caller: Identity, timeLimitMs: number): Promise<readonly QuotaStanding[]> {
    if (caller.kind === 'anonymous') return [];
    const window = this.#windowOf(caller);
    const found = await this.#counts.read(window, this.#names, timeLimitMs);
    const [numbers = 0, ...lookups] = found.counts;
    const { numbersPerHour, lookupsPerHour } = this.#quotasOf(caller);
    const resetSeconds = secondsOf(found.resetMs);
    const standing = (quota: QuotaStanding['quota'], limit: number, used: number) => {
      return { quota, limit, left: Math.max(0, limit - used), resetSeconds };
    };
    return [
      standing('numbers', numbersPerHour, numbers),
      // Of the operator with the least left, without its name.
      standing('lookups', lookupsPerHour, Math.max(0, ...lookups)),
    ];
  }

  #claimsFor(
    counting: Counting,
    { caller, number, operator }: CountedFor,
  ): {
    readonly window: string;
    readonly claims: readonly QuotaClaim[];
    readonly shown?: readonly string[];
  } {
    const counts = this.#counts;
    const { numbersPerHour, lookupsPerHour, promptsPerHour } = this.#quotasOf(caller);
    if (counting === 'prompt') {
      const { promptsPerHourAllCallers } = this.#settings;
      return {
        window: counts.windowOf('number', number),
        claims: [
          { quota: 'prompts', count: counts.nameOf(caller.key), limit: promptsPerHour },
          { quota: 'prompts', count: 'all', limit: promptsPerHourAllCallers },
        ],
      };
    }
    const window = this.#windowOf(caller);
    // A number counts once an hour.
    const member = counts.nameOf(`${caller.key} ${number}`);
    const numberClaim = {
      quota: 'numbers',
      count: 'numbers',
      limit: numbersPerHour,
      member,
    } as const;
    const shown = this.#names;
    if (counting === 'number') return { window, claims: [numberClaim], shown };
    const lookupClaim = {
      quota: 'lookups',
      count: lookupsAt(operator),
      limit: lookupsPerHour,
    } as const;
    return { window, claims: [numberClaim, lookupClaim], shown };
  }

  #windowOf(caller: Identity): string {
    const window = this.#windows.get(caller) ?? this.#counts.windowOf('caller', caller.key);
    this.#windows.set(caller, window);
    return window;
  }

  #quotasOf(caller: Identity): CallerQuotas {
    const own = caller.kind === 'token' ? this.#clients.get(caller.client ?? '') : undefined;
    return own ?? this.#settings;
  }
}

function lookupsAt(operator: string): string {
  return `lookups ${operator}`;
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
