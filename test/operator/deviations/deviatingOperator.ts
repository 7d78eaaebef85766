import { type Clock, systemClock } from '../../../src/system/clock.ts';
import { readConfig } from '../../../src/config/config.ts';
import type { PhoneNumber } from '../../../src/domain/phoneNumber.ts';
import { createCorrelator } from '../../../src/http/correlator.ts';
import { LightAbortSignal } from '../../../src/http/urgency.ts';
import type { FieldAnswer } from '../../../src/lookups/executor.ts';
import type { OperatorSettings } from '../../../src/operator/operatorSettings.ts';
import type { SimSwaps } from '../../../src/simSwaps/simSwaps.ts';
import type { Flow } from '../../../src/tokens/authorizationSettings.ts';
import { askField } from '../../askedFields.ts';
import { logInto } from '../../service.ts';
import { simSwapsOf } from '../../severalOperators.ts';
import { ALICE, callerNamed } from '../../values.ts';
import { WiredOperator, type OperatorScript } from '../../wiredOperator.ts';

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

/** An answer in short: the date's text, the window's word, or the code of why there is neither. */
export type Short = string | boolean | null;

/** An operator with ways of its own, everything that asks it, and a wire in between. */
export class DeviatingOperator implements AsyncDisposable {
  readonly wire: WiredOperator;
  /** Each line of the log as one text. */
  readonly logged: string[] = [];
  readonly #simSwaps: SimSwaps;
  readonly #clock: Clock;

  private constructor(wire: WiredOperator, settings: DeviatingSettings) {
    const { flow = '2-legged', deviation = (one) => one, clock = systemClock } = settings;
    const { operators, consent } = readConfig({ ...wire.settings, OPERATOR_FLOW: flow });
    const log = logInto(this.logged);
    this.wire = wire;
    this.#simSwaps = simSwapsOf({ operators: operators.map(deviation), consent, clock, log });
    this.#clock = clock;
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
  async failureOf({
    number = ALICE,
    maxAgeHours,
    caller = 'caller',
    ...patience
  }: Question): Promise<Told> {
    const cameInAtMs = this.#clock.monotonicMs();
    const loader = this.#simSwaps.forRequest({
      caller: callerNamed(caller),
      purpose: 'fraud-prevention',
      correlator: createCorrelator('asked'),
      cameInAtMs,
      signal: new LightAbortSignal(),
      deadlineMs: cameInAtMs + 60_000,
      ...patience,
    });
    return shortOf(
      maxAgeHours === undefined
        ? await askField(loader, number, 'lastSimSwap')
        : await askField(loader, number, 'simSwappedWithin', { maxAgeHours }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#simSwaps.close();
    await this.wire[Symbol.asyncDispose]();
  }
}

/** An answer in short, and the seconds of a failure. */
interface Told {
  readonly code: Short;
  readonly retryAfterSeconds?: number;
}

function shortOf(answer: FieldAnswer): Told {
  switch (answer.kind) {
    case 'date':
      return { code: answer.latestSimChange?.text ?? null };
    case 'window':
      return { code: answer.swapped };
    case 'failure':
      return answer.failure;
    default:
      throw new Error('Another answer than that of the field.');
  }
}
