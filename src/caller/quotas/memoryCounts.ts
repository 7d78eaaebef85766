import { hash } from 'node:crypto';
import type { Clock } from '../../system/clock.ts';
import {
  WINDOW_MS,
  type CountClaim,
  type Claimed,
  type HourlyCounts,
  type Standing,
  type WindowOwner,
} from './hourlyCounts.ts';

export interface MemoryBounds {
  readonly maxWindowBytes: number;
  readonly maxMemberBytes: number;
}

const BOUNDS: MemoryBounds = { maxWindowBytes: 32 * 1024 ** 2, maxMemberBytes: 32 * 1024 ** 2 };

/** What a window, and what a count or a member in it, takes beside its name. Measured, and rounded up. */
const WINDOW_BYTES = 640;
const ENTRY_BYTES = 96;

interface Window {
  readonly name: string;
  readonly endsAtMs: number;
  readonly counts: Map<string, number>;
  /** How many claims name each. */
  readonly members: Map<string, number>;
  windowBytes: number;
  memberBytes: number;
}

/**
 * The counts of one process, bounded in bytes. When members need more, those of the oldest windows are
 * forgotten: they count again then, which is too much and never too little. When windows need more, the
 * oldest one, which would end first, starts anew.
 */
export class MemoryCounts implements HourlyCounts {
  readonly #clock: Clock;
  readonly #bounds: MemoryBounds;
  /** The oldest first: all of them last as long. */
  readonly #windows = new Map<string, Window>();
  /** The windows with members, the oldest first. */
  readonly #withMembers = new Set<Window>();
  #windowBytes = 0;
  #memberBytes = 0;

  constructor(clock: Clock, bounds: MemoryBounds = BOUNDS) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#windowBytes + this.#memberBytes;
  }

  nameOf(text: string): string {
    return hash('sha256', text, 'base64url');
  }

  windowOf(whose: WindowOwner, text: string): string {
    return `${whose}:${this.nameOf(text)}`;
  }

  claim(name: string, claims: readonly CountClaim[]): Claimed {
    const window = this.#live(name) ?? this.#open(name);
    const resetMs = window.endsAtMs - this.#clock.monotonicMs();
    const raised = claims.filter(
      ({ member }) => member === undefined || !window.members.has(member),
    );
    const over = claims.findIndex(
      (claim) => raised.includes(claim) && countIn(window, claim.count) >= claim.limit,
    );
    if (over < 0) this.#raise(window, claims, raised);
    return {
      over: over < 0 ? undefined : over,
      counts: claims.map(({ count }) => countIn(window, count)),
      resetMs,
      giveBack: () => {
        this.#giveBack(window, claims);
      },
    };
  }

  read(name: string, counts: readonly string[]): Standing {
    const window = this.#live(name);
    return window === undefined
      ? { counts: counts.map(() => 0), resetMs: WINDOW_MS }
      : {
          counts: counts.map((count) => countIn(window, count)),
          resetMs: window.endsAtMs - this.#clock.monotonicMs(),
        };
  }

  #live(name: string): Window | undefined {
    const window = this.#windows.get(name);
    if (window === undefined || window.endsAtMs > this.#clock.monotonicMs()) return window;
    this.#drop(window);
    return undefined;
  }

  #open(name: string): Window {
    const nowMs = this.#clock.monotonicMs();
    for (const window of this.#windows.values()) {
      if (window.endsAtMs > nowMs) break;
      this.#drop(window);
    }
    const window: Window = {
      name,
      endsAtMs: nowMs + WINDOW_MS,
      counts: new Map(),
      members: new Map(),
      windowBytes: 0,
      memberBytes: 0,
    };
    this.#windows.set(name, window);
    this.#growWindow(window, WINDOW_BYTES + name.length);
    return window;
  }

  #raise(window: Window, claims: readonly CountClaim[], raised: readonly CountClaim[]): void {
    for (const { count } of raised) {
      if (!window.counts.has(count)) this.#growWindow(window, ENTRY_BYTES + count.length);
      window.counts.set(count, countIn(window, count) + 1);
    }
    for (const { member } of claims) {
      if (member === undefined) continue;
      if (!window.members.has(member)) this.#growMembers(window, ENTRY_BYTES + member.length);
      window.members.set(member, (window.members.get(member) ?? 0) + 1);
    }
  }

  #giveBack(window: Window, claims: readonly CountClaim[]): void {
    for (const { count, member } of claims) {
      if (member === undefined) {
        lower(window, count);
        continue;
      }
      const claimedBy = window.members.get(member);
      if (claimedBy === undefined) continue;
      if (claimedBy > 1) {
        window.members.set(member, claimedBy - 1);
        continue;
      }
      window.members.delete(member);
      this.#growMembers(window, -(ENTRY_BYTES + member.length));
      lower(window, count);
    }
  }

  #growWindow(window: Window, bytes: number): void {
    window.windowBytes += bytes;
    this.#windowBytes += bytes;
    for (const oldest of this.#windows.values()) {
      if (this.#windowBytes <= this.#bounds.maxWindowBytes || oldest === window) return;
      this.#drop(oldest);
    }
  }

  #growMembers(window: Window, bytes: number): void {
    for (const oldest of this.#withMembers) {
      if (this.#memberBytes + bytes <= this.#bounds.maxMemberBytes) break;
      this.#forgetMembers(oldest);
    }
    window.memberBytes += bytes;
    this.#memberBytes += bytes;
    this.#withMembers.add(window);
  }

  #forgetMembers(window: Window): void {
    window.members.clear();
    this.#memberBytes -= window.memberBytes;
    window.memberBytes = 0;
    this.#withMembers.delete(window);
  }

  #drop(window: Window): void {
    this.#forgetMembers(window);
    this.#windowBytes -= window.windowBytes;
    this.#windows.delete(window.name);
  }
}

function countIn({ counts }: Window, count: string): number {
  return counts.get(count) ?? 0;
}

function lower(window: Window, count: string): void {
  window.counts.set(count, Math.max(0, countIn(window, count) - 1));
}
