import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { slept, withinTime, type Clock } from '../system/clock.ts';
import { errorName } from '../domain/errors.ts';
import { addressProblem } from '../wire/wireSettings.ts';
import { connectFailureOf } from '../wire/connectFailure.ts';
import { notBegun, type Exchange } from '../wire/exchange.ts';
import {
  unsent,
  type GuardedEndpoint,
  type GuardedPost,
  type Judged,
  type Outcome,
} from '../resilience/guardedEndpoint.ts';
import type { Log } from '../log/log.ts';
import type {
  AuthorizationAddresses,
  AuthorizationEndpointName,
  DiscoverySource,
} from './authorizationSettings.ts';

const REREAD_MS = 3_600_000;

/** The shortest time between two successful readings: each failed exchange may request one. */
const MIN_PAUSE_MS = 30_000;

/** How long the first exchanges wait for the first reading: the lease of a consent does not cover more. */
const FIRST_WAIT_MS = 1000;

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

export interface DiscoveryParts {
  readonly source: DiscoverySource;
  readonly needed: readonly AuthorizationEndpointName[];
  /** Fetches the document; rejects, in bounded time, when it is not available. */
  readonly fetch: () => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
  /** A number from 0 up to 1. */
  readonly random: () => number;
}

/**
 * Where an authorization server takes requests, by its discovery document (docs/operators.md, "Discovery"). The known
 * addresses stay in use while the document is unavailable or cannot be trusted.
 */
