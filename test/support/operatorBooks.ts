/** A request to an operator. */
export interface OperatorRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** What a request is for: a prompt rings a phone, and a lookup is billed. */
export type Asked = 'prompts' | 'tokens' | 'lookups';

/** What the service must not do to an operator. */
export type Offence =
  | 'tokensUsedTwice'
  | 'tokensPastTheirEnd'
  /** Or issued by another operator. */
  | 'tokensNeverIssued'
  /** For another number, or for the other operation. */
  | 'tokensOnAnotherSubject'
  /** Of a consent that another operator acknowledged, or by another client. */
  | 'foreignPolls'
  | 'earlyPolls'
  | 'overlappingPolls'
  | 'pollsAfterTheEnd'
  | 'promptsWhileOneLived'
  /** For what an answer, a denial or a failure had closed. */
  | 'promptsWithoutNeed'
  | 'numbersOfOthers'
  /** Lookups that one request made twice although the first was answered. */
  | 'billedTwice'
  /** Lookups of what the caller was answered, and may be answered again. */
  | 'equalLookups'
  | 'correlatorsUsedTwice'
  | 'unexpectedMembers';

/** What an operator grants and expects; it serves every number, and a token works once, where absent. */
export interface OperatorTerms {
  readonly tokenUse?: 'once' | 'per-number' | 'any-number';
  readonly serves?: (number: string) => boolean;
  /** The life of tokens whose replies name none. */
  readonly tokenSeconds?: number;
  /** Which of the operators that share these books a request reached. */
  readonly at?: (request: OperatorRequest) => string;
  readonly nowMs?: () => number;
  /** How much closer two polls may arrive than they left. */
  readonly wayMs?: () => number;
  /** How long before its end a consent counts as over. */
  readonly endingMs?: number;
  readonly onOffence?: (offence: Offence, number: string) => void;
}

interface Token {
  readonly at: string;
  readonly consent: Consent | undefined;
  /** Absent in a token for any number. */
  readonly number: string | undefined;
  readonly scope: string;
  readonly endsAtMs: number;
  /** How many more lookups it is good for. */
  left: number;
}

/** An owner who was prompted. */
interface Prompted {
  /** Which operator did. */
  readonly at: string;
  readonly number: string;
  readonly scope: string;
  readonly endsAtMs: number;
  intervalMs: number;
}

export interface Consent extends Prompted {
  readonly promptedAtMs: number;
  polls: number;
  polledAtMs: number;
  pollsOnTheWire: number;
  /** Another prompt may be sent. */
  isOver: boolean;
  /** A reply said so. */
  isKnownToBeOver: boolean;
}

/** A request to prompt. */
interface Prompting {
  readonly at: string;
  readonly number: string;
  readonly caller: string;
  readonly scope: string;
}

/** A reason not to prompt about a number. */
export interface Closure {
  readonly untilMs: number;
  readonly closes: (prompting: Prompting) => boolean;
}

const WAY_MS = 250;
const SLOW_DOWN_MS = 5000;
const MEMBERS: readonly string[] = ['phoneNumber', 'maxAge'];

/**
 * The requests to operators and their replies, and every offence: on the wire (`came`, `answered`), or without one
 * (`prompt`, `poll`).
 */
export class OperatorBooks {
  readonly offences: Offence[] = [];
  lookups = 0;
  readonly consents = new Map<string, Consent>();
  readonly #terms: OperatorTerms;
  readonly #tokens = new Map<string, Token>();
  /** The last one of each number. */
  readonly #prompted = new Map<string, Consent>();
  readonly #closures = new Map<string, readonly Closure[]>();
  readonly #correlators = new Set<string>();
  readonly #billed = new Set<string>();

  constructor(terms: OperatorTerms = {}) {
    this.#terms = terms;
  }

  count(offence: Offence): number {
    return this.offences.filter((one) => one === offence).length;
  }

  counts<O extends Offence>(offences: readonly O[]): Record<O, number> {
    const counted = offences.map((offence) => [offence, this.count(offence)] as const);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each of them
    return Object.fromEntries(counted) as Record<O, number>;
  }

  offend(offence: Offence, number: string): void {
    this.offences.push(offence);
    this.#terms.onOffence?.(offence, number);
  }

  /** From now on prompts that the closure applies to are offences. */
  close(number: string, closure: Closure): void {
    this.#closures.set(number, [...(this.#closures.get(number) ?? []), closure]);
  }

  /** Removes closures that the service may not know of. */
  reopen(isUnknown: (closure: Closure, number: string) => boolean): void {
    for (const [number, all] of this.#closures) {
      const known = all.filter((closure) => !isUnknown(closure, number));
      if (known.length < all.length) this.#closures.set(number, known);
    }
  }

