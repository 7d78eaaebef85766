import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Chronicle } from './chronicle.ts';
import { REPLICA_HEADER } from './fleet.ts';
import type { Against, LostWrites } from './lostWrites.ts';
import { PromptNeeds, UNSTORED_MS, type Answerable } from './promptNeeds.ts';
import { listen } from '../listening.ts';
import { randomOf, type Random } from '../random.ts';

/** Any of them may be asked about a number. */
export const OPERATORS = ['northern', 'southern'] as const;

type OperatorName = (typeof OPERATORS)[number];

/** What the operators must not see. */
const OFFENCES = [
  'promptsWhileOneLived',
  'promptsWithoutNeed',
  'overlappingPolls',
  'earlyPolls',
  'tokensUsedTwice',
  'tokensForAnotherOperation',
  'tokensOfAnotherOperator',
  /** Polls for what another operator has acknowledged. */
  'foreignPolls',
  /** Consents that were not polled any more while requests waited for them. */
  'orphanedConsents',
] as const;

/** How often they saw it. */
export type Offences = Record<(typeof OFFENCES)[number], number>;

/** The offences, and the first of them each with what tells how it came about. */
interface Judged {
  readonly offences: Offences;
  /** What a shared store is proven to have caused that had forgotten, or never had passed on, what was written to it. */
  readonly unavoidable: Offences;
  readonly notes: readonly string[];
}

interface Offended extends Against {
  readonly offence: keyof Offences;
  readonly what: string;
  readonly story: readonly string[];
}

interface Consent {
  readonly operator: OperatorName;
  readonly number: string;
  /** Who asked, by the correlator of the request to prompt. */
  readonly caller: string;
  readonly operation: Answerable;
  readonly askedAtMs: number;
  readonly manner: Manner;
  /** For how long each of its replies takes. */
  readonly random: Random;
  intervalMs: number;
  lastPollAtMs: number;
  lastPollBy: string;
  /** How much later than it arrived it may have been read: the poller counts from its sending. */
  lastPollLagMs: number;
  pollsOnTheWire: number;
  /** Since when a poll has been due, and a request has waited for it. */
  awaitedSinceMs: number | undefined;
  /** The last poll's replica was killed, and what it heard may not have been stored. */
  mayBeLost: boolean;
  isOver: boolean;
}

/** What becomes of an exchange beside its answer. */
type Fault =
  'lost reply' | 'late' | { readonly status: number; readonly retryAfterSeconds?: number };

interface Manner {
  readonly grantedAfterMs?: number;
  readonly deniedAfterMs?: number;
  readonly slowsDown?: boolean;
  readonly prompt?: 'lost reply';
  readonly lookup?: Fault;
}

/** By the number's last digits; half of the numbers were swapped lately, the other half never. */
const MANNERS: readonly Manner[] = [
  { grantedAfterMs: 0 },
  { grantedAfterMs: 1200 },
  { grantedAfterMs: 2500 },
  { grantedAfterMs: 4000 },
  { deniedAfterMs: 1500 },
  { grantedAfterMs: 0, slowsDown: true },
  {},
  { grantedAfterMs: 0, prompt: 'lost reply' },
  { grantedAfterMs: 600, lookup: 'late' },
  { grantedAfterMs: 0, lookup: 'lost reply' },
  { grantedAfterMs: 0 },
  { grantedAfterMs: 300, lookup: { status: 503 } },
  { grantedAfterMs: 2500 },
  { grantedAfterMs: 0, lookup: { status: 429, retryAfterSeconds: 4 } },
  { grantedAfterMs: 1200, lookup: { status: 500 } },
];

export const EXPIRES_IN_SECONDS = 8;
const INTERVAL_SECONDS = 1;
const SLOWEST_REPLY_MS = 60;
/** Longer than a request's patience is then, shorter than an exchange may take. */
const LATE_MS = 800;
/** What two requests may differ by on their way here, on a machine that is not held up. */
const WAY_MS = 100;
const LAG_WINDOW_MS = 2000;
const MAX_STORIES = 20;
/** Longer than a store is frozen. */
const ORPHANED_AFTER_MS = 3000;

