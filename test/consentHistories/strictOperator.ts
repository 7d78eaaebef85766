import type { Clock } from '../../src/system/clock.ts';
import { closes, type Fact } from '../../src/domain/fact.ts';
import type { Lookup, Operation } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { LookupOrder, Operator } from '../../src/operator/operator.ts';
import type { Judgement } from '../../src/operator/responses.ts';
import { AccessToken, type TokenSubject } from '../../src/tokens/accessToken.ts';
import type {
  ExchangeContext,
  Polled,
  RequestedConsent,
  TokenManager,
} from '../../src/tokens/tokenManager.ts';
import { HOUR_MS } from '../values.ts';
import type { History, LookupWord, PollWord, PromptWord } from './history.ts';

/** What the operator must not see. */
export interface Offences {
  promptsWhileOneLived: number;
  /** Prompts for what an answer, a denial or a failure had closed. */
  promptsWithoutNeed: number;
  overlappingPolls: number;
  earlyPolls: number;
  pollsAfterTheEnd: number;
  /** Of a consent that another operator acknowledged, or by another client. */
  foreignPolls: number;
  equalLookups: number;
}

interface Consent {
  readonly identity: string;
  readonly asker: string;
  readonly operation: Operation;
  /** Of the operators that the process knew which prompted. */
  readonly configured: ReadonlySet<string>;
  readonly diesAtMs: number;
  intervalMs: number;
  lastPollAtMs: number;
  pollsOnTheWire: number;
  isOver: boolean;
  /** Whether a reply said so. */
  isKnownToBeOver: boolean;
}

/** A reason not to prompt. */
interface Closure {
  readonly untilMs: number;
  /** Of the only operator that it closes; of all where absent. */
  readonly identity?: string | undefined;
  readonly closes: (operation: Operation) => boolean;
}

/** How long an answer or a failure counts that names no time. */
const KEPT_MS = 60_000;
/** Of fractions of a millisecond. */
const MIN_TOLERANCE_MS = 1;
const SLOW_DOWN_MS = 5000;

/** One operator, as one process asks it. */
export interface AskedOperator {
  /** What distinguishes it from others in consents and facts. */
  readonly identity: string;
  /** Of the operators that the process knows. */
  readonly configured: ReadonlySet<string>;
}