  /** Ends closures by then that the service may not know of any longer. */
  shorten(untilMs: number, isLost: (closure: Closure) => boolean): void {
    for (const [number, all] of this.#closures) {
      const known = all.map((closure) =>
        isLost(closure) ? { ...closure, untilMs: Math.min(closure.untilMs, untilMs) } : closure,
      );
      this.#closures.set(number, known);
    }
  }

  /** The consent about a number that lives. */
  livingOf(number: string): Consent | undefined {
    const last = this.#prompted.get(number);
    const { endingMs = 0 } = this.#terms;
    return last?.isOver === false && last.endsAtMs > this.#nowMs + endingMs ? last : undefined;
  }

  /** A request to prompt arrives. */
  prompt(prompting: Prompting): readonly Offence[] {
    const untilMs = this.#nowMs + (this.#terms.endingMs ?? 0);
    const isClosed = (this.#closures.get(prompting.number) ?? []).some(
      (closure) => closure.untilMs > untilMs && closure.closes(prompting),
    );
    return these([
      ...this.#othersNumber(prompting.number),
      this.livingOf(prompting.number) !== undefined && 'promptsWhileOneLived',
      isClosed && 'promptsWithoutNeed',
    ]);
  }

  /** The owner is prompted, whether or not the reply arrives. */
  acknowledged(authReqId: string, prompted: Prompted): Consent {
    const consent: Consent = {
      ...prompted,
      promptedAtMs: this.#nowMs,
      polls: 0,
      polledAtMs: -Infinity,
      pollsOnTheWire: 0,
      isOver: false,
      isKnownToBeOver: false,
    };
    this.consents.set(authReqId, consent);
    this.#prompted.set(prompted.number, consent);
    return consent;
  }

  poll(consent: Consent | undefined, at: string): readonly Offence[] {
    if (consent === undefined) return ['foreignPolls'];
    const { wayMs = () => WAY_MS } = this.#terms;
    const nowMs = this.#nowMs;
    const isEarly = nowMs < consent.polledAtMs + consent.intervalMs - wayMs();
    const offences = these([
      consent.at !== at && 'foreignPolls',
      consent.pollsOnTheWire > 0 && 'overlappingPolls',
      isEarly && 'earlyPolls',
      consent.isKnownToBeOver && 'pollsAfterTheEnd',
    ]);
    consent.polls += 1;
    consent.polledAtMs = nowMs;
    consent.pollsOnTheWire += 1;
    return offences;
  }

  numberOf(request: OperatorRequest): string {
    const { phoneNumber } = membersOf(request.body);
    const named = typeof phoneNumber === 'string' ? phoneNumber : '';
    return this.#tokenOf(request)?.number ?? named;
  }

  /** The consent that is polled, or whose token the lookup has. */
  consentOf(request: OperatorRequest): Consent | undefined {
    const polled = this.consents.get(formOf(request).get('auth_req_id') ?? '');
    return polled ?? this.#tokenOf(request)?.consent;
  }

  /** A request arrives. Records and returns its offences. */
  came(request: OperatorRequest): readonly Offence[] {
    const correlator = correlatorOf(request);
    const offences = these([
      this.#correlators.has(correlator) && 'correlatorsUsedTwice',
      ...this.#against(request),
    ]);
    if (correlator !== '') this.#correlators.add(correlator);
    const number = this.consentOf(request)?.number ?? numberIn(formOf(request).get('login_hint'));
    for (const offence of offences) this.offend(offence, number ?? '');
    return offences;
  }

