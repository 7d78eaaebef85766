import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the operator saw that it must not see. */
export interface Offences {
  promptsWhileOneLived: number;
  overlappingPolls: number;
  earlyPolls: number;
  tokensUsedTwice: number;
}

interface Consent {
  readonly number: string;
  /** Who asked, by the correlator of the request to prompt. */
  readonly caller: string;
  readonly askedAtMs: number;
  readonly manner: Manner;
  intervalMs: number;
  lastPollAtMs: number;
  pollsOnTheWire: number;
  isOver: boolean;
}

interface Manner {
  readonly grantedAfterMs?: number;
  readonly deniedAfterMs?: number;
  readonly slowsDown?: boolean;
}

const MANNERS: readonly Manner[] = [
  { grantedAfterMs: 0 },
  { grantedAfterMs: 1200 },
  { grantedAfterMs: 2500 },
  { grantedAfterMs: 4000 },
  { deniedAfterMs: 1500 },
  { grantedAfterMs: 0, slowsDown: true },
  {},
];

export const EXPIRES_IN_SECONDS = 8;
const INTERVAL_SECONDS = 1;
const SLOWEST_REPLY_MS = 60;
/** What two requests may differ by on their way here, on a machine that is not held up. */
const WAY_MS = 100;
const LAG_WINDOW_MS = 2000;

/**
 * An operator that remembers everything, and whose every date tells for whose consent it was given:
 * each is another millisecond.
 */
export class StrictOperator {
  readonly offences: Offences = {
    promptsWhileOneLived: 0,
    overlappingPolls: 0,
    earlyPolls: 0,
    tokensUsedTwice: 0,
  };
  prompts = 0;
  polls = 0;
  readonly #server: Server;
  readonly #consents = new Map<string, Consent>();
  readonly #liveByNumber = new Map<string, Consent>();
  readonly #tokens = new Map<string, Consent>();
  readonly #dates = new Map<string, Consent>();
  readonly #lag = new Lag();
  readonly #firstDateMs = Date.UTC(2001, 0, 1);

  constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('It has no port.');
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#lag.stop();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Whether a date was given about this number, for a consent that this caller asked for. */
  isRightFor(date: string, number: string, caller: string): 'right' | 'wrong' | "another's" {
    const consent = this.#dates.get(new Date(date).toISOString());
    if (consent?.number !== number) return 'wrong';
    return consent.caller === caller ? 'right' : "another's";
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { body, correlator } = {
      body: await text(request),
      correlator: String(request.headers['x-correlator']),
    };
    const form = new URLSearchParams(body);
    const [status, reply] = await this.#answer(request, form, correlator);
    response.writeHead(status, { 'content-type': 'application/json', 'x-correlator': correlator });
    response.end(JSON.stringify(reply));
  }

  async #answer(
    { url, headers }: IncomingMessage,
    form: URLSearchParams,
    correlator: string,
  ): Promise<readonly [number, unknown]> {
    switch (url) {
      case '/openIDConnectCIBA/v1/bc-authorize':
        return this.#authorize(form.get('login_hint')?.slice('tel:'.length) ?? '', correlator);
      case '/openIDConnectCIBA/v1/token':
        return this.#poll(form.get('auth_req_id') ?? '');
      case '/retrieve-date':
        return this.#lookUp(headers.authorization?.slice('Bearer '.length) ?? '');
      default:
        return [404, {}];
    }
  }

  async #authorize(number: string, correlator: string): Promise<readonly [number, unknown]> {
    this.prompts += 1;
    const earlier = this.#liveByNumber.get(number);
    if (earlier !== undefined && isLive(earlier)) this.offences.promptsWhileOneLived += 1;
    const consent: Consent = {
      number,
      caller: correlator.split('-')[0] ?? '',
      askedAtMs: Date.now(),
      manner: MANNERS[Number(number.slice(-3)) % MANNERS.length] ?? {},
      intervalMs: INTERVAL_SECONDS * 1000,
      lastPollAtMs: 0,
      pollsOnTheWire: 0,
      isOver: false,
    };
    const authReqId = randomUUID();
    this.#consents.set(authReqId, consent);
    this.#liveByNumber.set(number, consent);
    await takeTime();
    return [
      200,
      { auth_req_id: authReqId, expires_in: EXPIRES_IN_SECONDS, interval: INTERVAL_SECONDS },
    ];
  }

  async #poll(authReqId: string): Promise<readonly [number, unknown]> {
    this.polls += 1;
    const consent = this.#consents.get(authReqId);
    if (consent === undefined) return [400, { error: 'invalid_grant' }];
    if (consent.pollsOnTheWire > 0) this.offences.overlappingPolls += 1;
    const nowMs = Date.now();
    const toleranceMs = WAY_MS + this.#lag.worstMs;
    if (nowMs - consent.lastPollAtMs < consent.intervalMs - toleranceMs) {
      this.offences.earlyPolls += 1;
    }
    consent.lastPollAtMs = nowMs;
    consent.pollsOnTheWire += 1;
    await takeTime();
    const reply = this.#decide(consent);
    consent.pollsOnTheWire -= 1;
    return reply;
  }

  #decide(consent: Consent): readonly [number, unknown] {
    const { manner, askedAtMs } = consent;
    const isDue = (ms: number | undefined) => ms !== undefined && Date.now() - askedAtMs >= ms;
    if (consent.isOver) return [400, { error: 'invalid_grant' }];
    if (!isLive(consent)) return end(consent, 'expired_token');
    if (manner.slowsDown === true && consent.intervalMs === INTERVAL_SECONDS * 1000) {
      consent.intervalMs += 5000;
      return [400, { error: 'slow_down' }];
    }
    if (isDue(manner.deniedAfterMs)) return end(consent, 'access_denied');
    if (!isDue(manner.grantedAfterMs)) return [400, { error: 'authorization_pending' }];
    consent.isOver = true;
    const token = randomUUID();
    this.#tokens.set(token, consent);
    return [200, { access_token: token, token_type: 'Bearer', expires_in: 60 }];
  }

  async #lookUp(token: string): Promise<readonly [number, unknown]> {
    const consent = this.#tokens.get(token);
    if (consent === undefined) {
      this.offences.tokensUsedTwice += 1;
      return [401, { status: 401, code: 'UNAUTHENTICATED' }];
    }
    this.#tokens.delete(token);
    const date = new Date(this.#firstDateMs + this.#dates.size).toISOString();
    this.#dates.set(date, consent);
    await takeTime();
    return [200, { latestSimChange: date }];
  }
}

/** How long this process was held up lately: by so much its own idea of when a request came is off. */
class Lag {
  readonly #histogram = monitorEventLoopDelay({ resolution: 5 });
  readonly #timer: NodeJS.Timeout;
  #earlierMs = 0;

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => {
      this.#earlierMs = this.#nowMs;
      this.#histogram.reset();
    }, LAG_WINDOW_MS);
  }

  get worstMs(): number {
    return Math.max(this.#earlierMs, this.#nowMs);
  }

  get #nowMs(): number {
    return this.#histogram.count === 0 ? 0 : this.#histogram.max / 1e6;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }
}

function isLive(consent: Consent): boolean {
  return !consent.isOver && Date.now() < consent.askedAtMs + EXPIRES_IN_SECONDS * 1000;
}

function end(consent: Consent, error: string): readonly [number, unknown] {
  consent.isOver = true;
  return [400, { error }];
}

function takeTime(): Promise<void> {
  return sleep(Math.random() * SLOWEST_REPLY_MS);
}
