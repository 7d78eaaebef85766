import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Proofs, type NonceRule, type ProofCounts } from '../../simulator/proofs.ts';
import { Counts } from '../long/counts.ts';
import { LoopWatch } from '../long/loopWatch.ts';
import { RecordingServer, type Received } from '../wire/recordingServer.ts';
import {
  askedOf,
  callerOf,
  OperatorBooks,
  type Closure,
  type Consent,
  type Offence,
} from '../support/operatorBooks.ts';
import { randomOf, type Random } from '../support/random.ts';
import type { Chronicle } from './chronicle.ts';
import { GIVEN_UP_MS, REPLICA_HEADER } from './fleet.ts';
import { LostWrites } from './lostWrites.ts';

/** Either may be called about any number. */
export const OPERATORS = ['northern', 'southern'] as const;

export type OperatorName = (typeof OPERATORS)[number];

/** What operators must not see. A poll after the end is allowed: the replica that knew of the end may have been killed. */
const OFFENCES = [
  'promptsWhileOneLived',
  'promptsWithoutNeed',
  'overlappingPolls',
  'earlyPolls',
  'tokensUsedTwice',
  'tokensNeverIssued',
  'tokensOnAnotherSubject',
  'foreignPolls',
] as const satisfies readonly Offence[];

/** A store that has lost writes may have lost when a consent from before was polled last. */
const POLLS_OF_BEFORE: ReadonlySet<Offence> = new Set(['overlappingPolls', 'earlyPolls']);
/** Until the loss is noticed, a process may go on from any earlier step. */
const UNNOTICED: ReadonlySet<Offence> = new Set([
  ...POLLS_OF_BEFORE,
  'promptsWhileOneLived',
  'promptsWithoutNeed',
  'tokensUsedTwice',
]);

/**
 * How often they saw each, consents that were no longer polled while requests waited for them, and buckets of which no
 * process noticed that the store had lost writes.
 */
export type Offences = Record<
  (typeof OFFENCES)[number] | 'orphanedConsents' | 'lossesNotNoticed',
  number
>;

/** What goes wrong with an exchange. */
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
  { grantedAfterMs: 0, lookup: { status: 429, retryAfterSeconds: 1 } },
  { grantedAfterMs: 1200, lookup: { status: 500 } },
];

/** Of the operator that binds its tokens. */
const NONCES: NonceRule = { at: 'both', counts: { periodMs: 500 } };

const EXPIRES_IN_SECONDS = 8;
const INTERVAL_SECONDS = 1;
const TOKEN_SECONDS = 60;
const SLOWEST_REPLY_MS = 60;
/** Longer than a request's patience is then, shorter than an exchange may take. */
const LATE_MS = 800;
/** How much longer one request may be on its way than another, on an idle machine. */
const WAY_MS = 100;
/** Longer than the longest interval between two polls. */
const LAG_WINDOW_MS = 7000;
const MAX_STORIES = 20;
/** Longer than a store is frozen. */
const ORPHANED_AFTER_MS = 3000;
/** How long a failure after consent is returned at the least, whatever time the operator names. */
const FAILURE_SECONDS = 60;
/** What a replica learned within so long before it was killed may not be stored: Redis may be frozen. */
const UNSTORED_MS = 3000;

const DATE_SCOPE = 'retrieve-sim-swap-date';

type Answer = readonly [status: number, body: unknown, fault?: Fault | undefined];

/** What is known of a consent beside the books. */
interface Asked {
  readonly caller: string;
  readonly random: Random;
  lastPollBy: string;
  /** Since when a poll has been due, and a request has waited for it. */
  awaitedSinceMs: number | undefined;
  /** The replica of the last poll was killed, and what it learned may not be stored. */
  mayBeLost: boolean;
}

/** What a replica learned from a lookup, after which no prompt is needed. */
interface Learned extends Closure {
  readonly caller: string;
  readonly replica: string;
  readonly atMs: number;
  /** A token that is bound to the key of the replica ends with it. */
  readonly isBound: boolean;
}

/**
 * Operators that share their books. Each date differs by a millisecond, so that it identifies the consent that it was
 * given for.
 */
