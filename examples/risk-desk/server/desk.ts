import type { IncomingMessage, ServerResponse } from 'node:http';
import { DeskCookies } from './cookies.ts';
import { Gateway, MAX_BODY_BYTES } from './gateway.ts';
import { readPage } from './pageFiles.ts';
import { PeopleAtWork } from './people.ts';
import { PENDING_SECONDS, PendingSignIns } from './pendingSignIn.ts';
import { Provider, RENEW_BEFORE_MS } from './provider.ts';
import { readBody } from './readBody.ts';
import { errorReply, jsonReply, messagePage, redirectTo, type Reply } from './reply.ts';
import { securityHeaders } from './securityHeaders.ts';
import { carriesCsrfToken, Sessions, type Session, type Tokens } from './sessions.ts';
import type { DeskSettings } from './settings.ts';

const SESSION_COOKIE = 'desk-session';
const PENDING_COOKIE = 'desk-sign-in';

/** What one person may query at a time, over all their sessions. */
const MAX_RUNNING = 16;

/** A request that is being answered. */
interface Exchange {
  readonly request: IncomingMessage;
  /** With its `?`; empty without one. */
  readonly search: string;
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal;
}

/** The server behind the page: it holds the tokens, so that the browser never does. */
export class Desk {
  readonly #settings: DeskSettings;
  readonly #provider: Provider;
  readonly #gateway: Gateway;
  readonly #page: ReadonlyMap<string, Reply>;
  readonly #cookies: DeskCookies;
  readonly #headers: ReadonlyMap<string, string>;
  readonly #pendingSignIns: PendingSignIns;
  readonly #sessions: Sessions;
  readonly #people: PeopleAtWork;
  readonly #host: string;

  private constructor(settings: DeskSettings, provider: Provider) {
    this.#settings = settings;
    this.#provider = provider;
    this.#gateway = new Gateway(settings.gatewayUrl);
    this.#page = readPage(settings.pageDirectory);
    this.#cookies = new DeskCookies(settings.origin);
    this.#headers = securityHeaders(settings.origin);
    this.#pendingSignIns = new PendingSignIns(settings.monotonicMs);
    this.#sessions = new Sessions(settings.sessions, settings.monotonicMs);
    this.#people = new PeopleAtWork(settings.monotonicMs);
    this.#host = new URL(settings.origin).host;
  }

  /** Rejects when the provider does not answer, or the page is not built. */
  static async open(settings: DeskSettings): Promise<Desk> {
    return new Desk(settings, await Provider.discover(settings));
  }

