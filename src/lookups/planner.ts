import {
  deduceSwapped,
  monitoredHours,
  type DateTrust,
  type Deduced,
} from '../domain/deduction.ts';
import type { LookupFailure } from '../domain/errors.ts';
import {
  closes,
  type FailedLookup,
  saysSwapped,
  type DateFact,
  type TimedFact,
} from '../domain/fact.ts';
import type { Instant } from '../domain/instant.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { MaxAgeHours, Lookup, Operation, Question } from '../domain/question.ts';
import { promptsOwner, type Flow } from '../tokens/authorizationSettings.ts';

export interface Offer extends DateTrust {
  readonly operations: ReadonlySet<Operation>;
  /** The largest window that `check` takes. */
  readonly maxAgeHours: number;
  /** What is sent for a lookup: lookups with equal requests are one. `undefined` where none can be written. */
  readonly requestOf?: (lookup: Lookup, number: PhoneNumber) => string | undefined;
  /** An owner consents to one operation: the reply to another one has no fact of it. */
  readonly flow?: Flow;
}

export interface Plan {
  /** The number, where the operator's requests may be equal. */
  readonly number?: PhoneNumber;
  readonly questions: readonly Question[];
  readonly facts: readonly TimedFact[];
  /** Kept facts that answer nothing here: a `false` must not ignore a change that they show. */
  readonly unrequested?: readonly TimedFact[];
  readonly failures: readonly FailedLookup[];
  /** Lookups whose replies brought facts. */
  readonly answered?: readonly Lookup[];
}

/** `asOfMs` is when the lookup left whose facts the answer follows `from`, in milliseconds since 1970. */
export type Answer =
  | {
      readonly kind: 'date';
      readonly latestSimChange: Instant | null;
      readonly asOfMs: number;
      readonly from: readonly TimedFact[];
    }
  | Deduced
  | { readonly kind: 'failure'; readonly failure: LookupFailure };

/** The next lookup; `undefined` when no question is open (docs/design.md, "From questions to lookups"). Pure. */
export function nextLookup(plan: Plan, offer: Offer): Lookup | undefined {
  const windows: MaxAgeHours[] = [];
  for (const question of plan.questions) {
    if (answerTo(question, plan, offer) !== undefined) continue;
    switch (question.about) {
      // docs/design.md, "The date first".
      case 'date':
        return RETRIEVE_DATE;
      case 'window':
        if (!offer.operations.has('check')) return RETRIEVE_DATE;
        windows.push(question.maxAgeHours);
        break;
      default:
        return question satisfies never;
    }
  }
  const maxAgeHours = nextWindow(windows, plan);
  return maxAgeHours === undefined ? undefined : { operation: 'check', maxAgeHours };
}

/** Whether the operator has only replied that the number is unknown (docs/design.md, "No other operator in doubt"). */
export function mayBeElsewhere({ facts, failures }: Pick<Plan, 'facts' | 'failures'>): boolean {
  return (
    facts.length === 0 &&
    failures.length > 0 &&
    failures.every(({ failure }) => failure.isUnknownNumber === true)
  );
}

const RETRIEVE_DATE: Lookup = { operation: 'retrieve-date' };

/** The window of a check that is already paid for; `undefined` where no question about one is open. */
export function nextWindowAmong(plans: readonly Plan[], offer: Offer): MaxAgeHours | undefined {
  const open = plans.flatMap((plan) =>
    plan.questions.flatMap((question) =>
      question.about === 'window' && answerTo(question, plan, offer) === undefined
        ? question.maxAgeHours
        : [],
    ),
  );
  return nextWindow(open, {
    facts: plans.flatMap(({ facts }) => facts),
    failures: plans.flatMap(({ failures }) => failures),
  });
}

/** The next window to check (docs/design.md, "The largest window first"). */
function nextWindow(
  open: readonly MaxAgeHours[],
  known: Pick<Plan, 'facts' | 'failures'>,
): MaxAgeHours | undefined {
  if (open.length < 2) return open[0];
  const ascending = [...new Set(open)].toSorted((a, b) => a - b);
  return isBounded(known) ? ascending[Math.floor(ascending.length / 2)] : ascending.at(-1);
}

/** A larger window is known to have a swap, or exceeds what is answered (docs/design.md, "Windows out of range"). */
function isBounded({ facts, failures }: Pick<Plan, 'facts' | 'failures'>): boolean {
  return (
    facts.some(saysSwapped) ||
    failures.some(
      ({ lookup, failure }) => isOfWindow(lookup) && failure.code === 'PERIOD_NOT_SUPPORTED',
    )
  );
}

function isOfWindow({ operation }: Lookup): boolean {
  switch (operation) {
    case 'retrieve-date':
      return false;
    case 'check':
      return true;
  }
}

/** Whether facts, or a failure, close a question that is open without them. */
export function closesMore(
  before: Plan,
  offer: Offer,
  facts: readonly TimedFact[],
  failedLookup?: FailedLookup,
): boolean {
  const failures =
    failedLookup === undefined ? before.failures : [...before.failures, failedLookup];
  const after = { ...before, facts: before.facts.concat(facts), failures };
  return before.questions.some(
    (question) =>
      answerTo(question, before, offer) === undefined &&
      answerTo(question, after, offer) !== undefined,
  );
}