const OPERATIONS: Readonly<Record<string, Answerable>> = {
  'retrieve-sim-swap-date': 'date',
  'check-sim-swap': 'window',
};

type Answer = readonly [status: number, body: unknown, fault?: Fault | undefined];

/**
 * Operators that remember everything together, and whose every date tells for whose consent it was given:
 * each is another millisecond.
 */
export class StrictOperators {
  readonly prompts: Record<OperatorName, number> = { northern: 0, southern: 0 };
  polls = 0;
  lookups = 0;
  /** Requests that came too late to be answered. */
  givenUp = 0;
  readonly #offended: Offended[] = [];
  readonly #servers: ReadonlyMap<OperatorName, Server>;
  readonly #consents = new Map<string, Consent>();
  readonly #orphans = new Map<Consent, Offended>();
  readonly #tokens = new Map<string, Consent>();
  readonly #dates = new Map<string, Consent>();
  /** Who had an answer about whom, by number and caller. */
  readonly #answered = new Set<string>();
  readonly #limited = new Set<string>();
  readonly #needs: PromptNeeds;
  readonly #lostWrites: LostWrites;
  readonly #chronicle: Chronicle;
  readonly #seed: number;
  readonly #lag = new Lag();
  readonly #firstDateMs = { swapped: Date.now() - 3_600_000, never: Date.UTC(2001, 0, 1) };

