import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { WorkByKey, type Sharing } from '../system/urgency.ts';
import type { Log } from '../log/log.ts';
import type { GuardedEndpoint } from '../resilience/guardedEndpoint.ts';
import { operatorOf, type DirectoryJudgement } from '../operator/numberDirectory.ts';
import type { NumberDirectorySettings } from '../operator/operatorSettings.ts';
import type { KeptFacts } from './keptAnswers.ts';
import { DEADLINE_EXCEEDED, type LookupRequest } from './lookupRoute.ts';
import { NOT_SERVED, type Operators, type OperatorsByPrefix, type Routing } from './operators.ts';

export interface ByDirectoryParts {
  readonly directory: GuardedEndpoint;
  readonly settings: Pick<NumberDirectorySettings, 'timeoutMs' | 'keepSeconds' | 'fallback'>;
  readonly operators: OperatorsByPrefix;
  readonly kept: KeptFacts | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Numbers whose operator is kept; the oldest is dropped first. */
const MAX_NUMBERS = 50_000;

/** Longer than any operator's name: a longer text matches none, and need not be kept whole. */
const MAX_NAME_CHARACTERS = 100;

/**
 * The operator that the company's number directory names. One request to it serves all that arrive meanwhile, and its
 * reply is kept for a while; the routing is not, since operators are added and removed.
 */
export class OperatorsByDirectory implements Operators {
  readonly kept: KeptFacts | undefined;
  readonly #parts: ByDirectoryParts;
  /** In order of arrival. */
  readonly #judgements = new Map<PhoneNumber, { judgement: DirectoryJudgement; untilMs: number }>();
  readonly #underWay = new WorkByKey<PhoneNumber, DirectoryJudgement>();

  constructor(parts: ByDirectoryParts) {
    this.kept = parts.kept;
    this.#parts = parts;
  }

  of(number: PhoneNumber): Routing | undefined {
    const kept = this.#judgements.get(number);
    const isKept = kept !== undefined && this.#parts.clock.monotonicMs() < kept.untilMs;
    return isKept ? this.#routingOf(kept.judgement, number) : undefined;
  }

  async find(number: PhoneNumber, request: LookupRequest): Promise<Routing> {
    const begin = (work: Sharing) => this.#request(number, work);
    const judgement = await this.#underWay.join(
      number,
      request,
      DIRECTORY_DEADLINE_EXCEEDED,
      begin,
    );
    return judgement === DIRECTORY_DEADLINE_EXCEEDED
      ? DIRECTORY_DEADLINE_EXCEEDED
      : this.#routingOf(judgement, number);
  }

  async #request(
    number: PhoneNumber,
    { signal, correlator }: Sharing,
  ): Promise<DirectoryJudgement> {
    const { directory, settings, clock } = this.#parts;
    const requestedAtMs = clock.monotonicMs();
    // The deadline does not depend on the waiting requests.
    const urgency = { signal, deadlineMs: requestedAtMs + settings.timeoutMs };
    const judgement = await operatorOf(directory, number, urgency, correlator);
    if (judgement.kind !== 'failed') {
      const untilMs = requestedAtMs + settings.keepSeconds * 1000;
      const isNamed = judgement.kind === 'named';
      const operator = isNamed ? judgement.operator.slice(0, MAX_NAME_CHARACTERS) : '';
      this.#keep(number, isNamed ? { kind: 'named', operator } : judgement, untilMs);
    }
    return judgement;
  }

  #keep(number: PhoneNumber, judgement: DirectoryJudgement, untilMs: number): void {
    this.#judgements.delete(number);
    this.#judgements.set(number, { judgement, untilMs });
    for (const [oldest, kept] of this.#judgements) {
      const isOver = kept.untilMs <= this.#parts.clock.monotonicMs();
      if (this.#judgements.size <= MAX_NUMBERS && !isOver) return;
      this.#judgements.delete(oldest);
    }
  }

  #routingOf(judgement: DirectoryJudgement, number: PhoneNumber): Routing {
    const { operators, settings, log } = this.#parts;
    switch (judgement.kind) {
      case 'failed':
        if (settings.fallback === 'prefix') return operators.of(number);
        return judgement.isUnsent === true ? { ...DIRECTORY_DOWN, isUnsent: true } : DIRECTORY_DOWN;
      case 'none':
        return NOT_SERVED;
      case 'named': {
        const named = operators.named(judgement.operator);
        // The name is not logged: it came from outside, and may be anything.
        if (named === undefined) log.error(UNKNOWN_OPERATOR, { setting: 'directory' });
        return named ?? NOT_SERVED;
      }
    }
  }
}

const UNKNOWN_OPERATOR =
  'The number directory names an operator that is not in OPERATORS_FILE: its numbers are not served.';

const DIRECTORY_DOWN = {
  kind: 'failed',
  failure: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' },
} as const satisfies Routing;

/** The request ended before the directory answered. */
const DIRECTORY_DEADLINE_EXCEEDED: DirectoryJudgement & Routing = {
  kind: 'failed',
  failure: DEADLINE_EXCEEDED,
};
