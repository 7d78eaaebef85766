import { randomUUID } from 'node:crypto';
import type { Clock } from '../src/system/clock.ts';
import type { ReplyCheck } from '../src/wire/echo.ts';
import type { SharedByEndpoints } from '../src/wire/endpoint.ts';
import type { Exchange, OutgoingRequest } from '../src/wire/exchange.ts';
import { createCorrelator } from '../src/system/correlator.ts';
import type { Bind, DpopExchanges } from '../src/resilience/dpopExchanges.ts';
import type { GuardedPost, Judged, Outcome } from '../src/resilience/guardedEndpoint.ts';
import { createOperatorEndpoint } from '../src/operator/operatorEndpoint.ts';
import {
  LOOKUP_ENDPOINTS,
  type EndpointName,
  type OperatorSettings,
} from '../src/operator/operatorSettings.ts';
import type { ExchangeContext } from '../src/tokens/tokenManager.ts';

/** Which correlator a reply had. */
export type Echo = 'same' | 'another' | 'none';

/**
 * One endpoint of an operator, called as the service calls it, and never twice (apart from a challenge of DPoP):
 * without retry, breaker or kept connection. It remembers the outcome.
 */
export class SingleExchange {
  /** The latest exchange. */
  exchange: Exchange | undefined;
  /** The echo of the latest reply. */
  echo: Echo | undefined;
  readonly #settings: OperatorSettings;
  readonly #address: { readonly name: EndpointName; readonly url: string };
  readonly #shared: SharedByEndpoints;
  readonly #dpop: DpopExchanges | undefined;

  constructor(
    settings: OperatorSettings,
    address: { readonly name: EndpointName; readonly url: string },
    shared: SharedByEndpoints,
    dpop?: DpopExchanges,
  ) {
    this.#settings = settings;
    this.#address = address;
    this.#shared = shared;
    this.#dpop = dpop;
  }

  async post<J extends Judged>({ make, judge, urgency }: GuardedPost<J>): Promise<Outcome<J>> {
    const { url: address, name } = this.#address;
    const send = async (bind?: Bind): Promise<Exchange> =>
      this.#send(await make(address), urgency.deadlineMs, bind);
    const place = { isLookup: LOOKUP_ENDPOINTS.some((one) => one === name), address };
    const { exchange, challenges } =
      this.#dpop === undefined
        ? { exchange: await send(), challenges: 0 }
        : await this.#dpop.carry(place, urgency.signal, send);
    this.exchange = exchange;
    const attempts = challenges + attemptsOf(exchange);
    const mayHaveBeenCarriedOut = attempts > 0;
    return {
      judged: judge(exchange),
      attempts,
      mayHaveBeenCarriedOut,
      mayRetryWithNewToken: false,
    };
  }

  async #send(made: OutgoingRequest, deadlineMs: number, bind?: Bind): Promise<Exchange> {
    const isUuid = this.#settings.correlator.form === 'uuid';
    const headers = () => this.#settings.headers;
    const address = { ...this.#address, headers, replyCheck: this.#watch() };
    const endpoint = createOperatorEndpoint(this.#settings, address, this.#shared);
    const bound = bind === undefined ? made : await bind(made, endpoint.urlOf(made));
    const post = isUuid ? { ...bound, correlator: randomUUID() } : bound;
    const exchange = await endpoint.post(post, { deadlineMs });
    await endpoint.close();
    return exchange;
  }

  distrust(): void {
    // Every exchange has its own connection.
  }

  /** Every reply on a fresh connection belongs to the one request that was sent on it. */
  #watch(): ReplyCheck {
    const { header } = this.#settings.correlator;
    return {
      needsFreshConnection: true,
      originOf: (_status, headers, correlator) => {
        const echoed = headers[header];
        this.echo = echoed === correlator ? 'same' : echoed === undefined ? 'none' : 'another';
        return 'proven';
      },
      distrust: () => undefined,
    };
  }
}

/** The name and limits of one exchange of a check. */
export function exchangeContext(clock: Clock, timeoutMs: number): ExchangeContext {
  return {
    correlator: createCorrelator('operators-check'),
    deadlineMs: clock.monotonicMs() + timeoutMs,
  };
}

/** How often the operator may have been reached. */
function attemptsOf(exchange: Exchange): 0 | 1 {
  switch (exchange.kind) {
    case 'reply':
      return 1;
    case 'fault':
      return exchange.fault.sent ? 1 : 0;
  }
}