  /** Answers one request. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) gone.abort(new Error('The browser is gone.'));
    });
    response.setHeaders(new Map(this.#headers));
    let reply: Reply;
    try {
      reply = await this.#answer(request, gone.signal);
    } catch {
      if (gone.signal.aborted) return;
      reply = errorReply(500, 'UNAVAILABLE', 'The desk cannot answer for the moment.');
    }
    for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
    // What is left of a body would be taken for the next request.
    if (!request.complete) response.setHeader('connection', 'close');
    response.setHeader('content-length', Buffer.byteLength(reply.body));
    response.writeHead(reply.status).end(request.method === 'HEAD' ? undefined : reply.body);
  }

  async close(): Promise<void> {
    await this.#gateway.close();
  }

  async #answer(request: IncomingMessage, signal: AbortSignal): Promise<Reply> {
    if (request.headers.host !== this.#host) return OTHER_HOST;
    const url = request.url ?? '';
    const question = url.indexOf('?');
    const path = question < 0 ? url : url.slice(0, question);
    const exchange = { request, search: question < 0 ? '' : url.slice(question), signal };
    switch (request.method) {
      case 'GET':
      case 'HEAD':
        return this.#get(path, exchange);
      case 'POST':
        return this.#post(path, exchange);
      default:
        return errorReply(405, 'BAD_REQUEST', 'The desk takes GET and POST.');
    }
  }

  #get(path: string, exchange: Exchange): Promise<Reply> | Reply {
    switch (path) {
      case '/session':
        return this.#tellSession(exchange);
      case '/sign-in':
        return this.#signIn(exchange);
      case '/callback':
        return this.#callback(exchange);
      default:
        return this.#page.get(path) ?? NOT_FOUND;
    }
  }

  async #post(path: string, exchange: Exchange): Promise<Reply> {
    if (path !== '/graphql' && path !== '/sign-out') return NOT_FOUND;
    const { request } = exchange;
    const session = this.#sessionOf(request);
    if (session === undefined) return SIGNED_OUT;
    if (!this.#comesFromThePage(request, session)) return NOT_FROM_THE_PAGE;
    return path === '/graphql' ? this.#ask(session, exchange) : this.#signOut(request);
  }

  #tellSession({ request }: Exchange): Reply {
    const session = this.#sessionOf(request);
    // Not an error: a browser would write one into its console before each sign-in.
    if (session === undefined) return jsonReply(null);
    const { person, csrfToken, tokens } = session;
    return jsonReply({
      id: person.id,
      name: person.name,
      roles: person.roles,
      // What the service will say, not what a role is called.
      mayBatch: tokens.scopes.includes(this.#settings.batchScope),
      purposes: this.#settings.purposes,
      lookupPrice: this.#settings.lookupPrice ?? null,
      csrfToken,
    });
  }

  async #signIn({ request }: Exchange): Promise<Reply> {
    // A link of another site would end the session, or begin one without the person's will.
    const { 'sec-fetch-site': site = 'none' } = request.headers;
    if (site !== 'none' && site !== 'same-origin') return redirectTo('/');
    const { url, pending } = await this.#provider.depart();
    const sealed = this.#pendingSignIns.seal(pending);
    return redirectTo(url, [this.#cookies.set(PENDING_COOKIE, sealed, PENDING_SECONDS)]);
  }

  async #callback({ request, search }: Exchange): Promise<Reply> {
    const sealed = this.#cookies.read(request.headers.cookie, PENDING_COOKIE);
    const pending = this.#pendingSignIns.open(sealed);
    if (pending === undefined) return NOT_SIGNED_IN;
    let arrival;
    try {
      arrival = await this.#provider.arrive(search, pending);
    } catch {
      return NOT_SIGNED_IN;
    }
    this.#pendingSignIns.use(pending);
    // A session that the browser came with ends: the new one shares nothing with it.
    await this.#end(request);
    const id = this.#sessions.start(arrival.person, arrival.tokens);
    return redirectTo('/', [
      this.#cookies.set(SESSION_COOKIE, id),
      this.#cookies.clear(PENDING_COOKIE),
    ]);
  }

  /** Ends the session of a request. Its tokens are taken back, and those that are on their way as well. */
  async #end(request: IncomingMessage): Promise<void> {
    const session = this.#sessionOf(request);
    if (session === undefined) return;
    this.#sessions.end(this.#sessionId(request));
    await session.refreshing?.catch(() => undefined);
    await this.#provider.revoke(session.tokens);
  }

  async #signOut(request: IncomingMessage): Promise<Reply> {
    await this.#end(request);
    const reply = jsonReply({ location: this.#provider.endSessionUrl() });
    const headers = { ...reply.headers, 'set-cookie': [this.#cookies.clear(SESSION_COOKIE)] };
    return { ...reply, headers };
  }

  async #ask(session: Session, { request, signal }: Exchange): Promise<Reply> {
    const purpose = this.#settings.purposes.find(({ id }) => id === request.headers['x-purpose']);
    if (purpose === undefined) return NO_PURPOSE;
    if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
      return NOT_JSON;
    }
    const { person } = session;
    if (!this.#people.enter(person, MAX_RUNNING)) return TOO_MANY;
    try {
      const body = await readBody(request, MAX_BODY_BYTES);
      if (body === undefined) return TOO_LONG;
      const tokens = await this.#tokensOf(session);
      if (tokens === undefined || session.isOver) {
        this.#sessions.end(this.#sessionId(request));
        return SIGNED_OUT;
      }
      const { accessToken, scopes } = tokens;
      if (!scopes.includes(this.#settings.batchScope)) {
        const { singleQuestionsPerHour: max } = this.#settings;
        const retryAfterSeconds = this.#people.count(person, body, max);
        if (retryAfterSeconds !== undefined) return quotaExceeded(retryAfterSeconds);
      }
      const { 'x-correlator': correlator } = request.headers;
      return await this.#gateway.ask({
        body,
        accessToken,
        purpose: purpose.id,
        correlator: isCorrelator(correlator) ? correlator : undefined,
        signal,
      });
    } finally {
      this.#people.leave(person);
    }
  }

  /** Tokens that outlast a request; `undefined` when the provider gives none any more. */
  #tokensOf(session: Session): Promise<Tokens | undefined> | Tokens {
    const leftMs = session.tokens.expiresAtMs - this.#settings.monotonicMs();
    if (leftMs > RENEW_BEFORE_MS) return session.tokens;
    // A refresh token may work once: all requests that need new tokens wait for the same ones.
    session.refreshing ??= this.#renew(session).finally(() => {
      session.refreshing = undefined;
    });
    return session.refreshing;
  }

  async #renew(session: Session): Promise<Tokens | undefined> {
    const tokens = await this.#provider.renew(session.tokens);
    if (tokens !== undefined) session.tokens = tokens;
    return tokens;
  }

  #sessionOf(request: IncomingMessage): Session | undefined {
    return this.#sessions.find(this.#sessionId(request));
  }

  #sessionId({ headers }: IncomingMessage): string | undefined {
    return this.#cookies.read(headers.cookie, SESSION_COOKIE);
  }

  /** By the session's token, and by what the browser says of who sends it. */
  #comesFromThePage({ headers }: IncomingMessage, session: Session): boolean {
    const { origin, 'sec-fetch-site': site } = headers;
    return (
      (origin === undefined || origin === this.#settings.origin) &&
      (site === undefined || site === 'same-origin') &&
      carriesCsrfToken(session, headers['x-csrf-token'])
    );
  }
}

