import type { Clock } from '../system/clock.ts';
import { errorName } from '../domain/errors.ts';
import { connectFailureOf } from '../http/connectFailure.ts';
import type { Log } from '../log/log.ts';
import type { AuthorizationEndpointName, DiscoverySource } from './authorizationSettings.ts';
import {
  readDiscovery,
  type DiscoveredAddresses,
  type ReadDiscovery,
} from './discoveryDocument.ts';

const REREAD_MS = 3_600_000;

/** The least between two readings that bring something: failures may ask for one each. */
const MIN_PAUSE_MS = 30_000;

/** How long the first exchanges wait for the first reading: no lease of a consent allows for more. */
const FIRST_WAIT_MS = 1000;

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

export interface DiscoveryParts {
  readonly source: DiscoverySource;
  /** The endpoints that the operator's grant needs. */
  readonly needed: readonly AuthorizationEndpointName[];
  /** Fetches the document; rejects, in bounded time, when it cannot be had. */
  readonly fetch: () => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/**
 * Where an authorization server takes requests, by its discovery document: read at the start, every hour, and
 * soon after an exchange that a change of keys or addresses would explain. A document that cannot be had, or
 * not be believed, is asked for again after 1 s, then twice as long each time, up to a minute; the addresses
 * that are known stay in use meanwhile.
 */
export class Discovery {
  readonly #parts: DiscoveryParts;
  readonly #closing = new AbortController();
  readonly #firstReading: Promise<void>;
  #addresses: DiscoveredAddresses | undefined;
  #isSuspected = false;
  #waking: AbortController | undefined;

  /** Begins to read at once. */
  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
    const first = this.#read();
    const patience = parts.clock.sleep(FIRST_WAIT_MS, this.#closing.signal).catch(() => undefined);
    this.#firstReading = Promise.race([first, patience]).then(() => undefined);
    void first.then((isRead) => this.#readAgain(isRead));
  }

  /** The addresses as they are known; at the start, once the first reading is over or takes too long. */
  async addresses(): Promise<DiscoveredAddresses | undefined> {
    if (this.#addresses === undefined) await this.#firstReading;
    return this.#addresses;
  }

  /** An exchange failed as it would if the keys or addresses had changed. */
  suspect(): void {
    this.#isSuspected = true;
    this.#waking?.abort();
  }

  /** Reads no more. */
  close(): void {
    this.#closing.abort();
  }

  async #readAgain(wasRead: boolean): Promise<void> {
    let isRead = wasRead;
    for (let failures = isRead ? 0 : 1; ; failures = isRead ? 0 : failures + 1) {
      try {
        await (isRead ? this.#rest() : this.#backOff(failures));
      } catch {
        // Closed.
        return;
      }
      this.#isSuspected = false;
      isRead = await this.#read();
    }
  }

  /** Whether the addresses are as the document has them now. Never rejects. */
  async #read(): Promise<boolean> {
    const { source, needed, fetch, log } = this.#parts;
    let read: ReadDiscovery;
    try {
      read = readDiscovery(await fetch(), source, needed);
    } catch (error) {
      if (this.#closing.signal.aborted) return false;
      this.#tellFailure(connectFailureOf(error)?.message ?? errorName(error));
      return false;
    }
    switch (read.kind) {
      case 'refused':
        this.#tellFailure(read.flaw);
        return false;
      case 'read':
        if (this.#addresses === undefined) log.info('The discovery document was read.');
        else if (!isSame(this.#addresses, read.addresses)) log.warn('The endpoints have moved.');
        this.#addresses = read.addresses;
        return true;
    }
  }

  #tellFailure(reason: string): void {
    this.#parts.log.error(
      this.#addresses === undefined
        ? 'The discovery document cannot be used: this operator cannot be used.'
        : 'The discovery document cannot be used: the endpoints stay as they were.',
      { reason, setting: 'discovery' },
    );
  }

  /** Rests until the document is due, or suspected and not read a moment ago. */
  async #rest(): Promise<void> {
    const { clock } = this.#parts;
    await clock.sleep(MIN_PAUSE_MS, this.#closing.signal);
    if (this.#isSuspected) return;
    this.#waking = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, this.#waking.signal]);
    await clock.sleep(REREAD_MS - MIN_PAUSE_MS, signal).catch(() => undefined);
    this.#waking = undefined;
    this.#closing.signal.throwIfAborted();
  }

  async #backOff(failures: number): Promise<void> {
    const { clock, random } = this.#parts;
    const pauseMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10));
    // Replicas that lost it together do not come back together.
    await clock.sleep(pauseMs * (0.5 + random() / 2), this.#closing.signal);
  }
}

function isSame(one: DiscoveredAddresses, other: DiscoveredAddresses): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