export class StrictOperators {
  readonly prompts: Record<OperatorName, number> = { northern: 0, southern: 0 };
  polls = 0;
  lookups = 0;
  /** Requests whose senders had given up. */
  givenUp = 0;
  readonly #books: OperatorBooks;
  readonly #servers = new Map<OperatorName, RecordingServer>();
  readonly #asked = new WeakMap<Consent, Asked>();
  /** The first offences, each with what led to it. */
  readonly #notes: string[] = [];
  /** The same of consents that are no longer polled. */
  readonly #orphans = new Map<Consent, string>();
  readonly #dates = new Map<string, Consent>();
  /** The callers that had an answer, by number and caller. */
  readonly #answered = new Set<string>();
  readonly #limited = new Set<string>();
  /** Consents whose lookups have left. */
  readonly #spent = new Set<Consent>();
  /** They get no more replies. */
  readonly #killed = new Set<string>();
  readonly #lostWrites = new LostWrites();
  readonly #keepMs: number;
  readonly #chronicle: Chronicle;
  readonly #seed: number;
  readonly #binding: OperatorName | undefined;
  readonly #lag = new Lag();
  readonly proofs: ProofCounts = { tokenChallenges: 0, lookupChallenges: 0, refusedProofs: 0 };
  readonly #proofs = new Proofs(NONCES, this.proofs, Date.now);
  readonly #firstDateMs = { swapped: Date.now() - 3_600_000, never: Date.UTC(2001, 0, 1) };

  /** Offences of which the service could not know. */
  readonly excused = new Counts();
  /** The store has lost writes, and the process that knows of them may not have seen that. */
  isLossUnnoticed = false;
  lossesNotNoticed = 0;
  #wentBackAtMs = 0;

  /**
   * @param keepMs how long an answer is returned again to its caller, without a prompt
   * @param binding the operator that binds its tokens to the key of a process, and names nonces
   */
  constructor(keepMs: number, chronicle: Chronicle, seed: number, binding?: OperatorName) {
    this.#keepMs = keepMs;
    this.#binding = binding;
    this.#chronicle = chronicle;
    this.#seed = seed;
    this.#books = new OperatorBooks({
      at: ({ headers }) => String(headers['host']),
      wayMs: () => WAY_MS + this.#lag.worstMs,
      onOffence: (offence, number) => {
        if (offence === 'pollsAfterTheEnd') return;
        if (this.#isExcused(offence, number)) this.excused.add(offence);
        else if (this.#notes.length < MAX_STORIES)
          this.#notes.push(chronicle.story(offence, number));
      },
    });
  }