/** As the page makes them: no number, and nothing else that a log should not have. */
function isCorrelator(text: unknown): text is string {
  return typeof text === 'string' && /^desk[0-9a-f]{16}$/.test(text);
}

const NOT_FOUND = errorReply(404, 'BAD_REQUEST', 'There is nothing at this address.');

/** A page of another site whose name resolves to this machine sends that name. */
const OTHER_HOST = errorReply(
  421,
  'BAD_REQUEST',
  'The desk does not answer under the host that the request names. Open the address that it printed.',
);

const SIGNED_OUT = errorReply(401, 'UNAUTHENTICATED', 'Sign in first.');

const NOT_FROM_THE_PAGE = errorReply(
  403,
  'FORBIDDEN',
  'The request does not come from the page of this session. Load the page again.',
);

const NO_PURPOSE = errorReply(
  400,
  'BAD_USER_INPUT',
  'Choose a purpose: the header x-purpose names one of those of the session.',
);

const NOT_JSON = errorReply(
  415,
  'BAD_REQUEST',
  'Send the operation as JSON, with the header content-type: application/json.',
);

const TOO_LONG = errorReply(
  413,
  'BAD_REQUEST',
  `A body may have ${MAX_BODY_BYTES} bytes at most. Check fewer numbers at once.`,
);

const TOO_MANY = errorReply(
  429,
  'RATE_LIMITED',
  `You can have ${MAX_RUNNING} requests open at a time. Wait for one of them to finish.`,
);

function quotaExceeded(retryAfterSeconds: number): Reply {
  const message = `Quota of single cases exceeded. Try again in ${retryAfterSeconds} seconds.`;
  const reply = errorReply(429, 'RATE_LIMITED', message);
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterSeconds) } };
}

/** One word for every flaw. */
const NOT_SIGNED_IN = messagePage(400, {
  title: 'You are not signed in',
  text: 'The sign-in did not complete, took too long, or was begun in another window.',
  link: 'Sign in again',
});
