import type { Clock } from '../../src/system/clock.ts';
import type { Fact } from '../../src/domain/fact.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Lookup } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';

import {
  timed,
  type ConsentReading,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from '../../src/lookups/lookupRoute.ts';

/** A lookup that reached the operator. */
export interface MadeLookup {
  readonly lookup: Lookup;
  readonly number: PhoneNumber;
  readonly request: LookupRequest;
  readonly leftAtMs: number;
}

/** Makes lookups as the direct route does: a token first, then the lookup, both of which take their time. */
export class ScriptedRoute implements LookupRoute {
  /** Those that began, whether they left or not. */
  readonly begun: Lookup[] = [];
  readonly left: MadeLookup[] = [];
  tokenMs = 10;
  lookupMs = 10;
  /** What each lookup tells; that the line never swapped where absent. */
  tells: (made: MadeLookup) => Fact | LookupFailure = neverSwapped;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async lookUp(lookup: Lookup, { number, request }: LookupSession): Promise<LookupOutcome> {
    this.begun.push(lookup);
    try {
      await this.#clock.sleep(this.tokenMs, request.signal.asAbortSignal());
      const leftAtMs = this.#clock.monotonicMs();
      request.onLeaving?.(leftAtMs);
      const made = { lookup, number, request, leftAtMs };
      this.left.push(made);
      const told = this.tells(made);
      await this.#clock.sleep(this.lookupMs, request.signal.asAbortSignal());
      return 'code' in told
        ? { kind: 'failed', failed: { lookup, failure: told } }
        : { kind: 'facts', facts: timed([told], leftAtMs, true, 'operator', this.#clock) };
    } catch {
      return {
        kind: 'failed',
        failed: { lookup, failure: { code: 'OPERATOR_TIMEOUT', reach: 'number' } },
      };
    }
  }

  consent(): Promise<ConsentReading> {
    return Promise.resolve({ kind: 'read', status: undefined });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function neverSwapped({ lookup, leftAtMs }: MadeLookup): Fact {
  return lookup.operation === 'check'
    ? { ...lookup, swapped: false, sentAtMs: leftAtMs }
    : { ...lookup, latestSimChange: null, sentAtMs: leftAtMs };
}
