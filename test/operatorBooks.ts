/** A request to an operator, as any server has read it. */
export interface OperatorRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** The requests of an operator: a prompt rings a phone, and a lookup is billed. */
export type Asked = 'prompts' | 'tokens' | 'lookups';

/** What must not be done to an operator. */
export type Offence =
  | 'tokensUsedTwice'
  | 'tokensPastTheirEnd'
  | 'tokensNeverIssued'
  /** For another number, or for the other operation. */
  | 'tokensOnAnotherSubject'
  | 'foreignPolls'
  | 'earlyPolls'
  | 'overlappingPolls'
  | 'pollsAfterTheEnd'
  | 'promptsWhileOneLived'
  | 'numbersOfOthers'
  /** Lookups that one request made twice, though the first was answered. */
  | 'billedTwice'
  | 'correlatorsUsedTwice'
  | 'unexpectedMembers';

/** What an operator grants and expects; a token once, and every number, where absent. */
export interface OperatorTerms {
  readonly tokenUse?: 'once' | 'per-number' | 'any-number';
  readonly serves?: (number: string) => boolean;
  /** Of tokens whose replies name no end. */
  readonly tokenSeconds?: number;
}

interface Token {
  /** Absent in a token for any number. */
  readonly number: string | undefined;
  readonly scope: string;
  readonly endsAtMs: number;
  /** How often it was issued that was not used yet. */
  left: number;
}

interface Consent {
  readonly number: string;
  readonly scope: string;
  readonly endsAtMs: number;
  intervalMs: number;
  polls: number;
  polledAtMs: number;
  pollsOnTheWire: number;
  isOver: boolean;
}

/** By how much two polls may come closer to each other than they left. */
const WAY_MS = 250;
const SLOW_DOWN_MS = 5000;
const MEMBERS: readonly string[] = ['phoneNumber', 'maxAge'];

/**
 * What reached an operator and what it said to it, whoever wrote the replies, and everything that was done against its
 * rules.
 */
export class OperatorBooks {
  readonly offences: Offence[] = [];
  lookups = 0;
  readonly #terms: OperatorTerms;
  readonly #tokens = new Map<string, Token>();
  readonly #consents = new Map<string, Consent>();
  /** The last one of each number. */
  readonly #prompted = new Map<string, Consent>();
  readonly #correlators = new Set<string>();
  readonly #billed = new Set<string>();

  constructor(terms: OperatorTerms = {}) {
    this.#terms = terms;
  }

  count(offence: Offence): number {
    return this.offences.filter((one) => one === offence).length;
  }

  numberOf(request: OperatorRequest): string {
    const { phoneNumber } = membersOf(request.body);
    const named = typeof phoneNumber === 'string' ? phoneNumber : '';
    return this.#tokenOf(request)?.number ?? named;
  }

  consentOf(request: OperatorRequest): Consent | undefined {
    return this.#consents.get(formOf(request).get('auth_req_id') ?? '');
  }