  /** @param keepMs how long an answer is given again to who had it, so that no prompt is needed */
  constructor(keepMs: number, lostWrites: LostWrites, chronicle: Chronicle, seed: number) {
    this.#seed = seed;
    this.#chronicle = chronicle;
    this.#needs = new PromptNeeds(keepMs);
    this.#lostWrites = lostWrites;
    this.#servers = new Map(
      OPERATORS.map((name) => [
        name,
        createServer((request, response) => {
          this.#serve(name, request, response).catch(() => response.destroy());
        }),
      ]),
    );
  }

  /** Resolves to their addresses, by their names. */
  async listen(): Promise<ReadonlyMap<OperatorName, string>> {
    const listening = Array.from(
      this.#servers,
      async ([name, server]) => [name, await listen(server)] as const,
    );
    return new Map(await Promise.all(listening));
  }

  close(): void {
    this.#lag.stop();
    for (const server of this.#servers.values()) {
      server.close();
      server.closeAllConnections();
    }
  }

  #offend(offence: keyof Offences, number: string, sinceMs: number, what: string): void {
    this.#offended.push(this.#offendedBy(offence, number, sinceMs, what));
  }

  /** @param sinceMs when that was written, at the latest, which speaks against it */
  #offendedBy(offence: keyof Offences, number: string, sinceMs: number, what: string): Offended {
    const told = this.#offended.length + this.#orphans.size;
    const story = told < MAX_STORIES ? this.#chronicle.about(number) : [];
    const takesRecord = offence === 'promptsWithoutNeed' || offence === 'orphanedConsents';
    return { offence, number, sinceMs, atMs: Date.now(), takesRecord, what, story };
  }

  /** What was seen that must not be seen; call it when all that the store has lost is known. */
  judge(): Judged {
    const offences = noOffences();
    const unavoidable = noOffences();
    const notes = [...this.#offended, ...this.#orphans.values()].flatMap((against) => {
      const { offence, what, story } = against;
      const because = this.#lostWrites.reasonFor(against);
      const counts = because === undefined ? offences : unavoidable;
      counts[offence] += 1;
      const why = because === undefined ? '' : `, unavoidable: ${because}`;
      return [`${offence}: ${what}${why}`, ...story];
    });
    return { offences, unavoidable, notes };
  }

  /** What a replica heard just before it was killed may be lost with it. */
  replicaKilled(name: string): void {
    const nowMs = Date.now();
    const isUnstored = (number: string, atMs: number): boolean =>
      atMs > nowMs - UNSTORED_MS || this.#lostWrites.isUnstored(number, atMs);
    this.#needs.replicaKilled(name, isUnstored);
    for (const consent of this.#consents.values()) {
      const { number, lastPollBy, lastPollAtMs } = consent;
      if (lastPollBy === name && isUnstored(number, lastPollAtMs)) consent.mayBeLost = true;
    }
  }

  /** A request of this caller waited for the number's owner, and heard that there is no answer yet. */
  waited(number: string, caller: string, fromMs: number): void {
    const nowMs = Date.now();
    for (const consent of this.#livingOf(number)) {
      const { lastPollAtMs, intervalMs, lastPollBy, operator } = consent;
      // Without a poll it may never have been acknowledged.
      if (consent.caller !== caller || lastPollAtMs === 0 || consent.mayBeLost) continue;
      if (this.#lostWrites.isUnstored(number, nowMs)) continue;
      consent.awaitedSinceMs ??= Math.max(fromMs, lastPollAtMs + intervalMs);
      const forMs = nowMs - consent.awaitedSinceMs;
      if (forMs < ORPHANED_AFTER_MS || this.#orphans.has(consent)) continue;
      const what = `${number} at ${operator}, ${forMs} ms since a poll was due after ${lastPollBy}'s`;
      this.#orphans.set(consent, this.#offendedBy('orphanedConsents', number, lastPollAtMs, what));
    }
  }

  #livingOf(number: string): readonly Consent[] {
    return [...this.#consents.values()].filter(
      (consent) => consent.number === number && isLive(consent),
    );
  }

  /** Whether a date was given about this number, for a consent that this caller asked for. */
  isRightDate(date: string, number: string, caller: string): 'right' | 'wrong' | "another's" {
    const consent = this.#dates.get(new Date(date).toISOString());
    if (consent?.number !== number) return 'wrong';
    return consent.caller === caller ? 'right' : "another's";
  }

  /** Whether it is so, and whether a lookup for this caller told. */
  isRightWindow(swapped: boolean, number: string, caller: string): 'right' | 'wrong' | "another's" {
    if (swapped !== wasSwapped(number)) return 'wrong';
    return this.#answered.has(`${number} ${caller}`) ? 'right' : "another's";
  }

  async #serve(
    operator: OperatorName,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const form = new URLSearchParams(await text(request));
    // What its sender gave up before it was read is lost on the way.
    if (await this.#isGivenUp(request)) return;
    const correlator = String(request.headers['x-correlator']);
    const [status, reply, fault] = await this.#answer(operator, request, form, correlator);
    if (fault === 'lost reply') {
      response.socket?.resetAndDestroy();
      return;
    }
    if (fault === 'late') await sleep(LATE_MS);
    const retryAfter = typeof fault === 'object' ? fault.retryAfterSeconds : undefined;
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-correlator': correlator,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    });
    response.end(JSON.stringify(reply));
  }

  /**
   * Whether the sender waits no more: this process may be held up for longer than that. A sender that gives up closes
   * the connection, which is read after the request.
   */
  async #isGivenUp({ socket }: IncomingMessage): Promise<boolean> {
    // Twice, so that all connections have been read once more in between.
    await setImmediate();
    await setImmediate();
    const isGivenUp = socket.readableEnded || socket.destroyed;
    if (isGivenUp) this.givenUp += 1;
    return isGivenUp;
  }

  async #answer(
    operator: OperatorName,
    request: IncomingMessage,
    form: URLSearchParams,
    correlator: string,
  ): Promise<Answer> {
    const { url, headers } = request;
    const token = headers.authorization?.slice('Bearer '.length) ?? '';
    const replica = String(headers[REPLICA_HEADER]);
    switch (url) {
      case '/openIDConnectCIBA/v1/bc-authorize':
        return this.#authorize(operator, form, correlator, replica);
      case '/openIDConnectCIBA/v1/token':
        return this.#poll(operator, form.get('auth_req_id') ?? '', replica, request);
      case '/retrieve-date':
        return this.#lookUp(operator, 'date', token, replica);
      case '/check':
        return this.#lookUp(operator, 'window', token, replica);
      default:
        return [404, {}];
    }
  }

  async #authorize(
    operator: OperatorName,
    form: URLSearchParams,
    correlator: string,
    replica: string,
  ): Promise<Answer> {
    this.prompts[operator] += 1;
    const number = form.get('login_hint')?.slice('tel:'.length) ?? '';
    const operation = OPERATIONS[form.get('scope') ?? ''];
    if (operation === undefined) return [400, { error: 'invalid_scope' }];
    const caller = correlator.split('-')[0] ?? '';
    const earlier = this.#livingOf(number).at(-1);
    if (earlier !== undefined) {
      const { askedAtMs } = earlier;
      this.#offend(
        'promptsWhileOneLived',
        number,
        askedAtMs,
        `${number} at ${operator}, ${Date.now() - askedAtMs} ms after ${earlier.operator}`,
      );
    }
    const reason = this.#needs.reasonAgainst({ number, caller, operation }, Date.now());
    if (reason !== undefined) {
      const { what, sinceMs } = reason;
      this.#offend(
        'promptsWithoutNeed',
        number,
        sinceMs,
        `${number}, ${operation}, ${caller}: ${what}`,
      );
    }
    this.#chronicle.happenedTo(
      number,
      `${replica} prompts for ${caller} at ${operator}: ${operation}`,
    );
    const consent: Consent = {
      operator,
      number,
      caller,
      operation,
      askedAtMs: Date.now(),
      manner: MANNERS[Number(number.slice(-3)) % MANNERS.length] ?? {},
      random: randomOf(this.#seed, number),
      intervalMs: INTERVAL_SECONDS * 1000,
      lastPollAtMs: 0,
      lastPollBy: '',
      lastPollLagMs: 0,
      pollsOnTheWire: 0,
      awaitedSinceMs: undefined,
      mayBeLost: false,
      isOver: false,
    };
    const authReqId = randomUUID();
    this.#consents.set(authReqId, consent);
    await takeTime(consent.random);
    const acknowledged = {
      auth_req_id: authReqId,
      expires_in: EXPIRES_IN_SECONDS,
      interval: INTERVAL_SECONDS,
    };
    return [200, acknowledged, consent.manner.prompt];
  }

  async #poll(
    operator: OperatorName,
    authReqId: string,
    replica: string,
    request: IncomingMessage,
  ): Promise<Answer> {
    this.polls += 1;
    const consent = this.#consents.get(authReqId);
    if (consent === undefined) return [400, { error: 'invalid_grant' }];
    if (consent.operator !== operator) {
      const what = `${consent.number} by ${replica} at ${operator}`;
      this.#offend('foreignPolls', consent.number, consent.askedAtMs, what);
      return [400, { error: 'invalid_grant' }];
    }
    const nowMs = Date.now();
    const sinceMs = nowMs - consent.lastPollAtMs;
    const by = `${consent.number} by ${replica} ${sinceMs} ms after ${consent.lastPollBy}`;
    const { number, lastPollAtMs } = consent;
    if (consent.pollsOnTheWire > 0) this.#offend('overlappingPolls', number, lastPollAtMs, by);
    const toleranceMs = WAY_MS + Math.max(this.#lag.worstMs, consent.lastPollLagMs);
    if (sinceMs < consent.intervalMs - toleranceMs) {
      this.#offend('earlyPolls', number, lastPollAtMs, by);
    }
    consent.lastPollAtMs = nowMs;
    consent.lastPollBy = replica;
    consent.pollsOnTheWire += 1;
    consent.awaitedSinceMs = undefined;
    consent.mayBeLost = false;
    this.#orphans.delete(consent);
    await takeTime(consent.random);
    // A poller that heard nothing of it need not keep to it.
    const reply: Answer = (await this.#isGivenUp(request))
      ? [400, { error: 'authorization_pending' }]
      : this.#decide(consent);
    consent.pollsOnTheWire -= 1;
    consent.lastPollLagMs = this.#lag.worstMs;
    const said = replyName(reply);
    this.#chronicle.happenedTo(
      number,
      `${replica} polls for ${consent.caller} at ${operator}: ${said}`,
    );
    return reply;
  }

  #decide(consent: Consent): Answer {
    const { manner, askedAtMs } = consent;
    const isDue = (ms: number | undefined) => ms !== undefined && Date.now() - askedAtMs >= ms;
    if (consent.isOver) return [400, { error: 'invalid_grant' }];
    if (!isLive(consent)) return end(consent, 'expired_token');
    if (manner.slowsDown === true && consent.intervalMs === INTERVAL_SECONDS * 1000) {
      consent.intervalMs += 5000;
      return [400, { error: 'slow_down' }];
    }
    if (isDue(manner.deniedAfterMs)) return end(consent, 'access_denied');
    if (!isDue(manner.grantedAfterMs)) return [400, { error: 'authorization_pending' }];
    consent.isOver = true;
    const token = randomUUID();
    this.#tokens.set(token, consent);
    return [200, { access_token: token, token_type: 'Bearer', expires_in: 60 }];
  }

  /** A limit is over when its time is: the number's next lookup meets none. */
  #faultOf(number: string, { lookup }: Manner): Fault | undefined {
    if (typeof lookup !== 'object' || lookup.retryAfterSeconds === undefined) return lookup;
    if (this.#limited.has(number)) return undefined;
    this.#limited.add(number);
    return lookup;
  }

  async #lookUp(
    operator: OperatorName,
    operation: Answerable,
    token: string,
    replica: string,
  ): Promise<Answer> {
    this.lookups += 1;
    const consent = this.#tokens.get(token);
    if (consent === undefined) {
      this.#offend('tokensUsedTwice', '', 0, replica);
      return [401, { status: 401, code: 'UNAUTHENTICATED' }];
    }
    this.#tokens.delete(token);
    if (consent.operation !== operation) {
      this.#offend('tokensForAnotherOperation', consent.number, 0, replica);
    }
    if (consent.operator !== operator) {
      this.#offend('tokensOfAnotherOperator', consent.number, 0, replica);
    }
    await takeTime(consent.random);
    const { number, caller, manner } = consent;
    const fault = this.#faultOf(number, manner);
    const fate = typeof fault === 'object' ? String(fault.status) : (fault ?? 'answered');
    this.#chronicle.happenedTo(number, `${replica} looks up for ${caller}: ${operation}, ${fate}`);
    const lookedUp = { number, caller, replica, atMs: Date.now() };
    if (fault === 'lost reply' || typeof fault === 'object') {
      const retryAfterSeconds = typeof fault === 'object' ? fault.retryAfterSeconds : undefined;
      this.#needs.failed(lookedUp, retryAfterSeconds);
      const status = typeof fault === 'object' ? fault.status : 200;
      return [status, { status, code: 'UNAVAILABLE' }, fault];
    }
    // Of a line that never was swapped, the date answers windows as well.
    const answers: readonly Answerable[] =
      operation === 'date' && !wasSwapped(number) ? ['date', 'window'] : [operation];
    this.#needs.answered(lookedUp, answers);
    this.#answered.add(`${number} ${caller}`);
    if (operation === 'window') return [200, { swapped: wasSwapped(number) }, fault];
    const { swapped, never } = this.#firstDateMs;
    const firstMs = wasSwapped(number) ? swapped : never;
    const date = new Date(firstMs + this.#dates.size).toISOString();
    this.#dates.set(date, consent);
    return [200, { latestSimChange: date }, fault];
  }
}

