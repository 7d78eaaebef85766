import type { Clock } from '../clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { AbortListeners } from '../http/abortListeners.ts';
import { SharedUrgency, SharedWork } from '../http/sharedWork.ts';
import type { Log } from '../log.ts';
import type { DirectoryJudgement } from '../operator/directoryReply.ts';
import type { NumberDirectory } from '../operator/numberDirectory.ts';
import type { NumberDirectorySettings } from '../operator/operatorSettings.ts';
import { OUT_OF_TIME, type LookupRequest } from './lookupRoute.ts';
import { NOT_SERVED, type Operators, type Routing } from './operators.ts';
import type { OperatorsByPrefix } from './operatorsByPrefix.ts';

/** What asking a number directory takes. */
export interface DirectoryParts {
  readonly directory: Pick<NumberDirectory, 'operatorOf'>;
  readonly settings: Pick<NumberDirectorySettings, 'timeoutMs' | 'keepSeconds' | 'fallback'>;
  readonly operators: OperatorsByPrefix;
  readonly clock: Clock;
  readonly log: Log;
}

/** Numbers whose operator is kept; the one that is kept longest goes first. */
const MAX_NUMBERS = 50_000;

interface Kept {
  readonly routing: Routing;
  readonly untilMs: number;
}

/** The operator that the company's number directory names, which is asked before any operator is. */
export class OperatorsByDirectory implements Operators {
  readonly #parts: DirectoryParts;
  readonly #abortListeners = new AbortListeners();
  /** In the order in which they came. */
  readonly #kept = new Map<PhoneNumber, Kept>();
  readonly #underWay = new Map<PhoneNumber, SharedWork<Routing>>();

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
  }

  /** One question about a number at a time; all requests that come meanwhile hear its answer. */
  of(number: PhoneNumber, request: LookupRequest): Routing | Promise<Routing> {
    return this.#find(number) ?? this.#join(number, request);
  }

  async #join(number: PhoneNumber, request: LookupRequest): Promise<Routing> {
    const underWay = this.#underWay.get(number);
    const asking =
      underWay === undefined || underWay.isAbandoned ? this.#start(number, request) : underWay;
    return (await asking.outcomeFor(request)) ?? { kind: 'failed', failure: OUT_OF_TIME };
  }

  #start(number: PhoneNumber, request: LookupRequest): SharedWork<Routing> {
    const urgency = new SharedUrgency(request);
    const asking = this.#ask(number, urgency, request).finally(() => {
      if (this.#underWay.get(number) === started) this.#underWay.delete(number);
    });
    const started = new SharedWork(urgency, asking, this.#abortListeners);
    this.#underWay.set(number, started);
    return started;
  }

  async #ask(
    number: PhoneNumber,
    { signal }: SharedUrgency,
    { correlator }: LookupRequest,
  ): Promise<Routing> {
    const { directory, settings, clock } = this.#parts;
    const askedAtMs = clock.monotonicMs();
    // A deadline of its own, whatever time the requests have that wait.
    const urgency = { signal, deadlineMs: askedAtMs + settings.timeoutMs };
    const said = await directory.operatorOf(number, urgency, correlator);
    const routing = this.#routingOf(said, number);
    if (said.kind !== 'failed') {
      this.#keep(number, { routing, untilMs: askedAtMs + settings.keepSeconds * 1000 });
    }
    return routing;
  }

  #routingOf(said: DirectoryJudgement, number: PhoneNumber): Routing {
    const { operators, log } = this.#parts;
    switch (said.kind) {
      case 'failed':
        return this.#withoutDirectory(number);
      case 'none':
        return NOT_SERVED;
      case 'named': {
        const named = operators.named(said.operator);
        // The name itself is not logged: it came from outside, and may be anything.
        if (named === undefined) log.error(UNKNOWN_OPERATOR, { setting: 'directory' });
        return named ?? NOT_SERVED;
      }
    }
  }

  #withoutDirectory(number: PhoneNumber): Routing {
    const { settings, operators } = this.#parts;
    switch (settings.fallback) {
      case 'none':
        return DIRECTORY_DOWN;
      case 'prefix':
        return operators.of(number);
    }
  }

  #find(number: PhoneNumber): Routing | undefined {
    const kept = this.#kept.get(number);
    if (kept === undefined) return undefined;
    if (this.#parts.clock.monotonicMs() < kept.untilMs) return kept.routing;
    this.#kept.delete(number);
    return undefined;
  }

  #keep(number: PhoneNumber, kept: Kept): void {
    this.#kept.delete(number);
    this.#kept.set(number, kept);
    for (const [oldest, { untilMs }] of this.#kept) {
      const isOver = untilMs <= this.#parts.clock.monotonicMs();
      if (this.#kept.size <= MAX_NUMBERS && !isOver) return;
      this.#kept.delete(oldest);
    }
  }
}

const UNKNOWN_OPERATOR =
  'The number directory names an operator that is not in OPERATORS_FILE: its numbers are not served.';

/** Nothing is known of who serves the number, so that no operator is asked. */
const DIRECTORY_DOWN: Routing = {
  kind: 'failed',
  failure: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' },
};
