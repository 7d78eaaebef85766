import type { Exchange } from '../http/exchange.ts';
import type {
  GuardedEndpoint,
  GuardedPost,
  Judged,
  Outcome,
} from '../http/resilience/guardedEndpoint.ts';
import type { AuthorizationEndpointName } from './authorizationSettings.ts';
import type { Discovery } from './discovery.ts';

/** Where an endpoint was may be asked for a while by what is under way; older places are closed. */
const MAX_PLACES = 3;

const NOT_DISCOVERED: Exchange = {
  kind: 'fault',
  fault: { cause: 'connection', sent: false, detail: 'no address was discovered' },
};

/** An endpoint of an authorization server that may move: each exchange goes where it is by now. */
export class DiscoveredEndpoint {
  readonly #name: AuthorizationEndpointName;
  readonly #discovery: Pick<Discovery, 'addresses' | 'suspect'>;
  readonly #at: (address: string) => GuardedEndpoint;
  /** By address; the place that was used last stands last. */
  readonly #places = new Map<string, GuardedEndpoint>();

  /** @param at makes the endpoint of an address */
  constructor(
    name: AuthorizationEndpointName,
    discovery: Pick<Discovery, 'addresses' | 'suspect'>,
    at: (address: string) => GuardedEndpoint,
  ) {
    this.#name = name;
    this.#discovery = discovery;
    this.#at = at;
  }

  /** Where no address is known, nothing leaves, and the exchange is one that could not connect. */
  async post<J extends Judged>(request: GuardedPost<J>): Promise<Outcome<J>> {
    const address = (await this.#discovery.addresses())?.[this.#name];
    if (address === undefined) {
      return { judged: request.judge(NOT_DISCOVERED), attempts: 0, mayRetryWithNewToken: false };
    }
    const judge = (exchange: Exchange): J => {
      if (mayHaveMoved(exchange)) this.#discovery.suspect();
      return request.judge(exchange);
    };
    return this.#place(address).post({ ...request, judge });
  }

  /** See {@link GuardedEndpoint.distrust}: wherever it was asked of late. */
  distrust(): void {
    for (const place of this.#places.values()) place.distrust();
  }

  /** Breaks what is still under way and closes the connections. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#places.values(), (place) => place.close()));
  }

  #place(address: string): GuardedEndpoint {
    const place = this.#places.get(address) ?? this.#at(address);
    this.#places.delete(address);
    this.#places.set(address, place);
    const [oldest] = this.#places;
    if (this.#places.size > MAX_PLACES && oldest !== undefined) {
      this.#places.delete(oldest[0]);
      void oldest[1].close();
    }
    return place;
  }
}

/** Whether another address, or another key, would explain it: no connection, a wrong path, a refused client. */
function mayHaveMoved(exchange: Exchange): boolean {
  switch (exchange.kind) {
    case 'fault':
      return exchange.fault.cause === 'connection' && !exchange.fault.sent;
    case 'reply': {
      const { status } = exchange.reply;
      return (status >= 300 && status < 400) || [401, 404, 405, 410].includes(status);
    }
  }
}
