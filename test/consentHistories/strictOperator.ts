import type { Clock } from '../../src/system/clock.ts';
import type { Fact } from '../../src/domain/fact.ts';
import type { Lookup, Operation } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { LookupOrder } from '../../src/operator/operator.ts';
import type { Judgement } from '../../src/operator/responses.ts';
import { MAX_LIFE_MS } from '../../src/consents/consentRecord.ts';
import { AccessToken, type TokenSubject } from '../../src/tokens/accessToken.ts';
import type { IssuedToken } from '../../src/tokens/tokenResponses.ts';
import type { ExchangeContext, Polled, RequestedConsent } from '../../src/tokens/tokenManager.ts';
import { hear, OperatorBooks, type Consent, type Offence } from '../support/operatorBooks.ts';
import { RULES } from '../consents/records.ts';
import { HOUR_MS } from '../support/values.ts';
import { exchangesOf, NonceServer } from './nonceServer.ts';
import type { History, LookupWord, OperatorName, PollWord, PromptWord } from './history.ts';

/** What an operator must not see. */
const OFFENCES = [
  'promptsWhileOneLived',
  'promptsWithoutNeed',
  'overlappingPolls',
  'earlyPolls',
  'pollsAfterTheEnd',
  'foreignPolls',
  'equalLookups',
  'tokensUsedTwice',
  'tokensPastTheirEnd',
] as const satisfies readonly Offence[];

interface IssuedHere {
  readonly expiresAtMs: number;
  receivedAtMs: number;
  isSpent: boolean;
}

/** A lookup that the operator replies to. */
interface Answered {
  readonly sentAtMs: number;
  /** How long ago the last swap was. */
  readonly swappedMs: number;
  readonly operator: OperatorName;
  readonly asker: string;
}

interface Row {
  readonly operation: Operation;
  readonly asker: string;
  readonly operator: OperatorName;
}

/** A prompt whose lookup was not answered. */
interface Unanswered {
  readonly operation: Operation;
  /** Whose prompts it counts for; for all where absent: the operator was in trouble. */
  readonly asker: string | undefined;
  /** Where it counts; at all operators where absent. */
  readonly operator: OperatorName | undefined;
  /** With those in a row before it. */
  readonly count: number;
  /** Until when the service counts it. */
  readonly untilMs: number;
  /** Always where absent. */
  readonly isCounted?: () => boolean;
}

const IN_TROUBLE = ['OPERATOR_RATE_LIMITED', 'OPERATOR_UNAVAILABLE', 'OPERATOR_TIMEOUT'];

/** As the service has it: an exchange and its one retry. */
const EXCHANGE_MS = 10_000;

/** How long the first failure counts. */
const KEPT_MS = 60_000;
/** For fractions of a millisecond. */
const MIN_TOLERANCE_MS = 1;
/** The line that a history is about. */
const LINE = 'the line';

/** Operators that reply as their history says, and note every request against their rules. */
export class StrictOperators {
  #prompts = 0;
  #polls = 0;
  #lookups = 0;
  readonly #history: History;
  readonly #clock: Clock;
  readonly #toleranceMs: number;
  readonly #books: OperatorBooks;
  readonly #servers = new Map<string, NonceServer>();
  readonly #answered: { asker: string; lookup: Lookup; atMs: number }[] = [];
  readonly #knowSwapSinceMs = new Map<string, number>();
  readonly #startedAtMs: number;
  #exchanges = 0;
  readonly #tokens = new Map<string, IssuedHere>();
  /** By `auth_req_id`, whom the owner was prompted for. */
  readonly #askers = new Map<string, string>();
  #unanswered: readonly Unanswered[] = [];
  #isForgiven: ReadonlySet<Offence> = new Set();