  /** The operator replies, whether or not the reply arrives. */
  answered(request: OperatorRequest, status: number, body: string): void {
    const asked = askedOf(request.path);
    const consent = asked === 'tokens' ? this.consentOf(request) : undefined;
    const told = membersOf(body);
    if (consent !== undefined) {
      consent.pollsOnTheWire -= 1;
      hear(consent, status === 200 ? 'granted' : told['error']);
      consent.isKnownToBeOver = consent.isOver;
    }
    if (status !== 200) return;
    const at = this.#at(request);
    const form = formOf(request);
    const scope = consent?.scope ?? form.get('scope') ?? '';
    const seconds = Number(told['expires_in'] ?? this.#terms.tokenSeconds ?? Infinity);
    const endsAtMs = this.#nowMs + seconds * 1000;
    switch (asked) {
      case 'prompts': {
        const number = numberIn(form.get('login_hint')) ?? '';
        const intervalMs = Number(told['interval'] ?? 5) * 1000;
        const prompted = { at, number, scope, endsAtMs, intervalMs };
        this.acknowledged(String(told['auth_req_id']), prompted);
        return;
      }
      case 'tokens': {
        const value = String(told['access_token']);
        const number = consent?.number ?? numberIn(form.get('username'));
        const left = (this.#tokens.get(value)?.left ?? 0) + 1;
        this.#tokens.set(value, { at, consent, number, scope, endsAtMs, left });
        return;
      }
      case 'lookups': {
        this.lookups += 1;
        const number = this.numberOf(request);
        // All exchanges of a request have its correlator, with a count at the end.
        const name = correlatorOf(request).replace(/-\d+$/, '');
        const { maxAge } = membersOf(request.body);
        const question = JSON.stringify([name, request.path, number, maxAge]);
        if (name !== '' && this.#billed.has(question)) this.offend('billedTwice', number);
        this.#billed.add(question);
      }
    }
  }

  get #nowMs(): number {
    return (this.#terms.nowMs ?? Date.now)();
  }

  #at(request: OperatorRequest): string {
    return this.#terms.at?.(request) ?? '';
  }

  #against(request: OperatorRequest): readonly Offence[] {
    const form = formOf(request);
    switch (askedOf(request.path)) {
      case 'prompts':
        return this.prompt({
          at: this.#at(request),
          number: numberIn(form.get('login_hint')) ?? '',
          caller: callerOf(request),
          scope: form.get('scope') ?? '',
        });
      case 'tokens':
        return form.has('auth_req_id')
          ? this.poll(this.consentOf(request), this.#at(request))
          : this.#othersNumber(numberIn(form.get('username')));
      case 'lookups':
        return this.#lookup(request);
    }
  }

  #lookup(request: OperatorRequest): readonly Offence[] {
    // A test of the connection, without a lookup.
    if (request.body === '') return [];
    const { phoneNumber, ...others } = membersOf(request.body);
    const number = this.numberOf(request);
    const token = this.#tokenOf(request);
    const offences: Offence[] = [...this.#othersNumber(number)];
    if (Object.keys(others).some((name) => !MEMBERS.includes(name))) {
      offences.push('unexpectedMembers');
    }
    if (token?.at !== this.#at(request)) return [...offences, 'tokensNeverIssued'];
    if (token.left < 1 && (this.#terms.tokenUse ?? 'once') === 'once') {
      offences.push('tokensUsedTwice');
    }
    token.left -= 1;
    if (this.#nowMs >= token.endsAtMs) offences.push('tokensPastTheirEnd');
    const isOwn = (phoneNumber ?? number) === number;
    const [own, other] = endsWith(request.path, '/check') ? SCOPES : SCOPES.toReversed();
    const fits = token.scope.includes(own ?? '') || !token.scope.includes(other ?? '');
    return isOwn && fits ? offences : [...offences, 'tokensOnAnotherSubject'];
  }

  #tokenOf({ headers }: OperatorRequest): Token | undefined {
    return this.#tokens.get(String(headers['authorization']).replace(/^(?:Bearer|DPoP) /, ''));
  }

  #othersNumber(number: string | undefined): readonly Offence[] {
    const { serves = () => true } = this.#terms;
    return number === undefined || serves(number) ? [] : ['numbersOfOthers'];
  }
}

const SCOPES = ['check-sim-swap', 'retrieve-sim-swap-date'] as const;

export function askedOf(address: string): Asked {
  if (endsWith(address, '/bc-authorize')) return 'prompts';
  return endsWith(address, '/token') ? 'tokens' : 'lookups';
}

/** Whether the path of an address ends so, whatever its query. */
export function endsWith(address: string, end: string): boolean {
  return address.split('?')[0]?.endsWith(end) === true;
}

export function formOf({ body }: OperatorRequest): URLSearchParams {
  return new URLSearchParams(body);
}

/** Correlators begin with the caller in tests that name callers. */
export function callerOf(request: OperatorRequest): string {
  return correlatorOf(request).split('-')[0] ?? '';
}

/** Applies the reply to a poll to its consent. */
export function hear(consent: Consent, decided: unknown): void {
  if (decided === 'slow_down') consent.intervalMs += SLOW_DOWN_MS;
  if (ENDS.has(decided)) consent.isOver = true;
}

const ENDS = new Set<unknown>(['granted', 'access_denied', 'expired_token', 'invalid_grant']);

function these(offences: readonly (Offence | false)[]): readonly Offence[] {
  return offences.filter((one) => one !== false);
}

function correlatorOf({ headers }: OperatorRequest): string {
  return String(headers['x-correlator'] ?? '');
}

function numberIn(telUri: string | null): string | undefined {
  return telUri?.replace('tel:', '');
}

function membersOf(json: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(json) as object) };
  } catch {
    return {};
  }
}
