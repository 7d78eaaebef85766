import { askedOf, formOf, OperatorBooks, type OperatorTerms } from '../support/operatorBooks.ts';
import type { Random } from '../support/random.ts';
import type { Truth } from './truth.ts';
import { WireServer, type WireReply, type WireRequest } from '../wire/wire.ts';
import type { Certificate } from '../tls/certificate.ts';
import type { Http2Session } from 'node:http2';
import { Http2Server, type ReceivedByStream } from '../wire/http2Server.ts';
import { Http1Line, Http2Line, Http2Progress, type Later, type ReplyLine } from './replyLine.ts';

const FAULTS = {
  none: 110,
  /** The connection breaks before the operator does anything. */
  'reset before': 3,
  /** Over HTTP/2: by a refusal of the stream, or by GOAWAY. Nothing has been done. */
  'refuses unprocessed': 3,
  /** The operator acts on the request, and the connection breaks. */
  'reset after': 3,
  'never answers': 1,
  /** Answers when the client has gone. */
  'answers late': 1,
  'drips in time': 2,
  'drips without an end': 1,
  'cuts the body': 2,
  /** The reply, and behind it the reply to another question, at once or a moment later. */
  'surplus reply': 4,
  /** The reply to another question in place of the reply. */
  "another's reply": 3,
  'server error': 3,
  refuses: 2,
  'is rate limited': 1,
  redirects: 1,
  'answers nonsense': 6,
  'speaks no HTTP': 1,
  'sends too much': 1,
} as const;

export type Fault = keyof typeof FAULTS;

const NEVER = Object.fromEntries(Object.keys(FAULTS).map((name) => [name, 0])) as Record<Fault, 0>;

/** Which numbers an operator serves, and how its tokens may be used. */
export interface ChaosContract extends Required<
  Pick<OperatorTerms, 'tokenUse' | 'serves' | 'tokenSeconds'>
> {
  readonly tellsExpiry: boolean;
}

const ALONE: ChaosContract = {
  serves: () => true,
  tokenUse: 'once',
  tokenSeconds: 60,
  tellsExpiry: true,
};

export interface ChaosSettings {
  readonly echoes: boolean;
  /** Longer than the client waits for a reply. */
  readonly lateMs: number;
  /**
   * Whether it refuses lookups with codes that apply to the whole operation. In the 3-legged flow no owner would be
   * prompted for a minute after one.
   */
  readonly refusesOperations: boolean;
  /** Speaks HTTP/2 with this certificate; in plain HTTP/1.1 where absent. */
  readonly http2?: Certificate;
  /**
   * What a lookup does with the token of another number: refuses it, or answers about the token's number.
   * The first has its token endpoint hand out tokens of others where nothing is echoed.
   */
  readonly onMismatch?: 'refuses' | 'answers by the token';
  /** How many of its exchanges fail in one way or another, of 1; as its weights say where absent. */
  readonly faultShare?: number;
  /** What goes wrong with three exchanges in ten, and nothing else; everything where absent. */
  readonly onlyFault?: Fault;
  /** All numbers are its own, and a token works once, where absent. */
  readonly contract?: ChaosContract;
}

const EXPIRES_IN_SECONDS = 20;
/** Fewer than are under way. */
const MAX_STREAMS = 16;

const TOKEN_PATH = '/oauth/v1/token';
const INVALID_GRANT = [400, { error: 'invalid_grant' }] as const;
const UNAUTHENTICATED = ['tokensNeverIssued', 'tokensUsedTwice', 'tokensPastTheirEnd'] as const;

/** An operator on the wire that answers truthfully and fails in every way that a network can. */
export class ChaosOperator {
  exchanges = 0;
  readonly faults = new Map<string, number>();
  readonly books: OperatorBooks;
  readonly #truth: Truth;
  readonly #random: Random;
  readonly #settings: ChaosSettings;
  readonly #weights: Readonly<Record<Fault, number>>;
  #server: AsyncDisposable | undefined;
  readonly #progress = new WeakMap<Http2Session, Http2Progress>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #contract: ChaosContract;
  /** The last good reply of each path, to send to another request. */
  readonly #lastReplies = new Map<string, WireReply>();
  #issued = 0;