/** Operators that say what a history has them say, and remember what they were asked. */
export class StrictOperators {
  readonly offences: Offences = {
    promptsWhileOneLived: 0,
    promptsWithoutNeed: 0,
    overlappingPolls: 0,
    earlyPolls: 0,
    pollsAfterTheEnd: 0,
    foreignPolls: 0,
    equalLookups: 0,
  };
  prompts = 0;
  polls = 0;
  lookups = 0;
  readonly #history: History;
  readonly #clock: Clock;
  readonly #toleranceMs: number;
  readonly #consents = new Map<string, Consent>();
  /** By their tokens. */
  readonly #granted = new WeakMap<object, Consent>();
  readonly #closures: Closure[] = [];
  readonly #answered: {
    readonly identity: string;
    readonly asker: string;
    readonly lookup: Lookup;
    readonly atMs: number;
  }[] = [];
  readonly #knowSwapSinceMs = new Map<string, number>();
  readonly #startedAtMs: number;
  #exchanges = 0;

  /** @param toleranceMs by how much two moments may differ that are meant to be one */
  constructor(history: History, clock: Clock, toleranceMs: number) {
    this.#history = history;
    this.#clock = clock;
    this.#startedAtMs = clock.monotonicMs();
    this.#toleranceMs = Math.max(MIN_TOLERANCE_MS, toleranceMs);
  }

  /** How it is asked. */
  at(asked: AskedOperator): Pick<TokenManager, 'requestConsent' | 'poll'> &
    Pick<Operator, 'lookUp'> & {
      /** 2-legged: takes no consent, and always answers. */
      lookUpWithoutConsent(lookup: Lookup, asker: string): Promise<Fact>;
    } {
    return {
      requestConsent: (subject, context) => this.#requestConsent(subject, context, asked),
      poll: (authReqId, subject) => this.#poll(authReqId, subject, asked),
      lookUp: (order, context) => this.#lookUp(order, context, asked),
      lookUpWithoutConsent: (lookup, asker) => this.#lookUpWithoutConsent(lookup, asker, asked),
    };
  }

  async #requestConsent(
    { operation }: TokenSubject,
    { correlator }: Pick<ExchangeContext, 'correlator'>,
    { identity, configured }: AskedOperator,
  ): Promise<RequestedConsent> {
    const word = inTurn(this.#history.prompts, this.prompts);
    this.prompts += 1;
    this.#judgePrompt(operation, identity);
    const authReqId = `consent-${this.prompts}`;
    if (isPrompted(word)) {
      const lifeSeconds = word.word === 'acknowledged' ? word.expiresInSeconds : 120;
      this.#consents.set(authReqId, {
        identity,
        asker: askerOf(correlator.name),
        operation,
        configured,
        diesAtMs: this.#nowMs + lifeSeconds * 1000,
        intervalMs: word.word === 'acknowledged' ? word.intervalSeconds * 1000 : 0,
        lastPollAtMs: -Infinity,
        pollsOnTheWire: 0,
        isOver: false,
        isKnownToBeOver: false,
      });
    }
    await this.#takeTime();
    return { judged: this.#acknowledge(word, authReqId), attempts: 1 };
  }

  async #poll(
    authReqId: string,
    subject: TokenSubject,
    { identity }: AskedOperator,
  ): Promise<Polled> {
    const word = inTurn(this.#history.polls, this.polls);
    this.polls += 1;
    const consent = this.#consents.get(authReqId);
    if (consent === undefined) throw new Error('A poll of what was never acknowledged.');
    if (consent.identity !== identity) this.offences.foreignPolls += 1;
    this.#judgePoll(consent);
    consent.lastPollAtMs = this.#nowMs;
    consent.pollsOnTheWire += 1;
    const polled = this.#decide(consent, word, subject);
    await this.#takeTime();
    consent.pollsOnTheWire -= 1;
    if (polled.kind === 'failed') {
      consent.isKnownToBeOver = true;
      if (polled.failure.code === 'CONSENT_DENIED') this.#close(this.#deniedMs, () => true);
    }
    return polled;
  }

  async #lookUp(
    { lookup, token, number }: LookupOrder,
    { correlator }: ExchangeContext,
    asked: AskedOperator,
  ) {
    token.spend({ number, operation: lookup.operation });
    const word = inTurn(this.#history.lookups, this.lookups);
    this.lookups += 1;
    const asker = askerOf(correlator.name);
    // Whoever waits polls, and looks up what the prompt was for: the process that prompted may know fewer facts.
    const prompter = this.#granted.get(token)?.configured;
    this.#judgeLookup(lookup, asker, asked, prompter);
    const sentAtMs = this.#clock.nowMs();
    const leftAtMs = this.#nowMs;
    const isSwapped = this.hasSwapped;
    const swappedMs = this.#swappedMs;
    await this.#takeTime();
    const told = this.#answer(lookup, word, sentAtMs, swappedMs, asked.identity);
    if (told.kind === 'answered') {
      this.#answered.push({ identity: asked.identity, asker, lookup, atMs: leftAtMs });
      this.#tellOfSwap(lookup, asker, isSwapped);
    }
    return { judged: told, attempts: 1, mayRetryWithNewToken: false };
  }

  async #lookUpWithoutConsent(lookup: Lookup, asker: string, asked: AskedOperator): Promise<Fact> {
    this.#judgeLookup(lookup, asker, asked);
    const isSwapped = this.hasSwapped;
    const fact = factOf(lookup, this.#clock.nowMs(), this.#swappedMs);
    await Promise.resolve();
    this.#tellOfSwap(lookup, asker, isSwapped);
    return fact;
  }

  /** A larger window holds the earlier swap as well. */
  #tellOfSwap(lookup: Lookup, asker: string, isSwapped: boolean): void {
    const tellsOfSwap =
      lookup.operation === 'retrieve-date' || lookup.maxAgeHours < SWAPPED_HOURS_AGO;
    if (isSwapped && tellsOfSwap && !this.#knowSwapSinceMs.has(asker)) {
      this.#knowSwapSinceMs.set(asker, this.#nowMs);
    }
  }

  /** Whether the SIM has changed while the history happens. */
  get hasSwapped(): boolean {
    const { swapAtMs } = this.#history;
    return swapAtMs !== undefined && this.#nowMs - this.#startedAtMs >= swapAtMs;
  }

  /** Whether a reply had told an asker of that by then. */
  knewOfSwap(asker: string, atMs: number): boolean {
    return (this.#knowSwapSinceMs.get(asker) ?? Infinity) < atMs;
  }

  #judgePrompt(operation: Operation, identity: string): void {
    const nowMs = this.#nowMs;
    for (const consent of this.#consents.values()) {
      if (!consent.isOver && consent.diesAtMs > nowMs + this.#toleranceMs) {
        this.offences.promptsWhileOneLived += 1;
      }
    }
    for (const closure of this.#closures) {
      if ((closure.identity ?? identity) !== identity) continue;
      if (closure.untilMs > nowMs + this.#toleranceMs && closure.closes(operation)) {
        this.offences.promptsWithoutNeed += 1;
      }
    }
  }

  #judgePoll(consent: Consent): void {
    const nowMs = this.#nowMs;
    if (consent.pollsOnTheWire > 0) this.offences.overlappingPolls += 1;
    if (nowMs < consent.lastPollAtMs + consent.intervalMs - this.#toleranceMs) {
      this.offences.earlyPolls += 1;
    }
    if (consent.isKnownToBeOver) this.offences.pollsAfterTheEnd += 1;
  }

  #judgeLookup(
    lookup: Lookup,
    asker: string,
    { configured }: AskedOperator,
    prompter = configured,
  ): void {
    const { keepMs } = this.#history;
    const isEqual = this.#answered.some(
      (earlier) =>
        earlier.asker === asker &&
        // Of an operator that is known no more, only what says that the SIM changed counts.
        configured.has(earlier.identity) &&
        prompter.has(earlier.identity) &&
        earlier.atMs + keepMs > this.#nowMs + this.#toleranceMs &&
        // What was said before the SIM changed may be outdated.
        (!this.hasSwapped || earlier.atMs - this.#startedAtMs > (this.#history.swapAtMs ?? 0)) &&
        JSON.stringify(earlier.lookup) === JSON.stringify(lookup),
    );
    if (isEqual) this.offences.equalLookups += 1;
  }

  #acknowledge(word: PromptWord, authReqId: string): RequestedConsent['judged'] {
    switch (word.word) {
      case 'acknowledged': {
        const { expiresInSeconds, intervalSeconds } = word;
        return {
          kind: 'acknowledged',
          acknowledged: { authReqId, expiresInSeconds, intervalSeconds },
        };
      }
      case 'lost':
        return { kind: 'reply-lost' };
      case 'doubtful':
        return {
          failure: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' },
          kind: 'failed',
          mayHavePrompted: true,
        };
      case 'refused': {
        const { code, holdSeconds, isUnknownNumber } = word;
        if (holdSeconds !== undefined) this.#close(holdSeconds * 1000, () => true);
        if (code === 'CONSENT_DENIED') this.#close(this.#deniedMs, () => true);
        return {
          failure: {
            code,
            reach: 'number',
            ...(isUnknownNumber === undefined ? {} : { isUnknownNumber }),
          },
          kind: 'failed',
          mayHavePrompted: false,
          ...(holdSeconds === undefined ? {} : { holdSeconds }),
        };
      }
    }
  }

  #decide(consent: Consent, word: PollWord, subject: TokenSubject): Polled {
    const failing = (code: LookupFailure['code']): Polled => {
      consent.isOver = true;
      return { kind: 'failed', failure: { code, reach: 'number' } };
    };
    if (consent.isOver) return failing('CONSENT_EXPIRED');
    if (this.#nowMs >= consent.diesAtMs) return failing('CONSENT_EXPIRED');
    switch (word) {
      case 'granted':
        consent.isOver = true;
        return { kind: 'acquired', token: this.#grant(consent, subject) };
      case 'token lost':
        consent.isOver = true;
        return { kind: 'go-on', goOn: 'no_reply' };
      case 'lost':
        return { kind: 'go-on', goOn: 'no_reply' };
      case 'authorization_pending':
        return { kind: 'go-on', goOn: word };
      case 'slow_down':
        consent.intervalMs += SLOW_DOWN_MS;
        return { kind: 'go-on', goOn: word };
      case 'access_denied':
        return failing('CONSENT_DENIED');
      case 'invalid_client':
        // The prompt lives on.
        return { kind: 'failed', failure: { code: 'OPERATOR_REFUSED', reach: 'number' } };
      case 'expired_token':
      case 'invalid_grant':
        return failing('CONSENT_EXPIRED');
    }
  }

  #grant(consent: Consent, subject: TokenSubject): AccessToken {
    const token = new AccessToken(subject, 'token', undefined);
    this.#granted.set(token, consent);
    return token;
  }

  /** How long ago the last swap was. */
  get #swappedMs(): number {
    const { swapAtMs = 0 } = this.#history;
    if (!this.hasSwapped) return SWAPPED_HOURS_AGO * HOUR_MS;
    return this.#nowMs - this.#startedAtMs - swapAtMs;
  }

  #answer(
    lookup: Lookup,
    word: LookupWord,
    sentAtMs: number,
    swappedMs: number,
    identity: string,
  ): Judgement<Fact> {
    if (word === 'answered') {
      return { kind: 'answered', facts: [factOf(lookup, sentAtMs, swappedMs)] };
    }
    const failure: LookupFailure = word;
    const keptMs = (failure.retryAfterSeconds ?? 0) * 1000 || KEPT_MS;
    switch (failure.code) {
      case 'CONSENT_DENIED':
        this.#close(this.#deniedMs, () => true);
        return { kind: 'failed', failure };
      case 'OPERATOR_REFUSED':
        this.#close(KEPT_MS, (operation) => operation === lookup.operation);
        break;
      default:
    }
    this.#close(
      keptMs,
      // Of a check it is not known for which window it is going to be.
      (operation) =>
        (operation === 'retrieve-date' || failure.reach !== 'question') &&
        closes({ lookup, failure }, lookupFor(operation)),
      // The number may be served by another one.
      failure.isUnknownNumber === true ? identity : undefined,
    );
    return { kind: 'failed', failure };
  }

  #close(forMs: number, closing: Closure['closes'], identity?: string): void {
    this.#closures.push({ untilMs: this.#nowMs + forMs, closes: closing, identity });
  }

  get #deniedMs(): number {
    return this.#history.deniedMs;
  }

  get #nowMs(): number {
    return this.#clock.monotonicMs();
  }

  async #takeTime(): Promise<void> {
    const latencyMs = inTurn(this.#history.latenciesMs, this.#exchanges);
    this.#exchanges += 1;
    if (latencyMs > 0) await this.#clock.sleep(latencyMs);
  }
}

