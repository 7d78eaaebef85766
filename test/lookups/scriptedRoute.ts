import type { Clock } from '../../src/system/clock.ts';
import type { Fact } from '../../src/domain/fact.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Lookup } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';

import {
  lookupFailed,
  OUT_OF_TIME,
  timed,
  type DirectRoute,
  type LookupOutcome,
  type LookupRequest,
  type NumberOfRequest,
} from '../../src/lookups/lookupRoute.ts';

/** A lookup that reached the operator. */
export interface MadeLookup {
  readonly lookup: Lookup;
  readonly number: PhoneNumber;
  readonly request: LookupRequest;
  readonly leftAtMs: number;
}

/** Makes lookups as the direct route does: a token first, then the lookup, both of which take their time. */
export class ScriptedRoute implements DirectRoute {
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

  async lookUp(lookup: Lookup, { number, request }: NumberOfRequest): Promise<LookupOutcome> {
    this.begun.push(lookup);
    const failed = (failure: LookupFailure) => lookupFailed(lookup, failure);
    try {
      await this.#clock.sleep(this.tokenMs, request.signal.asAbortSignal());
      const leftAtMs = this.#clock.monotonicMs();
      request.onLeaving?.(leftAtMs);
      const made = { lookup, number, request, leftAtMs };
      this.left.push(made);
      const told = this.tells(made);
      await this.#clock.sleep(this.lookupMs, request.signal.asAbortSignal());
      return 'code' in told
        ? failed(told)
        : { kind: 'facts', facts: timed([told], leftAtMs, true, 'operator', this.#clock) };
    } catch {
      return failed(OUT_OF_TIME);
    }
  }
}

function neverSwapped({ lookup, leftAtMs }: MadeLookup): Fact {
  return lookup.operation === 'check'
    ? { ...lookup, swapped: false, sentAtMs: leftAtMs }
    : { ...lookup, latestSimChange: null, sentAtMs: leftAtMs };
}