  get offences(): Offences {
    const counts = this.#books.counts(OFFENCES);
    for (const offence of OFFENCES) counts[offence] -= this.excused.of(offence);
    const { lossesNotNoticed } = this;
    return { ...counts, orphanedConsents: this.#orphans.size, lossesNotNoticed };
  }

  get notes(): readonly string[] {
    return [...this.#notes, ...this.#orphans.values()];
  }

  /** Resolves to their addresses, by their names. */
  async listen(): Promise<ReadonlyMap<OperatorName, string>> {
    for (const name of OPERATORS) {
      const server = await RecordingServer.start((received, response) => {
        this.#serve(name, received, response).catch(() => response.destroy());
      });
      this.#servers.set(name, server);
    }
    return new Map(Array.from(this.#servers, ([name, { url }]) => [name, url]));
  }

  async close(): Promise<void> {
    this.#lag.stop();
    for (const server of this.#servers.values()) await server[Symbol.asyncDispose]();
  }

  /** What a replica learned just before it was killed may be lost. */
  replicaKilled(name: string): void {
    const unstoredFromMs = Date.now() - UNSTORED_MS;
    this.#killed.add(name);
    this.#lostWrites.killed(name);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all are made below
    this.#books.reopen((closure) => isOf(closure as Learned, name, unstoredFromMs));
    for (const consent of this.#books.consents.values()) {
      const asked = this.#asked.get(consent);
      if (asked?.lastPollBy === name && consent.polledAtMs > unstoredFromMs) asked.mayBeLost = true;
    }
  }

  /**
   * The store has lost what was written since then, which is noticed: nobody is prompted before the doubt is over, and what
   * was learned since is not known after it.
   */
  storeWentBack(sinceMs: number, doubtMs: number): void {
    this.#wentBackAtMs = Date.now();
    this.#lostWrites.wentBack(sinceMs, this.#wentBackAtMs);
    const doubtUntilMs = this.#wentBackAtMs + doubtMs;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all are made below
    this.#books.shorten(doubtUntilMs, (closure) => (closure as Learned).atMs > sinceMs);
    for (const consent of this.#books.consents.values()) {
      const asked = this.#asked.get(consent);
      if (asked !== undefined) asked.mayBeLost = true;
    }
  }

  #isExcused(offence: Offence, number: string): boolean {
    if (this.isLossUnnoticed && UNNOTICED.has(offence)) return true;
    const consents = [...this.#books.consents.values()];
    const last = consents.findLast((consent) => consent.number === number);
    if (last === undefined) return false;
    // Nobody has noticed it, or is left who could: docs/reliability.md, "What a cluster can lose".
    if (offence === 'promptsWhileOneLived' || offence === 'promptsWithoutNeed') {
      return this.#lostWrites.isNoticedByNobody(number, last.promptedAtMs, Date.now());
    }
    return POLLS_OF_BEFORE.has(offence) && last.promptedAtMs < this.#wentBackAtMs;
  }

  /** A request of this caller waited for the owner, and got CONSENT_PENDING. */
  waited(number: string, caller: string, fromMs: number): void {
    const consent = this.#books.livingOf(number);
    const asked = consent && this.#asked.get(consent);
    if (consent === undefined || asked?.caller !== caller || asked.mayBeLost) return;
    // Without a poll the service may not have its id; the reply to one may slow it down.
    if (consent.polls === 0 || consent.pollsOnTheWire > 0 || this.#orphans.has(consent)) return;
    asked.awaitedSinceMs ??= Math.max(fromMs, consent.polledAtMs + consent.intervalMs);
    if (Date.now() - asked.awaitedSinceMs < ORPHANED_AFTER_MS) return;
    this.#orphans.set(consent, this.#chronicle.story('orphanedConsents', number));
  }

  /** A request of this caller did not wait for the owner: the service is too busy, or cannot write its audit log. */
  refused(number: string, caller: string): void {
    const consent = this.#books.livingOf(number);
    const asked = consent && this.#asked.get(consent);
    if (asked?.caller === caller) asked.awaitedSinceMs = undefined;
  }

  /** Whether a date was given about this number, for a consent of this caller. */
  isRightDate(date: string, number: string, caller: string): 'right' | 'wrong' | "another's" {
    const consent = this.#dates.get(new Date(date).toISOString());
    if (consent?.number !== number) return 'wrong';
    return this.#asked.get(consent)?.caller === caller ? 'right' : "another's";
  }

  /** Whether it is true, and a lookup of this caller returned it. */
  isRightWindow(swapped: boolean, number: string, caller: string): 'right' | 'wrong' | "another's" {
    if (swapped !== wasSwapped(number)) return 'wrong';
    return this.#answered.has(`${number} ${caller}`) ? 'right' : "another's";
  }

  async #serve(name: OperatorName, received: Received, response: ServerResponse): Promise<void> {
    // A request whose sender gave up before it was read counts as lost on the way.
    if (await this.#isGivenUp(received)) return;
    const refused = name === this.#binding ? await this.#proven(received, response) : undefined;
    const [status, body, fault] = refused ?? (await this.#answer(name, received));
    if (fault === 'lost reply') {
      response.socket?.resetAndDestroy();
      return;
    }
    if (fault === 'late') await sleep(LATE_MS);
    const retryAfter = typeof fault === 'object' ? fault.retryAfterSeconds : undefined;
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-correlator': received.correlator,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    });
    response.end(JSON.stringify(body));
  }

  /** A challenge, or another refusal of the proof: it carries nothing out, and the books do not have it. */
  async #proven(received: Received, response: ServerResponse): Promise<Answer | undefined> {
    const server = askedOf(received.path) === 'lookups' ? 'lookups' : 'tokens';
    const url = `http://${String(received.headers['host'])}${received.path}`;
    const proven = await this.#proofs.check(received, url, server);
    for (const [name, value] of Object.entries(this.#proofs.headers(server))) {
      response.setHeader(name, value);
    }
    if (proven.kind === 'proven') return undefined;
    const { status, headers = {}, body } = proven.reply;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return [status, body];
  }

  /**
   * Whether the sender has given up, since this process may be late. It closes the connection, which is read after the
   * request.
   */
  async #isGivenUp({ connection: { socket } }: Received): Promise<boolean> {
    // Twice, so that all connections have been read once more in between.
    await setImmediate();
    await setImmediate();
    const isGivenUp = socket.readableEnded || socket.destroyed;
    if (isGivenUp) this.givenUp += 1;
    return isGivenUp;
  }

  #answer(name: OperatorName, received: Received): Promise<Answer> {
    this.#books.came(received);
    const replica = String(received.headers[REPLICA_HEADER]);
    switch (askedOf(received.path)) {
      case 'prompts':
        return this.#authorize(name, received, replica);
      case 'tokens':
        return this.#poll(name, received, replica);
      case 'lookups':
        return this.#lookUp(received, replica);
    }
  }

  async #authorize(name: OperatorName, received: Received, replica: string): Promise<Answer> {
    this.prompts[name] += 1;
    const auth_req_id = randomUUID();
    const body = { auth_req_id, expires_in: EXPIRES_IN_SECONDS, interval: INTERVAL_SECONDS };
    this.#books.answered(received, 200, JSON.stringify(body));
    const caller = callerOf(received);
    const consent = this.#books.consents.get(auth_req_id);
    if (consent === undefined) throw new Error('The books have every consent.');
    const { number, scope } = consent;
    this.#lostWrites.exchanged(replica, number, consent.promptedAtMs);
    this.#chronicle.happened(`${replica} prompts for ${caller} at ${name}: ${scope}`, number);
    const random = randomOf(this.#seed, number);
    const beside = { lastPollBy: '', awaitedSinceMs: undefined, mayBeLost: false };
    this.#asked.set(consent, { caller, random, ...beside });
    await takeTime(random);
    return [200, body, mannerOf(number).prompt];
  }

  async #poll(name: OperatorName, received: Received, replica: string): Promise<Answer> {
    this.polls += 1;
    const consent = this.#books.consentOf(received);
    const asked = consent && this.#asked.get(consent);
    if (consent === undefined || asked === undefined) return [400, { error: 'invalid_grant' }];
    this.#lostWrites.exchanged(replica, consent.number, Date.now());
    Object.assign(asked, { lastPollBy: replica, awaitedSinceMs: undefined, mayBeLost: false });
    this.#orphans.delete(consent);
    await takeTime(asked.random);
    // A poller that gets no reply need not comply with it.
    const [status, body] = (await this.#isGivenUp(received))
      ? ([400, { error: 'authorization_pending' }] as const)
      : decided(consent, name === this.#binding ? 'DPoP' : 'Bearer');
    const text = JSON.stringify(body);
    this.#books.answered(received, status, text);
    const said = status === 200 ? 'token' : text;
    // Its token can be spent as long as its lookup has not left, by any replica unless it is bound: nobody needs to be prompted.
    if (status === 200) {
      const by = { caller: asked.caller, replica, isBound: name === this.#binding };
      const forMs = TOKEN_SECONDS * 1000 - 2 * GIVEN_UP_MS;
      this.#close(consent.number, by, forMs, () => !this.#spent.has(consent));
    }
    const { number } = consent;
    this.#chronicle.happened(`${replica} polls for ${asked.caller} at ${name}: ${said}`, number);
    return [status, body];
  }

  async #lookUp(received: Received, replica: string): Promise<Answer> {
    this.lookups += 1;
    const consent = this.#books.consentOf(received);
    const asked = consent && this.#asked.get(consent);
    if (consent !== undefined) this.#spent.add(consent);
    if (consent === undefined || asked === undefined) {
      return [401, { status: 401, code: 'UNAUTHENTICATED' }];
    }
    this.#lostWrites.exchanged(replica, consent.number, Date.now());
    await takeTime(asked.random);
    const { number, scope } = consent;
    const { caller } = asked;
    const fault = this.#faultOf(number);
    const fate = typeof fault === 'object' ? String(fault.status) : (fault ?? 'answered');
    this.#chronicle.happened(`${replica} looks up for ${caller}: ${scope}, ${fate}`, number);
    if (fault === 'lost reply' || typeof fault === 'object') {
      this.#learned(number, { caller, replica }, FAILURE_SECONDS * 1000, () => true);
      const status = typeof fault === 'object' ? fault.status : 200;
      return [status, { status, code: 'UNAVAILABLE' }, fault];
    }
    // The date of a line that was never swapped answers windows too.
    const answersAll = scope === DATE_SCOPE && !wasSwapped(number);
    this.#learned(number, { caller, replica }, this.#keepMs, (of) => answersAll || of === scope);
    this.#answered.add(`${number} ${caller}`);
    if (scope !== DATE_SCOPE) return [200, { swapped: wasSwapped(number) }, fault];
    const { swapped, never } = this.#firstDateMs;
    const firstMs = wasSwapped(number) ? swapped : never;
    const date = new Date(firstMs + this.#dates.size).toISOString();
    this.#dates.set(date, consent);
    return [200, { latestSimChange: date }, fault];
  }

  /** A rate limit ends: the number's next lookup is not limited. */
  #faultOf(number: string): Fault | undefined {
    const { lookup } = mannerOf(number);
    if (typeof lookup !== 'object' || lookup.retryAfterSeconds === undefined) return lookup;
    if (this.#limited.has(number)) return undefined;
    this.#limited.add(number);
    return lookup;
  }

  /** An answer or a failure reached a replica, which returns it in place of a prompt. */
  #learned(
    number: string,
    by: { readonly caller: string; readonly replica: string },
    forMs: number,
    answers: (scope: string) => boolean,
  ): void {
    const closes: Closure['closes'] = ({ caller, scope }) => caller === by.caller && answers(scope);
    this.#close(number, { ...by, isBound: false }, forMs, closes);
  }

  #close(
    number: string,
    by: Pick<Learned, 'caller' | 'replica' | 'isBound'>,
    forMs: number,
    closes: Closure['closes'],
  ): void {
    if (this.#killed.has(by.replica)) return;
    const atMs = Date.now();
    this.#books.close(number, {
      ...by,
      atMs,
      untilMs: atMs + forMs - GIVEN_UP_MS,
      closes,
    } as Learned);
  }
}

function isOf(
  { replica, atMs, isBound }: Learned,
  killed: string,
  unstoredFromMs: number,
): boolean {
  return replica === killed && (isBound || atMs > unstoredFromMs);
}

function mannerOf(number: string): Manner {
  return MANNERS[Number(number.slice(-3)) % MANNERS.length] ?? {};
}

function decided(
  { number, promptedAtMs, intervalMs, isOver, endsAtMs }: Consent,
  type: 'Bearer' | 'DPoP',
): Answer {
  const { slowsDown, deniedAfterMs, grantedAfterMs } = mannerOf(number);
  const isDue = (ms = Infinity): boolean => Date.now() - promptedAtMs >= ms;
  if (isOver) return [400, { error: 'invalid_grant' }];
  if (Date.now() >= endsAtMs) return [400, { error: 'expired_token' }];
  if (slowsDown === true && intervalMs === INTERVAL_SECONDS * 1000) {
    return [400, { error: 'slow_down' }];
  }
  if (isDue(deniedAfterMs)) return [400, { error: 'access_denied' }];
  if (!isDue(grantedAfterMs)) return [400, { error: 'authorization_pending' }];
  return [200, { access_token: randomUUID(), token_type: type, expires_in: TOKEN_SECONDS }];
}

/** Whether it was swapped within a day. */
function wasSwapped(number: string): boolean {
  return Number(number.slice(-3)) % 2 === 1;
}

/** How late this process was lately: its times of requests are off by so much. */
class Lag {
  readonly #watch = new LoopWatch();
  readonly #timer: NodeJS.Timeout;
  #earlierMs = 0;

  constructor() {
    this.#timer = setInterval(() => {
      this.#earlierMs = this.#watch.figures.longestTurnMs;
      this.#watch.reset();
    }, LAG_WINDOW_MS);
  }

  get worstMs(): number {
    return Math.max(this.#earlierMs, this.#watch.figures.longestTurnMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#watch.stop();
  }
}

function takeTime(random: Random): Promise<void> {
  return sleep(random.next() * SLOWEST_REPLY_MS);
}