/** Correlators begin with the asker, in these histories. */
export function askerOf(correlatorName: string): string {
  return correlatorName.split('-')[0] ?? '';
}

function isPrompted(word: PromptWord): boolean {
  switch (word.word) {
    case 'acknowledged':
      return true;
    case 'lost':
    case 'doubtful':
      return word.isPrompted;
    case 'refused':
      return false;
  }
}

/** Three days ago: windows are `true` and `false`, and the date answers no window. */
export const SWAPPED_HOURS_AGO = 72;

function factOf(lookup: Lookup, sentAtMs: number, swappedMs: number): Fact {
  if (lookup.operation === 'check') {
    return { ...lookup, swapped: lookup.maxAgeHours * HOUR_MS >= swappedMs, sentAtMs };
  }
  const epochMs = sentAtMs - swappedMs;
  return {
    ...lookup,
    latestSimChange: { text: new Date(epochMs).toISOString(), epochMs },
    sentAtMs,
  };
}

function lookupFor(operation: Operation): Lookup {
  return operation === 'retrieve-date'
    ? { operation }
    : // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      ({ operation, maxAgeHours: 1 } as Lookup);
}

function inTurn<T>(words: readonly T[], count: number): T {
  const word = words[count % words.length];
  if (word === undefined) throw new Error('A history has a word for everything.');
  return word;
}