/** A date may be older than any window, and most lines never swapped, so that a window answers the smaller ones. */
export function isWorthWaitingFor(underWay: Lookup, wanted: Lookup): boolean {
  switch (wanted.operation) {
    case 'retrieve-date':
      return !isOfWindow(underWay);
    case 'check':
      switch (underWay.operation) {
        case 'retrieve-date':
          return true;
        case 'check':
          return underWay.maxAgeHours >= wanted.maxAgeHours;
      }
  }
}

/** `undefined` while the question is open. A failure is provisional: a later fact may replace it. Pure. */
export function answerTo(question: Question, plan: Plan, offer: Offer): Answer | undefined {
  switch (question.about) {
    case 'date':
      return answerToDate(plan, offer);
    case 'window':
      return answerToWindow(question.maxAgeHours, plan, offer);
  }
}

function answerToDate(plan: Plan, offer: Offer): Answer | undefined {
  const from = dates(plan.facts);
  const fact = from.at(-1);
  if (fact !== undefined) {
    return { kind: 'date', latestSimChange: fact.latestSimChange, asOfMs: fact.sentAtMs, from };
  }
  if (!offer.operations.has('retrieve-date')) return NOT_OFFERED;
  return failed(RETRIEVE_DATE, plan, offer);
}

function answerToWindow(maxAgeHours: MaxAgeHours, plan: Plan, offer: Offer): Answer | undefined {
  const { facts, unrequested } = plan;
  const deduced = deduceSwapped(maxAgeHours, facts, offer, unrequested);
  if (deduced !== undefined) return deduced;
  if (!offer.operations.has('check')) return answerFromDateOnly(plan, offer);
  if (maxAgeHours > offer.maxAgeHours) return periodNotSupported(offer.maxAgeHours);
  return failed({ operation: 'check', maxAgeHours }, plan, offer);
}

/** The answer where only one operation is offered (docs/design.md, "One operation only"). */
function answerFromDateOnly(plan: Plan, offer: Offer): Answer | undefined {
  const fact = dates(plan.facts).at(-1);
  if (fact === undefined) return failed(RETRIEVE_DATE, plan, offer);
  if (fact.latestSimChange === null) return periodNotSupported(monitoredHours(fact, offer));
  return { kind: 'window', swapped: true, asOfMs: fact.sentAtMs, from: [fact] };
}

/** In the order in which their lookups left; kept facts may come in any order. */
function dates(facts: readonly TimedFact[]): readonly (TimedFact & DateFact)[] {
  return facts
    .filter((fact) => fact.operation === 'retrieve-date')
    .toSorted((one, other) => one.leftAtMs - other.leftAtMs);
}

/** The facts that answers follow from: only these are delivered to a caller with the answers. */
export function deliveredFacts(plan: Plan, offer: Offer): readonly TimedFact[] {
  const based = plan.questions.flatMap((question) => {
    const answer = answerTo(question, plan, offer);
    return answer === undefined || answer.kind === 'failure' ? [] : answer.from;
  });
  return [...new Set(based)];
}

function failed(lookup: Lookup, plan: Plan, offer: Offer): Answer | undefined {
  const { failures, answered = NONE } = plan;
  if (failures.length === 0 && answered.length === 0) return undefined;
  const failure =
    failures.find((one) => closes(one, lookup))?.failure ?? equalRequest(lookup, plan, offer);
  return failure && { kind: 'failure', failure };
}

/** An earlier lookup with the same request (docs/design.md, "No equal request twice"). */
function equalRequest(
  lookup: Lookup,
  { number, failures, answered = NONE }: Plan,
  { requestOf, flow = '2-legged' }: Offer,
): LookupFailure | undefined {
  if (number === undefined || requestOf === undefined) return undefined;
  const request = requestOf(lookup, number);
  if (request === undefined) return undefined;
  const readsAll = ({ operation }: Lookup): boolean =>
    !promptsOwner(flow) || operation === lookup.operation;
  const isEqual = (made: Lookup): boolean => requestOf(made, number) === request;
  return (
    failures.find((one) => isEqual(one.lookup))?.failure ??
    (answered.some((made) => readsAll(made) && isEqual(made))
      ? NOT_IN_REPLY[lookup.operation]
      : undefined)
  );
}

const NONE: readonly Lookup[] = [];

/** The same reply would leave the question open again. */
const NOT_IN_REPLY: Readonly<Record<Operation, LookupFailure>> = {
  'retrieve-date': { code: 'NUMBER_NOT_SERVED', reach: 'question' },
  check: { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' },
};

const NOT_OFFERED: Answer = {
  kind: 'failure',
  failure: { code: 'OPERATION_NOT_OFFERED', reach: 'question' },
};

/** Has the longest window that can be answered, where there is one. */
function periodNotSupported(maxAgeHours: number): Answer {
  const failure = { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' } as const;
  return { kind: 'failure', failure: maxAgeHours < 1 ? failure : { ...failure, maxAgeHours } };
}