function noOffences(): Offences {
  return Object.fromEntries(OFFENCES.map((name) => [name, 0])) as Offences;
}

/** The truth about a number, of the last day. */
function wasSwapped(number: string): boolean {
  return Number(number.slice(-3)) % 2 === 1;
}

/** How long this process was held up lately: by so much its own idea of when a request came is off. */
class Lag {
  readonly #histogram = monitorEventLoopDelay({ resolution: 5 });
  readonly #timer: NodeJS.Timeout;
  #earlierMs = 0;

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => {
      this.#earlierMs = this.#nowMs;
      this.#histogram.reset();
    }, LAG_WINDOW_MS);
  }

  get worstMs(): number {
    return Math.max(this.#earlierMs, this.#nowMs);
  }

  get #nowMs(): number {
    return this.#histogram.count === 0 ? 0 : this.#histogram.max / 1e6;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }
}

function replyName([status, body]: Answer): string {
  return status === 200 ? 'token' : JSON.stringify(body);
}

function isLive(consent: Consent): boolean {
  return !consent.isOver && Date.now() < consent.askedAtMs + EXPIRES_IN_SECONDS * 1000;
}

function end(consent: Consent, error: string): Answer {
  consent.isOver = true;
  return [400, { error }];
}

function takeTime(random: Random): Promise<void> {
  return sleep(random.next() * SLOWEST_REPLY_MS);
}