  /** A request has come. What it does against the rules is noted, and returned. */
  came(request: OperatorRequest): readonly Offence[] {
    const correlator = correlatorOf(request);
    const offences = [
      ...(this.#correlators.has(correlator) ? ['correlatorsUsedTwice' as const] : []),
      ...this.#against(request),
    ];
    if (correlator !== '') this.#correlators.add(correlator);
    this.offences.push(...offences);
    return offences;
  }

  /** What the operator did upon it, which its client may or may not hear. */
  answered(request: OperatorRequest, status: number, body: string): void {
    const consent = this.consentOf(request);
    if (consent !== undefined) consent.pollsOnTheWire -= 1;
    const told = membersOf(body);
    if (consent !== undefined && status !== 200) hear(consent, told['error']);
    if (status !== 200) return;
    const nowMs = Date.now();
    const form = formOf(request);
    const scope = consent?.scope ?? form.get('scope') ?? '';
    const endsAtMs =
      nowMs + Number(told['expires_in'] ?? this.#terms.tokenSeconds ?? Infinity) * 1000;
    switch (askedOf(request.path)) {
      case 'prompts': {
        const number = numberIn(form.get('login_hint')) ?? '';
        const intervalMs = Number(told['interval'] ?? 5) * 1000;
        const prompted = { number, scope, endsAtMs, intervalMs };
        const made = {
          ...prompted,
          polls: 0,
          polledAtMs: -Infinity,
          pollsOnTheWire: 0,
          isOver: false,
        };
        this.#consents.set(String(told['auth_req_id']), made);
        this.#prompted.set(number, made);
        return;
      }
      case 'tokens': {
        if (consent !== undefined) consent.isOver = true;
        const value = String(told['access_token']);
        const number = consent?.number ?? numberIn(form.get('username'));
        const left = (this.#tokens.get(value)?.left ?? 0) + 1;
        this.#tokens.set(value, { number, scope, endsAtMs, left });
        return;
      }
      case 'lookups': {
        this.lookups += 1;
        const number = this.numberOf(request);
        // A request of ours names all its exchanges alike, but for the count at the end.
        const name = correlatorOf(request).replace(/-\d+$/, '');
        const { maxAge } = membersOf(request.body);
        const question = JSON.stringify([name, request.path, number, maxAge]);
        if (name !== '' && this.#billed.has(question)) this.offences.push('billedTwice');
        this.#billed.add(question);
      }
    }
  }

  #against(request: OperatorRequest): readonly Offence[] {
    const form = formOf(request);
    switch (askedOf(request.path)) {
      case 'prompts': {
        const number = numberIn(form.get('login_hint'));
        const { isOver = true, endsAtMs = 0 } = this.#prompted.get(number ?? '') ?? {};
        const lives = !isOver && endsAtMs > Date.now();
        const offences = this.#othersNumber(number);
        return lives ? [...offences, 'promptsWhileOneLived'] : offences;
      }
      case 'tokens':
        return form.has('auth_req_id')
          ? poll(this.consentOf(request))
          : this.#othersNumber(numberIn(form.get('username')));
      case 'lookups':
        return this.#lookup(request);
    }
  }

  #lookup(request: OperatorRequest): readonly Offence[] {
    // A try of the connection, which looks nothing up.
    if (request.body === '') return [];
    const { phoneNumber, ...others } = membersOf(request.body);
    const number = this.numberOf(request);
    const token = this.#tokenOf(request);
    const offences: Offence[] = [...this.#othersNumber(number)];
    if (Object.keys(others).some((name) => !MEMBERS.includes(name))) {
      offences.push('unexpectedMembers');
    }
    if (token === undefined) return [...offences, 'tokensNeverIssued'];
    if (token.left < 1 && (this.#terms.tokenUse ?? 'once') === 'once') {
      offences.push('tokensUsedTwice');
    }
    token.left -= 1;
    if (Date.now() >= token.endsAtMs) offences.push('tokensPastTheirEnd');
    const isOwn = (phoneNumber ?? number) === number;
    const [own, other] = endsWith(request.path, '/check') ? SCOPES : SCOPES.toReversed();
    const fits = token.scope.includes(own ?? '') || !token.scope.includes(other ?? '');
    return isOwn && fits ? offences : [...offences, 'tokensOnAnotherSubject'];
  }

  #tokenOf({ headers }: OperatorRequest): Token | undefined {
    return this.#tokens.get(String(headers['authorization']).replace('Bearer ', ''));
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

function poll(consent: Consent | undefined): readonly Offence[] {
  if (consent === undefined) return ['foreignPolls'];
  const nowMs = Date.now();
  const isEarly = nowMs < consent.polledAtMs + consent.intervalMs - WAY_MS;
  const offences: readonly (Offence | false)[] = [
    consent.pollsOnTheWire > 0 && 'overlappingPolls',
    isEarly && 'earlyPolls',
    consent.isOver && 'pollsAfterTheEnd',
  ];
  consent.polls += 1;
  consent.polledAtMs = nowMs;
  consent.pollsOnTheWire += 1;
  return offences.filter((one) => one !== false);
}

/** What the operator says about a consent that it does not grant. */
function hear(consent: Consent, error: unknown): void {
  if (error === 'slow_down') consent.intervalMs += SLOW_DOWN_MS;
  if (['access_denied', 'expired_token', 'invalid_grant'].includes(String(error))) {
    consent.isOver = true;
  }
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
