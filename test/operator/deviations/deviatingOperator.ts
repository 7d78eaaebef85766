import { type Clock, systemClock } from '../../../src/system/clock.ts';
import { readConfig } from '../../../src/config/config.ts';
import type { PhoneNumber } from '../../../src/domain/phoneNumber.ts';
import type { OperatorSettings } from '../../../src/operator/operatorSettings.ts';
import type { Flow } from '../../../src/tokens/authorizationSettings.ts';
import { logInto } from '../../support/service.ts';
import {
  SeveralOperators,
  short,
  type Short,
  type ShortAnswer,
} from '../../support/severalOperators.ts';
import { ALICE } from '../../support/values.ts';
import { WiredOperator, type OperatorScript } from '../../support/wiredOperator.ts';

/** Makes the settings of an operator that departs somewhere from docs/operator-api.md. */
export type Deviation = (settings: OperatorSettings) => OperatorSettings;

export const withGrant =
  (grant: object): Deviation =>
  (settings) =>
    ({ ...settings, grant: { ...settings.grant, ...grant } }) as OperatorSettings;

export const withCorrelator =
  (correlator: Partial<OperatorSettings['correlator']>): Deviation =>
  (settings) => ({ ...settings, correlator: { ...settings.correlator, ...correlator } });

export const withErrors =
  (errors: Partial<OperatorSettings['errors']>): Deviation =>
  (settings) => ({ ...settings, errors: { ...settings.errors, ...errors } });

interface DeviatingSettings {
  readonly flow?: Flow;
  readonly script?: OperatorScript;
  readonly deviation?: Deviation;
  readonly clock?: Clock;
}

interface Question {
  readonly number?: PhoneNumber;
  /** Of `simSwappedWithin`; `lastSimSwap` where absent. */
  readonly maxAgeHours?: number;
  readonly caller?: string;
  readonly waitMs?: number;
}

/** An operator that deviates, our side that calls it, and the wire in between. */
export class DeviatingOperator implements AsyncDisposable {
  readonly wire: WiredOperator;
  /** Each line of the log as one text. */
  readonly logged: string[] = [];
  readonly #asking: SeveralOperators;

  private constructor(wire: WiredOperator, settings: DeviatingSettings) {
    const { flow = '2-legged', deviation = (one) => one, clock = systemClock } = settings;
    const { operators, consent } = readConfig({ ...wire.settings, OPERATOR_FLOW: flow });
    const log = logInto(this.logged);
    this.wire = wire;
    this.#asking = new SeveralOperators(operators.map(deviation), { consent, clock, log });
  }

  static async start(settings: DeviatingSettings): Promise<DeviatingOperator> {
    return new DeviatingOperator(await WiredOperator.start(settings.script), settings);
  }

  /** In a request of its own. */
  async ask(question: Question = {}): Promise<Short> {
    const { code } = await this.failureOf(question);
    return code;
  }

  /** In a request of its own; an answer has no seconds. */
  failureOf({ number = ALICE, maxAgeHours, caller, ...patience }: Question): Promise<ShortAnswer> {
    return short(this.#asking.request(caller, undefined, undefined, patience), number, maxAgeHours);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#asking[Symbol.asyncDispose]();
    await this.wire[Symbol.asyncDispose]();
  }
}
