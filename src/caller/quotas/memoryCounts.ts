import { hash } from 'node:crypto';
import type { Clock } from '../../system/clock.ts';
import {
  WINDOW_MS,
  type CountClaim,
  type Claimed,
  type HourlyCounts,
  type Standing,
} from './quotas.ts';

const BOUNDS = { maxWindowBytes: 32 * 1024 ** 2, maxMemberBytes: 32 * 1024 ** 2 };

/** The bytes of a window, and of a count or a member with a name of up to 50 characters. Measured, and rounded up. */
const WINDOW_BYTES = 692;
const ENTRY_BYTES = 140;

interface Window {
  readonly name: string;
  readonly endsAtMs: number;
  readonly counts: Map<string, number>;
  /** The number of claims of each member. */
  readonly members: Map<string, number>;
}

/**
 * The counts of one process, bounded in bytes. When members need more room, those of the oldest windows are forgotten
 * and count again: too much, never too little. When windows need more, the oldest, which would end first, starts again.
 */
export class MemoryCounts implements HourlyCounts {
  readonly #clock: Clock;
  readonly #bounds: typeof BOUNDS;
  /** The oldest first: all windows last equally long. */
  readonly #windows = new Map<string, Window>();
  /** The windows with members, the oldest first. */
  readonly #withMembers = new Set<Window>();
  /** The counts of all windows together. */
  #counts = 0;
  #members = 0;

  constructor(clock: Clock, bounds = BOUNDS) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#windowBytes + this.#members * ENTRY_BYTES;
  }

  get #windowBytes(): number {
    return this.#windows.size * WINDOW_BYTES + this.#counts * ENTRY_BYTES;
  }

  nameOf(text: string): string {
    return hash('sha256', text, 'base64url');
  }

  windowOf(whose: 'caller' | 'number', text: string): string {
    return `${whose}:${this.nameOf(text)}`;
  }

  claim(name: string, claims: readonly CountClaim[]): Claimed {
    const nowMs = this.#clock.monotonicMs();
    let window = this.#live(name, nowMs);
    if (window === undefined) {
      window = { name, endsAtMs: nowMs + WINDOW_MS, counts: new Map(), members: new Map() };
      this.#windows.set(name, window);
    }
    const { counts, members } = window;
    const raised: CountClaim[] = [];
    let over: number | undefined;
    for (const [place, claim] of claims.entries()) {
      if (claim.member !== undefined && members.has(claim.member)) continue;
      if ((counts.get(claim.count) ?? 0) >= claim.limit) over ??= place;
      raised.push(claim);
    }
    if (over === undefined) {
      for (const { count } of raised) {
        if (!counts.has(count)) this.#counts += 1;
        counts.set(count, (counts.get(count) ?? 0) + 1);
      }
      for (const { member } of claims) if (member !== undefined) this.#join(window, member);
    }
    for (const oldest of this.#windows.values()) {
      if (this.#windowBytes <= this.#bounds.maxWindowBytes || oldest === window) break;
      this.#drop(oldest);
    }
    return {
      over,
      counts: claims.map(({ count }) => counts.get(count) ?? 0),
      resetMs: window.endsAtMs - nowMs,
      giveBack: () => {
        for (const claim of claims) this.#giveBack(window, claim);
      },
    };
  }

  read(name: string, names: readonly string[]): Standing {
    const nowMs = this.#clock.monotonicMs();
    const window = this.#live(name, nowMs);
    return {
      counts: names.map((count) => window?.counts.get(count) ?? 0),
      resetMs: window === undefined ? WINDOW_MS : window.endsAtMs - nowMs,
    };
  }

  /** Drops the windows that have ended, and returns this one. */
  #live(name: string, nowMs: number): Window | undefined {
    for (const window of this.#windows.values()) {
      if (window.endsAtMs > nowMs) break;
      this.#drop(window);
    }
    return this.#windows.get(name);
  }

  #join(window: Window, member: string): void {
    const before = window.members.get(member);
    if (before === undefined) {
      for (const oldest of this.#withMembers) {
        if ((this.#members + 1) * ENTRY_BYTES <= this.#bounds.maxMemberBytes) break;
        this.#forgetMembers(oldest);
      }
      this.#members += 1;
      this.#withMembers.add(window);
    }
    window.members.set(member, (before ?? 0) + 1);
  }

  /** A member that other claims have as well stays counted; one that was forgotten is not given back. */
  #giveBack(window: Window, { count, member }: CountClaim): void {
    if (member !== undefined) {
      const claimedBy = window.members.get(member) ?? 0;
      if (claimedBy > 1) window.members.set(member, claimedBy - 1);
      if (claimedBy !== 1) return;
      window.members.delete(member);
      this.#members -= 1;
    }
    window.counts.set(count, Math.max(0, (window.counts.get(count) ?? 0) - 1));
  }

  #forgetMembers(window: Window): void {
    this.#members -= window.members.size;
    window.members.clear();
    this.#withMembers.delete(window);
  }

  #drop(window: Window): void {
    this.#forgetMembers(window);
    this.#counts -= window.counts.size;
    this.#windows.delete(window.name);
  }
}