export class Discovery {
  readonly #parts: DiscoveryParts;
  readonly #closing = new AbortController();
  readonly #start: Promise<unknown>;
  #addresses: DiscoveredAddresses | undefined;
  #suspicion = Promise.withResolvers<void>();

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
    const first = this.#read();
    this.#start = withinTime(parts.clock, FIRST_WAIT_MS, first, false);
    void this.#readAgain(first);
  }

  /** The addresses. At the start, waits until the first reading is over, for at most a second. */
  async addresses(): Promise<DiscoveredAddresses | undefined> {
    if (this.#addresses === undefined) await this.#start;
    return this.#addresses;
  }

  /** Reports that an exchange failed as it would after a change of keys or addresses. */
  suspect(): void {
    this.#suspicion.resolve();
  }

  close(): void {
    this.#closing.abort();
    this.suspect();
  }

  async #readAgain(first: Promise<boolean>): Promise<void> {
    let isRead = await first;
    let failures = 0;
    for (;;) {
      failures = isRead ? 0 : failures + 1;
      const isOpen = await (isRead ? this.#rest() : this.#backOff(failures));
      if (!isOpen) return;
      this.#suspicion = Promise.withResolvers();
      isRead = await this.#read();
    }
  }

  /** Whether the addresses are now those of the document. Never rejects. */
  async #read(): Promise<boolean> {
    const { source, needed, fetch, log } = this.#parts;
    let read: DiscoveredAddresses | string;
    try {
      read = readDiscovery(await fetch(), source, needed);
    } catch (error) {
      if (this.#closing.signal.aborted) return false;
      read = connectFailureOf(error)?.message ?? errorName(error);
    }
    if (typeof read === 'string') {
      const message =
        this.#addresses === undefined
          ? 'The discovery document cannot be used: this operator is not called.'
          : 'The discovery document cannot be used: the endpoints stay as they were.';
      log.error(message, { reason: read, setting: 'discovery' });
      return false;
    }
    if (this.#addresses === undefined) log.info('The discovery document was read.');
    else if (!isDeepStrictEqual(this.#addresses, read))
      log.warn('The endpoints in the discovery document have changed.');
    this.#addresses = read;
    return true;
  }

  /** Waits until the document is due, or suspected and not just read; `false` when it is closed. */
  async #rest(): Promise<boolean> {
    const { clock } = this.#parts;
    if (!(await slept(clock, MIN_PAUSE_MS, this.#closing.signal))) return false;
    await withinTime(clock, REREAD_MS - MIN_PAUSE_MS, this.#suspicion.promise, undefined);
    return !this.#closing.signal.aborted;
  }

  #backOff(failures: number): Promise<boolean> {
    const { clock, random } = this.#parts;
    const pauseMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10));
    // Replicas that lost the document together do not fetch it together.
    return slept(clock, pauseMs * (0.5 + random() / 2), this.#closing.signal);
  }
}

export type DiscoveredAddresses = Partial<AuthorizationAddresses>;

export type DiscoveryFlaw =
  | 'no JSON object'
  | 'another issuer'
  | 'an endpoint is missing'
  | 'an endpoint without https'
  | 'an endpoint on another host';

/** Where the metadata of OpenID Connect Discovery 1.0 §3 and OpenID CIBA Core §4 name each endpoint. */
const MEMBERS: Readonly<Record<AuthorizationEndpointName, string>> = {
  token: 'token_endpoint',
  backchannelAuthentication: 'backchannel_authentication_endpoint',
  cibaToken: 'token_endpoint',
};

/**
 * Reads the addresses of the endpoints that are needed. The document must be that of the configured issuer (OpenID
 * Connect Discovery 1.0 §4.3), and its endpoints must lie on hosts and ports that the settings name: our credentials
 * are sent there, and a document that was tampered with must not choose where. With a client certificate, those of
 * `mtls_endpoint_aliases` come first (RFC 8705 §5). Pure.
 */
export function readDiscovery(
  document: unknown,
  { issuer, documentUrl, hosts, hasCertificate }: Omit<DiscoverySource, 'connection'>,
  needed: readonly AuthorizationEndpointName[],
): DiscoveredAddresses | DiscoveryFlaw {
  if (typeof document !== 'object' || document === null) return 'no JSON object';
  const metadata: Readonly<Record<string, unknown>> = { ...document };
  if (metadata['issuer'] !== issuer) return 'another issuer';
  const trusted = [issuer, documentUrl, ...hosts.map((host) => `https://${host}`)].map(hostOf);
  const addresses: Partial<Record<AuthorizationEndpointName, string>> = {};
  const forCertificates = hasCertificate ? Object(metadata['mtls_endpoint_aliases']) : {};
  const named: Readonly<Record<string, unknown>> = { ...metadata, ...forCertificates };
  for (const name of needed) {
    const address = named[MEMBERS[name]];
    if (typeof address !== 'string') return 'an endpoint is missing';
    if (addressProblem(address) !== undefined) return 'an endpoint without https';
    if (!trusted.includes(hostOf(address))) return 'an endpoint on another host';
    addresses[name] = new URL(address).href;
  }
  return addresses;
}

/** The host, with its port where that is not the default of the scheme. */
function hostOf(address: string): string {
  return new URL(address).host;
}

/** Exchanges under way may still use the latest addresses; older ones are closed. */
const MAX_PLACES = 3;

const NOT_DISCOVERED = notBegun('connection', 'no address was discovered');

/** An endpoint of an authorization server that may move: each exchange goes to its current address. */
export class DiscoveredEndpoint {
  readonly #name: AuthorizationEndpointName;
  readonly #discovery: Pick<Discovery, 'addresses' | 'suspect'>;
  readonly #at: (address: string) => GuardedEndpoint;
  readonly #places = new LRUCache<string, GuardedEndpoint>({
    max: MAX_PLACES,
    dispose: (place) => void place.close(),
  });

  constructor(
    name: AuthorizationEndpointName,
    discovery: Pick<Discovery, 'addresses' | 'suspect'>,
    at: (address: string) => GuardedEndpoint,
  ) {
    this.#name = name;
    this.#discovery = discovery;
    this.#at = at;
  }

  /** Where no address is known, nothing leaves, and the outcome is that of an exchange that could not connect. */
  async post<J extends Judged>(request: GuardedPost<J>): Promise<Outcome<J>> {
    const address = (await this.#discovery.addresses())?.[this.#name];
    if (address === undefined) return unsent(request.judge(NOT_DISCOVERED));
    const judge = (exchange: Exchange): J => {
      if (mayHaveMoved(exchange)) this.#discovery.suspect();
      return request.judge(exchange);
    };
    const place = this.#places.get(address) ?? this.#at(address);
    this.#places.set(address, place);
    return place.post({ ...request, judge });
  }

  /** As {@link GuardedEndpoint.distrust}, for all recent addresses. */
  distrust(): void {
    for (const place of this.#places.values()) place.distrust();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#places.values(), (place) => place.close()));
  }
}

/**
 * Whether addresses or keys may have changed: that would explain a failed connection, a wrong path and a refused
 * client.
 */
function mayHaveMoved(exchange: Exchange): boolean {
  if (exchange.kind === 'fault') {
    return exchange.fault.cause === 'connection' && !exchange.fault.sent;
  }
  const { status } = exchange.reply;
  return (status >= 300 && status < 400) || [401, 404, 405, 410].includes(status);
}