  /** @param toleranceMs by how much two moments may differ that count as one */
  constructor(history: History, clock: Clock, toleranceMs: number) {
    this.#history = history;
    this.#clock = clock;
    this.#startedAtMs = clock.monotonicMs();
    this.#toleranceMs = Math.max(MIN_TOLERANCE_MS, toleranceMs);
    this.#books = new OperatorBooks({
      nowMs: () => clock.monotonicMs(),
      wayMs: () => this.#toleranceMs,
      endingMs: this.#toleranceMs,
    });
  }

  /** The store has gone back: when the operator was last polled, and what it replied, may be lost. */
  storeWentBack(): void {
    this.#isForgiven = new Set(['earlyPolls', 'overlappingPolls', 'pollsAfterTheEnd']);
  }

  /** No owner is prompted within the doubt, which no history outlasts. */
  storeInDoubt(): void {
    this.#close(RULES.doubtMs, () => true);
  }

  get offences() {
    return this.#books.counts(OFFENCES);
  }

  /** What the operators were requested to do, without challenged exchanges. */
  get carriedOut() {
    return { prompts: this.#prompts, polls: this.#polls, lookups: this.#lookups };
  }

  get challenges(): number {
    return [...this.#servers.values()].reduce((sum, { challenges }) => sum + challenges, 0);
  }

  /** An operator as one process sees it. */
  at(operator: OperatorName) {
    const exchanges = exchangesOf(this.#clock);
    const carry = <T>(
      at: 'tokens' | 'lookups',
      context: ExchangeContext,
      reply: () => Promise<T>,
    ) => {
      const server = this.#serverOf(`${operator} ${at}`);
      return server?.carry(exchanges, at === 'lookups', context, reply) ?? reply();
    };
    return {
      requestConsent: (subject: TokenSubject, context: ExchangeContext) =>
        carry('tokens', context, () => this.#requestConsent(subject, context, operator)),
      poll: (authReqId: string, _: TokenSubject, context: ExchangeContext) =>
        carry('tokens', context, () => this.#poll(authReqId, operator)),
      holds: () => true,
      rightTo: (subject: TokenSubject, { value }: IssuedToken) =>
        ({ kind: 'acquired', token: new AccessToken(subject, value, undefined) }) as const,
      lookUp: (order: LookupOrder, context: ExchangeContext) =>
        carry('lookups', context, () => this.#lookUp(order, context, operator)),
    };
  }

  /** Token endpoint and bc-authorize have one nonce, lookups another (RFC 9449 §9). */
  #serverOf(name: string): NonceServer | undefined {
    const { nonces } = this.#history;
    if (nonces === undefined) return undefined;
    const server = this.#servers.get(name) ?? new NonceServer(nonces, this.#clock);
    this.#servers.set(name, server);
    return server;
  }

  async #requestConsent(
    { operation }: TokenSubject,
    { correlator }: Pick<ExchangeContext, 'correlator'>,
    operator: OperatorName,
  ): Promise<RequestedConsent> {
    const word = inTurn(this.#history.prompts, this.#prompts);
    this.#prompts += 1;
    const asked = { at: operator, number: LINE, scope: operation };
    const caller = askerOf(correlator.name);
    this.#note(this.#books.prompt({ ...asked, caller }));
    const authReqId = `consent-${this.#prompts}`;
    this.#askers.set(authReqId, caller);
    if (word.word === 'acknowledged' || (word.word !== 'refused' && word.isPrompted)) {
      const [lifeSeconds, intervalSeconds] =
        word.word === 'acknowledged' ? [word.expiresInSeconds, word.intervalSeconds] : [120, 0];
      const endsAtMs = this.#nowMs + lifeSeconds * 1000;
      const intervalMs = intervalSeconds * 1000;
      this.#books.acknowledged(authReqId, { ...asked, endsAtMs, intervalMs });
    }
    await this.#takeTime();
    return { judged: this.#acknowledge(word, authReqId), attempts: 1 };
  }

  async #poll(authReqId: string, operator: OperatorName): Promise<Polled> {
    const word = inTurn(this.#history.polls, this.#polls);
    this.#polls += 1;
    const consent = this.#books.consents.get(authReqId);
    if (consent === undefined) throw new Error('A poll of what was never acknowledged.');
    this.#note(this.#books.poll(consent, operator));
    const polled = this.#decide(consent, word);
    await this.#takeTime();
    consent.pollsOnTheWire -= 1;
    if (polled.kind === 'issued') {
      this.#grant(polled.issued, consent, this.#askers.get(authReqId) ?? '');
    }
    if (polled.kind === 'failed') {
      consent.isKnownToBeOver = true;
      if (polled.failure.code === 'CONSENT_DENIED') this.#close(this.#deniedMs, () => true);
    }
    return polled;
  }

  async #lookUp(
    { lookup, token, number }: LookupOrder,
    { correlator }: ExchangeContext,
    operator: OperatorName,
  ) {
    const value = token.spend({ number, operation: lookup.operation });
    const word = inTurn(this.#history.lookups, this.#lookups);
    this.#lookups += 1;
    if (typeof word === 'object' && 'unsent' in word) {
      const judged = { kind: 'failed', failure: word.unsent } as const;
      return { judged, attempts: 0, mayHaveBeenCarriedOut: false, mayRetryWithNewToken: false };
    }
    this.#spend(value);
    const asker = askerOf(correlator.name);
    this.#judgeLookup(lookup, asker);
    const sentAtMs = this.#clock.nowMs();
    const leftAtMs = this.#nowMs;
    const isSwapped = this.hasSwapped;
    const swappedMs = this.#swappedMs;
    await this.#takeTime();
    const told = this.#answer(lookup, word, { sentAtMs, swappedMs, operator, asker });
    if (told.kind === 'answered') {
      this.#unanswered = this.#unanswered.filter((one) => one.operation !== lookup.operation);
      this.#answered.push({ asker, lookup, atMs: leftAtMs });
      this.#tellOfSwap(lookup, asker, isSwapped);
    }
    return { judged: told, attempts: 1, mayHaveBeenCarriedOut: true, mayRetryWithNewToken: false };
  }

  #issue(): IssuedToken {
    const seconds = inTurn(this.#history.tokenSeconds, this.#tokens.size);
    const leftAtMs = this.#nowMs;
    const value = `token-${this.#tokens.size + 1}`;
    const expiresAtMs = leftAtMs + seconds * 1000;
    this.#tokens.set(value, { expiresAtMs, receivedAtMs: Infinity, isSpent: false });
    return { value, leftAtMs, expiresAtMs };
  }

  /** No owner is prompted while a token can be spent, nor for some time after the end of one that was not spent. */
  #grant({ value }: IssuedToken, consent: Consent, asker: string): void {
    const token = this.#tokens.get(value);
    if (token === undefined) throw new Error('A token that was never issued.');
    token.receivedAtMs = this.#nowMs;
    const untilMs = Math.min(token.expiresAtMs - EXCHANGE_MS, this.#nowMs + MAX_LIFE_MS);
    const isCounted = () => !token.isSpent;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in the prompts above
    const row = {
      operation: consent.scope as Operation,
      asker,
      operator: consent.at as OperatorName,
    };
    const inRow = this.#inRow(row);
    const keptMs = KEPT_MS * 2 ** Math.min(inRow, 4);
    const times = [
      [keptMs, true],
      [KEPT_MS, false],
    ] as const;
    for (const [forMs, isOwn] of times) {
      const closes = ({ caller }: { readonly caller: string }) =>
        isCounted() && (caller === asker) === isOwn;
      this.#books.close(LINE, { untilMs: untilMs + forMs, closes });
    }
    const counted = { ...row, operator: undefined, count: inRow + 1, isCounted };
    this.#unanswered = [...this.#unanswered, { ...counted, untilMs: untilMs + 2 * keptMs }];
  }

  #spend(value: string): void {
    const token = this.#tokens.get(value);
    if (token === undefined) throw new Error('A token that was never issued.');
    if (token.isSpent) this.#note(['tokensUsedTwice']);
    token.isSpent = true;
    // The operator counts from the reply: at once it may be good.
    const isLate = this.#nowMs > token.receivedAtMs + this.#toleranceMs;
    if (isLate && this.#nowMs >= token.expiresAtMs) this.#note(['tokensPastTheirEnd']);
  }

  /** A larger window is `true` for the earlier swap as well. */
  #tellOfSwap(lookup: Lookup, asker: string, isSwapped: boolean): void {
    const tellsOfSwap =
      lookup.operation === 'retrieve-date' || lookup.maxAgeHours < SWAPPED_HOURS_AGO;
    if (isSwapped && tellsOfSwap && !this.#knowSwapSinceMs.has(asker)) {
      this.#knowSwapSinceMs.set(asker, this.#nowMs);
    }
  }

  /** Whether the SIM has changed during the history. */
  get hasSwapped(): boolean {
    const { swapAtMs } = this.#history;
    return swapAtMs !== undefined && this.#nowMs - this.#startedAtMs >= swapAtMs;
  }

  /** Whether a reply had shown that to an asker by then. */
  knewOfSwap(asker: string, atMs: number): boolean {
    return (this.#knowSwapSinceMs.get(asker) ?? Infinity) < atMs;
  }

  #note(offences: readonly Offence[]): void {
    for (const offence of offences) {
      if (!this.#isForgiven.has(offence)) this.#books.offend(offence, LINE);
    }
  }

  #judgeLookup(lookup: Lookup, asker: string): void {
    const { keepMs } = this.#history;
    const isEqual = this.#answered.some(
      (earlier) =>
        earlier.asker === asker &&
        earlier.atMs + keepMs > this.#nowMs + this.#toleranceMs &&
        // A fact from before the SIM changed may be outdated.
        (!this.hasSwapped || earlier.atMs - this.#startedAtMs > (this.#history.swapAtMs ?? 0)) &&
        JSON.stringify(earlier.lookup) === JSON.stringify(lookup),
    );
    if (isEqual) this.#note(['equalLookups']);
  }

  #acknowledge(word: PromptWord, authReqId: string): RequestedConsent['judged'] {
    switch (word.word) {
      case 'acknowledged':
        return { kind: 'acknowledged', acknowledged: { authReqId, ...word } };
      case 'lost':
        return { kind: 'reply-lost' };
      case 'doubtful':
        return { ...failed('OPERATOR_UNAVAILABLE'), mayHavePrompted: true };
      case 'refused': {
        const { failure, hold } = word;
        if (hold !== undefined) this.#close(hold.holdSeconds * 1000, () => true);
        if (failure.code === 'CONSENT_DENIED') this.#close(this.#deniedMs, () => true);
        return { kind: 'failed', failure, mayHavePrompted: false, ...hold };
      }
    }
  }

  #decide(consent: Consent, word: PollWord): Polled {
    if (consent.isOver || this.#nowMs >= consent.endsAtMs) {
      consent.isOver = true;
      return failed('CONSENT_EXPIRED');
    }
    hear(consent, word === 'token lost' ? 'granted' : word);
    switch (word) {
      case 'granted':
        return { kind: 'issued', issued: this.#issue() };
      case 'token lost':
      case 'lost':
        return { kind: 'go-on', goOn: 'no_reply' };
      case 'authorization_pending':
      case 'slow_down':
        return { kind: 'go-on', goOn: word };
      case 'access_denied':
        return failed('CONSENT_DENIED');
      case 'invalid_client':
        // The prompt is still alive.
        return failed('OPERATOR_REFUSED');
      case 'expired_token':
      case 'invalid_grant':
        return failed('CONSENT_EXPIRED');
    }
  }

  /** How long ago the last swap was. */
  get #swappedMs(): number {
    const { swapAtMs = 0 } = this.#history;
    if (!this.hasSwapped) return SWAPPED_HOURS_AGO * HOUR_MS;
    return this.#nowMs - this.#startedAtMs - swapAtMs;
  }

  #answer(
    lookup: Lookup,
    word: Exclude<LookupWord, { readonly unsent: LookupFailure }>,
    { sentAtMs, swappedMs, operator, asker }: Answered,
  ): Judgement<Fact> {
    if (word === 'answered') {
      return { kind: 'answered', facts: [factOf(lookup, sentAtMs, swappedMs)] };
    }
    const failure = word;
    const row = { operation: lookup.operation, operator, asker };
    const keptMs = this.#unpromptedMs(failure, row);
    const othersMs = IN_TROUBLE.includes(failure.code) ? keptMs : barredMs(failure, 0);
    switch (failure.code) {
      case 'CONSENT_DENIED':
        this.#close(this.#deniedMs, () => true);
        return { kind: 'failed', failure };
      case 'OPERATOR_REFUSED':
        this.#close(KEPT_MS, (operation) => operation === lookup.operation);
        break;
      default:
    }
    for (const [forMs, isOwn] of [
      [keptMs, true],
      [othersMs, false],
    ] as const) {
      this.#close(
        forMs,
        // The window of the next check is not known yet.
        (operation, caller) =>
          (caller === asker) === isOwn &&
          (failure.reach === 'number' ||
            (operation === lookup.operation &&
              (operation === 'retrieve-date' || failure.reach === 'operation'))),
        // Another operator may serve the number.
        failure.isUnknownNumber === true ? operator : undefined,
      );
    }
    return { kind: 'failed', failure };
  }

  /** It doubles from one prompt in a row to the next. */
  #unpromptedMs(failure: LookupFailure, row: Row): number {
    const inRow = this.#inRow(row);
    const keptMs = barredMs(failure, inRow);
    const { code, isUnknownNumber = false } = failure;
    if (code !== 'CONSENT_DENIED') {
      const counted = {
        operation: row.operation,
        asker: IN_TROUBLE.includes(code) ? undefined : row.asker,
        operator: isUnknownNumber ? row.operator : undefined,
      };
      const untilMs = this.#nowMs + 2 * keptMs;
      this.#unanswered = [...this.#unanswered, { ...counted, count: inRow + 1, untilMs }];
    }
    return keptMs;
  }

  #inRow({ operation, asker, operator }: Row): number {
    const before = this.#unanswered.filter(
      ({ isCounted = () => true, ...one }) =>
        one.operation === operation &&
        one.untilMs > this.#nowMs &&
        (one.asker ?? asker) === asker &&
        (one.operator ?? operator) === operator &&
        isCounted(),
    );
    return Math.max(0, ...before.map(({ count }) => count));
  }

  /** @param operator the only one that it closes; all where absent */
  #close(
    forMs: number,
    closing: (operation: Operation, caller: string) => boolean,
    operator?: OperatorName,
  ): void {
    this.#books.close(LINE, {
      untilMs: this.#nowMs + forMs,
      closes: ({ at, scope, caller }) =>
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in the prompts above
        (operator ?? at) === at && closing(scope as Operation, caller),
    });
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

/** @param inRow the prompts before it that were not answered either */
function barredMs({ retryAfterSeconds = 0 }: LookupFailure, inRow: number): number {
  return Math.max(retryAfterSeconds * 1000, KEPT_MS * 2 ** Math.min(inRow, 4));
}

function failed(code: LookupFailure['code']) {
  return { kind: 'failed', failure: { code, reach: 'number' } } as const;
}

/** In these histories correlators begin with the asker. */
function askerOf(correlatorName: string): string {
  return correlatorName.split('-')[0] ?? '';
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

function inTurn<T>(words: readonly T[], count: number): T {
  const word = words[count % words.length];
  if (word === undefined) throw new Error('A history has a word for everything.');
  return word;
}
