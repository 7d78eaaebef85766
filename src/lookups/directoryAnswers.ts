import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { WorkByKey, type Sharing } from '../http/urgency.ts';
import type { DirectoryJudgement } from '../operator/directoryReply.ts';
import type { NumberDirectory } from '../operator/numberDirectory.ts';
import type { NumberDirectorySettings } from '../operator/operatorSettings.ts';
import type { LookupRequest } from './lookupRoute.ts';

export interface DirectoryParts {
  readonly directory: Pick<NumberDirectory, 'operatorOf'>;
  readonly settings: Pick<NumberDirectorySettings, 'timeoutMs' | 'keepSeconds'>;
  readonly clock: Clock;
}

/** Numbers whose operator is kept; the one that is kept longest goes first. */
const MAX_NUMBERS = 50_000;

/** More than an operator's name has: what is longer names none, and need not be kept whole. */
const MAX_NAME_CHARACTERS = 100;

interface Kept {
  readonly said: DirectoryJudgement;
  readonly untilMs: number;
}

/**
 * What the company's number directory says of numbers: asked once for all requests that come meanwhile, and kept for a
 * while. What follows from it is another's to say, since operators come and go.
 */
export class DirectoryAnswers {
  readonly #parts: DirectoryParts;
  /** In the order in which they came. */
  readonly #kept = new Map<PhoneNumber, Kept>();
  readonly #underWay = new WorkByKey<PhoneNumber, DirectoryJudgement>();

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
  }

  /** What was said of a number a while ago; `undefined` where it has to be asked about. */
  find(number: PhoneNumber): DirectoryJudgement | undefined {
    const kept = this.#kept.get(number);
    if (kept === undefined) return undefined;
    if (this.#parts.clock.monotonicMs() < kept.untilMs) return kept.said;
    this.#kept.delete(number);
    return undefined;
  }

  /** `undefined` when the request ends first. Never rejects. */
  ask(number: PhoneNumber, request: LookupRequest): Promise<DirectoryJudgement | undefined> {
    return this.#underWay
      .join(number, request, (shared) => this.#ask(number, shared))
      .outcomeFor(request);
  }

  async #ask(number: PhoneNumber, { signal, correlator }: Sharing): Promise<DirectoryJudgement> {
    const { directory, settings, clock } = this.#parts;
    const askedAtMs = clock.monotonicMs();
    // A deadline of its own, whatever time the requests have that wait.
    const urgency = { signal, deadlineMs: askedAtMs + settings.timeoutMs };
    const said = await directory.operatorOf(number, urgency, correlator);
    if (said.kind !== 'failed') {
      const untilMs = askedAtMs + settings.keepSeconds * 1000;
      this.#keep(number, { said: withShortName(said), untilMs });
    }
    return said;
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

function withShortName(said: DirectoryJudgement): DirectoryJudgement {
  switch (said.kind) {
    case 'named':
      return { kind: 'named', operator: said.operator.slice(0, MAX_NAME_CHARACTERS) };
    case 'none':
    case 'failed':
      return said;
  }
}
