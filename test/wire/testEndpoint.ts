import { expect } from 'vitest';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import { EchoPolicy, type EchoSetting } from '../../src/wire/echo.ts';
import { COMMON_ERRORS } from '../../src/judging/errorMap.ts';
import { IdleDetector } from '../../src/wire/spareConnections.ts';
import { Endpoint } from '../../src/wire/endpoint.ts';
import { ConnectionFiles } from '../../src/wire/connectionFiles.ts';
import type { ConnectionSettings, Http2Setting } from '../../src/wire/wireSettings.ts';
import type { Exchange, OutgoingRequest } from '../../src/wire/exchange.ts';
import { Circuit } from '../../src/resilience/circuit.ts';
import { GuardedEndpoint } from '../../src/resilience/guardedEndpoint.ts';
import { RetryBudget, type ExchangeKind } from '../../src/resilience/retries.ts';
import type { Log } from '../../src/log/log.ts';
import { silentLog } from '../support/silentLog.ts';

/** When an exchange left, whenever that was. */
export const A_DEPARTURE = {
  sentAtMs: expect.any(Number) as number,
  leftAtMs: expect.any(Number) as number,
};

/** Longer than the time limit of a test. */
export const AMPLE_MS = 60_000;

/** The outcome of an exchange in short: its status, or why there is no reply. */
export function outcome(exchange: Exchange): string {
  if (exchange.kind === 'reply') {
    return exchange.isUnproven === true ? 'unproven' : String(exchange.reply.status);
  }
  const { cause, sent, flaw } = exchange.fault;
  return `${flaw ?? cause}, ${sent ? 'sent' : 'unsent'}`;
}

export function isReply(exchange: Exchange): boolean {
  return exchange.kind === 'reply';
}

/** A text in place of a file. */
export function text(pem: string): { readonly kind: 'text'; readonly text: string } {
  return { kind: 'text', text: pem };
}

interface Options {
  readonly timeoutMs?: number;
  readonly echo?: EchoSetting;
  readonly headers?: Readonly<Record<string, string>>;
  readonly http2?: Http2Setting;
  readonly connections?: number;
  readonly clock?: Clock;
  readonly idleDetector?: IdleDetector;
  readonly log?: Log;
  readonly connection?: ConnectionSettings;
  /** For reading files again; that of the endpoint where absent. */
  readonly fileClock?: Clock;
}

/** An endpoint with its own connections, closed with the test that made it. */
export class TestEndpoint implements AsyncDisposable {
  readonly endpoint: Endpoint;
  readonly #clock: Clock;
  readonly #files: ConnectionFiles;
  #count = 0;

  constructor(url: string, options: Options = {}) {
    const { timeoutMs = AMPLE_MS, echo = 'auto', headers = {}, http2 = 'auto' } = options;
    const { connections = 256, clock = systemClock, log = silentLog } = options;
    const { connection = {}, fileClock = clock, idleDetector = new IdleDetector() } = options;
    const sent = Object.entries(headers).flat();
    this.#clock = clock;
    const replyCheck = new EchoPolicy(echo, 'fresh', clock);
    const ofFiles: Pick<Clock, 'nowMs' | 'sleep'> = {
      nowMs: () => clock.nowMs(),
      sleep: (...asked) => fileClock.sleep(...asked),
    };
    this.#files = new ConnectionFiles(connection, { clock: ofFiles, log });
    const settings = { name: 'test endpoint', url, timeoutMs, connections, http2, replyCheck };
    this.endpoint = new Endpoint(
      { ...settings, headers: () => sent },
      { idleDetector, clock, log, files: this.#files },
    );
  }

  /** Posts an empty JSON object under a correlator of its own: `exchange-1`, `exchange-2`, … */
  post(post: Partial<OutgoingRequest> = {}, timeLeftMs = AMPLE_MS): Promise<Exchange> {
    this.#count += 1;
    return this.endpoint.post(
      {
        headers: [],
        contentType: 'application/json',
        body: '{}',
        correlator: `exchange-${this.#count}`,
        ...post,
      },
      { deadlineMs: this.#clock.monotonicMs() + timeLeftMs },
    );
  }

  /** In parallel. */
  burst(size: number, post: Partial<OutgoingRequest> = {}, timeLeftMs?: number) {
    return Promise.all(Array.from({ length: size }, () => this.post(post, timeLeftMs)));
  }

  /** The same endpoint behind guards of its own, whose retries do not pause. */
  guarded(kind: ExchangeKind, log: Log = silentLog): GuardedEndpoint {
    const clock = this.#clock;
    return new GuardedEndpoint(this.endpoint, {
      name: 'test endpoint',
      operator: 'test',
      kind,
      circuit: new Circuit(clock),
      budget: new RetryBudget(clock),
      rules: { canTakeNewToken: true, retriesDoubtfulLookups: false },
      rate: undefined,
      errors: COMMON_ERRORS,
      nameSetting: (member) => member,
      correlatorForm: 'traceable',
      clock,
      log,
      random: () => 0,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#files.close();
    await this.endpoint.close();
  }
}
