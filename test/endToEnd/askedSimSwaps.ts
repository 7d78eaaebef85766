import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Clock } from '../../src/system/clock.ts';
import type { Answer } from '../wire/recordingServer.ts';
import { withEntry } from '../support/operatorEntry.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';
import { SeveralOperators, window, type Short } from '../support/severalOperators.ts';
import { throughout, WiredOperator } from '../support/wiredOperator.ts';

export interface Asking {
  readonly number: PhoneNumber;
  readonly signal?: LightAbortSignal;
  /** From now on. */
  readonly timeLeftMs?: number;
}

/** Everything below GraphQL as the server puts it together, on a clock of the test's, and an operator. */
export class AskedSimSwaps implements AsyncDisposable {
  readonly operator: WiredOperator;
  readonly #several: SeveralOperators;

  private constructor(operator: WiredOperator, several: SeveralOperators) {
    this.operator = operator;
    this.#several = several;
  }

  static async start(
    clock: Clock,
    answer: Answer,
    settings: Environment = {},
  ): Promise<AskedSimSwaps> {
    const operator = await WiredOperator.start(throughout(answer));
    const { operators, consent } = readConfig(
      withEntry({ ...operator.settings, OPERATOR_TIMEOUT_MS: '60000', ...settings }),
    );
    return new AskedSimSwaps(operator, new SeveralOperators(operators, { clock, consent }));
  }

  ask({ number, signal, timeLeftMs }: Asking): Promise<Short> {
    return window(this.#several.request('somebody', signal, timeLeftMs), number);
  }

  count(pathEnd = ''): number {
    return this.operator.received.filter(({ path }) => path.endsWith(pathEnd)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#several[Symbol.asyncDispose]();
    await this.operator[Symbol.asyncDispose]();
  }
}

/** One of a thousand lines of a range reserved for fiction. */
export function line(index: number): PhoneNumber {
  return `+447700900${String(index).padStart(3, '0')}` as PhoneNumber;
}