  constructor(truth: Truth, random: Random, settings: ChaosSettings) {
    this.#truth = truth;
    this.#random = random;
    this.#settings = settings;
    this.#contract = settings.contract ?? ALONE;
    this.books = new OperatorBooks(this.#contract);
    this.#weights = weightsOf(settings);
  }

  async listen(): Promise<string> {
    const { http2 } = this.#settings;
    if (http2 !== undefined) {
      const settings = { maxConcurrentStreams: MAX_STREAMS };
      const server = await Http2Server.start(http2, (one) => this.#take(one), { settings });
      this.#server = server;
      return new URL(server.url).origin;
    }
    const server = new WireServer((socket, request) =>
      this.#exchange(new Http1Line(socket, this.#later), request),
    );
    this.#server = server;
    return server.listen();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#server?.[Symbol.asyncDispose]();
  }

  #take({ stream, session, headers, body }: ReceivedByStream): void {
    const progress = this.#progress.get(session) ?? new Http2Progress();
    this.#progress.set(session, progress);
    if (!progress.takes(stream.id ?? 0)) return;
    const breaksConnection = (): boolean => this.#random.chance(0.05);
    const line = new Http2Line(stream, session, progress, this.#later, breaksConnection);
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, String(value)]),
    );
    this.#exchange(line, { path: String(headers[':path']), headers: named, body });
  }

  #exchange(line: ReplyLine, request: WireRequest): void {
    this.exchanges += 1;
    const fault = this.#random.weighted<Fault>(this.#weights, 'none');
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    switch (fault) {
      case 'reset before':
        line.reset();
        return;
      case 'refuses unprocessed':
        if (!line.refuse()) this.#answer(line, request, 'none');
        return;
      case 'never answers':
        return;
      case 'server error':
        line.send(this.#refusal(request, this.#random.pick([500, 502, 503, 504])));
        return;
      case 'refuses':
        line.send(this.#refusal(request, this.#refusedBy(request, [401, 403, 404, 422])));
        return;
      case 'is rate limited':
        line.send(this.#refusal(request, 429));
        return;
      case 'redirects':
        line.send(this.#refusal(request, this.#refusedBy(request, [301, 302, 307, 308])));
        return;
      case 'speaks no HTTP':
        line.garble(
          this.#random.pick(['\0\u0001\u0002', 'HTTP/9.9 ???\r\n\r\n', '{"swapped":false}']),
        );
        return;
      default:
        this.#answer(line, request, fault);
    }
  }

  /** A status that refuses: 400, which applies to one question, or one of the others. */
  #refusedBy(request: WireRequest, others: readonly number[]): number {
    const isLookup = askedOf(request.path) === 'lookups';
    const status = this.#random.pick([400, ...others]);
    return !isLookup || this.#settings.refusesOperations ? status : 400;
  }

  #answer(line: ReplyLine, request: WireRequest, fault: Fault): void {
    line.actOn();
    const reply = this.#process(request);
    const other = this.#lastReplies.get(request.path);
    if (reply.status === 200) this.#lastReplies.set(request.path, reply);
    switch (fault) {
      case 'reset after':
        line.reset();
        return;
      case 'answers late':
        this.#later(this.#settings.lateMs, () => line.send(reply));
        return;
      case 'drips in time':
        line.drip(reply, 16, 2);
        return;
      case 'drips without an end':
        line.drip({ ...reply, body: reply.body + ' '.repeat(4000) }, 8, 20);
        return;
      case 'cuts the body':
        line.cut(reply, 1 + this.#random.below(20));
        return;
      case 'surplus reply':
        line.send(reply);
        // Early, or when the connection may carry the next request.
        if (other !== undefined) {
          const withinMs = this.#random.pick([6, 200]);
          this.#later(this.#random.below(withinMs), () => line.send(other));
        }
        return;
      case "another's reply":
        line.send(this.#anothers(request, other) ?? reply);
        return;
      case 'answers nonsense':
        line.send(this.#nonsense(reply));
        return;
      case 'sends too much':
        line.send({ ...reply, body: reply.body + ' '.repeat(70_000) });
        return;
      default:
        line.send(reply);
    }
  }

  /** Without an echo only another token can be detected. */
  #anothers(request: WireRequest, other: WireReply | undefined): WireReply | undefined {
    if (this.#settings.echoes) return other;
    const isToken = request.path === TOKEN_PATH;
    if (!isToken || this.#settings.onMismatch !== 'refuses') return undefined;
    if (this.#random.chance(0.5)) return other;
    const form = formOf(request);
    form.set('username', `tel:${this.#truth.pick(this.#random, Date.now())}`);
    return this.#process({ ...request, body: form.toString() });
  }

  #process(request: WireRequest): WireReply {
    const [status, body] = this.#decide(request);
    const reply = this.#reply(request, status, body);
    this.books.answered(request, reply.status, reply.body);
    return reply;
  }

  #decide(request: WireRequest): readonly [status: number, body: object] {
    const offences = this.books.came(request);
    this.#issued += 1;
    switch (askedOf(request.path)) {
      case 'prompts': {
        const auth_req_id = `request-${this.#issued}`;
        return [200, { auth_req_id, expires_in: EXPIRES_IN_SECONDS, interval: 1 }];
      }
      case 'tokens':
        if (request.path !== TOKEN_PATH) {
          if (this.books.consentOf(request)?.isOver !== false) return INVALID_GRANT;
          if (this.#random.chance(0.2)) return [400, { error: 'authorization_pending' }];
          if (this.#random.chance(0.05)) return [400, { error: 'access_denied' }];
        }
        return [200, this.#token()];
      case 'lookups':
        if (UNAUTHENTICATED.some((one) => offences.includes(one))) {
          return [401, { code: 'UNAUTHENTICATED' }];
        }
        return offences.includes('tokensOnAnotherSubject') &&
          this.#settings.onMismatch !== 'answers by the token'
          ? [403, { code: 'INVALID_TOKEN_CONTEXT' }]
          : [200, this.#lookUp(request)];
    }
  }

  #token(): object {
    const { tokenSeconds, tellsExpiry } = this.#contract;
    const issued = { access_token: `token-${this.#issued}`, token_type: 'Bearer' };
    return tellsExpiry ? { ...issued, expires_in: tokenSeconds } : issued;
  }

  #lookUp(request: WireRequest): object {
    const number = this.books.numberOf(request);
    const { maxAge = 0 } = JSON.parse(request.body) as { maxAge?: number };
    const nowMs = Date.now();
    return request.path.endsWith('/check')
      ? { swapped: this.#truth.swappedWithin(number, maxAge, nowMs) }
      : { latestSimChange: this.#truth.latestSimChange(number, nowMs) };
  }

  #reply(request: WireRequest, status: number, body: object): WireReply {
    const correlator = request.headers['x-correlator'] ?? '';
    return {
      status,
      headers: {
        'content-type': 'application/json',
        ...(this.#settings.echoes ? { 'x-correlator': correlator } : {}),
      },
      body: JSON.stringify(body),
    };
  }

  #refusal(request: WireRequest, status: number): WireReply {
    const { headers } = this.#reply(request, status, {});
    // A poll that gets access_denied gets the truth: the prompt is over.
    const name = this.#random.pick(['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND']);
    return {
      status,
      headers: {
        ...headers,
        ...(this.#random.chance(0.3) ? { 'retry-after': '0' } : {}),
        ...(status < 400 ? { location: '/elsewhere' } : {}),
      },
      body: this.#random.pick(['', 'no JSON', JSON.stringify({ status, code: name, error: name })]),
    };
  }

  /** The reply to the right request, with a body that must not be believed. */
  #nonsense(reply: WireReply): WireReply {
    const body = this.#random.pick([
      '',
      'false',
      'null',
      '[]',
      '{}',
      '<html></html>',
      '{"swapped":"false"}',
      '{"swapped":0}',
      '{"swapped":null}',
      '{"swapped":false',
      '{"swapped":{}}',
      '{"SWAPPED":false}',
      '{"latestSimChange":""}',
      '{"latestSimChange":0}',
      '{"latestSimChange":"2001-02-03"}',
      '{"latestSimChange":"2001-02-03T04:05:06"}',
      '{"latestSimChange":"2001-02-30T04:05:06Z"}',
      '{"latestSimChange":"1900-01-01T00:00:00Z"}',
      '{"latestSimChange":"1970-01-01T00:00:00Z"}',
      '{"latestSimChange":"2999-01-01T00:00:00Z"}',
      '{"access_token":"","token_type":"Bearer"}',
      '{"access_token":"a b","token_type":"Bearer"}',
      '{"access_token":"token","token_type":"mac"}',
      '{"auth_req_id":"","expires_in":20}',
      '{"auth_req_id":"request","expires_in":-1}',
    ]);
    const status = this.#random.pick([200, 200, 200, 200, 201, 204, 206]);
    return { ...reply, status, body: status === 204 ? '' : body };
  }

  readonly #later: Later = (ms, action) => {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
  };
}

function weightsOf({ faultShare, onlyFault }: ChaosSettings): Readonly<Record<Fault, number>> {
  if (onlyFault !== undefined) return { ...NEVER, none: 7, [onlyFault]: 3 };
  if (faultShare === undefined) return FAULTS;
  const ofFaults = Object.values(FAULTS).reduce((sum, one) => sum + one, 0) - FAULTS.none;
  return { ...FAULTS, none: (ofFaults * (1 - faultShare)) / faultShare };
}
