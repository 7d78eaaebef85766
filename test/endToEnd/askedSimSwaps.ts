import type { Clock } from '../../src/system/clock.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { AnswerError } from '../../src/graphql/answerErrors.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { createSimSwaps, type SimSwaps } from '../../src/simSwaps/simSwaps.ts';
import { fieldsOf } from '../askedFields.ts';
import type { Answer } from '../http/recordingServer.ts';
import { silentLog } from '../silentLog.ts';
import { callerNamed } from '../values.ts';
import { throughout, WiredOperator } from '../wiredOperator.ts';
import { withEntry } from '../operatorEntry.ts';
import { LightAbortSignal } from '../../src/http/lightAbortSignal.ts';

/** How one request asks. */
export interface Asking {
  readonly number: PhoneNumber;
  readonly signal?: LightAbortSignal;
  /** From now on. */
  readonly timeLeftMs?: number;
}

/** Everything below GraphQL as the server puts it together, on a clock of the test's, and an operator. */
export class AskedSimSwaps implements AsyncDisposable {
  readonly operator: WiredOperator;
  readonly #simSwaps: SimSwaps;
  readonly #clock: Clock;

  private constructor(operator: WiredOperator, simSwaps: SimSwaps, clock: Clock) {
    this.operator = operator;
    this.#simSwaps = simSwaps;
    this.#clock = clock;
  }

  static async start(
    clock: Clock,
    answer: Answer,
    settings: Environment = {},
  ): Promise<AskedSimSwaps> {
    const operator = await WiredOperator.start(throughout(answer));
    const config = readConfig(
      withEntry({
        ...operator.settings,
        OPERATOR_TIMEOUT_MS: '60000',
        ...settings,
      }),
    );
    const simSwaps = createSimSwaps({
      operators: config.operators,
      consent: config.consent,
      clock,
      log: silentLog,
    });
    return new AskedSimSwaps(operator, simSwaps, clock);
  }

  /** Asks in a request of its own; an answer, or the code of why there is none. */
  async ask({
    number,
    signal = new LightAbortSignal(),
    timeLeftMs = 60_000,
  }: Asking): Promise<boolean | string> {
    const loader = this.#simSwaps.forRequest({
      caller: callerNamed('somebody'),
      purpose: 'fraud-prevention',
      correlator: createCorrelator(undefined),
      cameInAtMs: this.#clock.monotonicMs(),
      signal,
      deadlineMs: this.#clock.monotonicMs() + timeLeftMs,
    });
    try {
      return await fieldsOf(loader).simSwappedWithin(number, 240);
    } catch (error) {
      if (error instanceof AnswerError) return String(error.extensions['code']);
      throw error;
    }
  }

  /** How many requests reached a path that ends so. */
  count(pathEnd = ''): number {
    return this.operator.received.filter(({ path }) => path.endsWith(pathEnd)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#simSwaps.close();
    await this.operator[Symbol.asyncDispose]();
  }
}

/** One of a thousand lines of a range reserved for fiction. */
export function line(index: number): PhoneNumber {
  return `+447700900${String(index).padStart(3, '0')}` as PhoneNumber;
}
