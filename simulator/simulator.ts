import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONWebKeySet } from 'jose';
import type { Operation } from '../src/domain/question.ts';
import { AccessTokens, type NumberGrant } from './accessTokens.ts';
import { AuthorizationServer, type AuthorizationRequest } from './authorizationServer.ts';
import { DEMO_CLIENT } from './address.ts';
import { Clients, type ClientAccount } from './clients.ts';
import { Consents } from './consents.ts';
import { refuse, takesCorrelator, type Dialect } from './dialect.ts';
import { DIALECTS, type DialectName } from './dialects.ts';
import type { Fault } from './fault.ts';
import { Lookups, type LookupRequest } from './lookups.ts';
import type { Outcome } from './outcome.ts';
import { Proofs, type NonceRule, type Server as ProofServer } from './proofs.ts';
import type { Reply } from './reply.ts';
import { respond } from './respond.ts';
import { noCounts, type Counts } from './stats.ts';
import { findTestNumber } from './testNumbers.ts';

/** The settings of the simulated operator. */
export interface SimulatorSettings {
  /** 0 for any free port. */
  readonly port: number;
  /** 127.0.0.1 where absent. */
  readonly host?: string;
  /** The dialect's where absent. */
  readonly clientAuthentication?: ClientAccount['authentication'];
  /** The client's public keys, for assertions; the dialect determines their audience. */
  readonly jwks?: JSONWebKeySet;
  /** The dialect's where absent. */
  readonly cibaGrantType?: string;
  /** The operator's dialect; CAMARA SIM Swap 2.1 where absent. */
  readonly dialect?: DialectName;
  /** Whether replies carry the correlator of their request. */
  readonly echoesCorrelator?: boolean;
  /** Each request must carry a proof of possession (RFC 9449), which names a nonce as the rule says. */
  readonly nonces?: NonceRule;
  /** How long the reply to a poll takes, so that an overlapping poll can be noticed. */
  readonly pollDelayMs?: number;
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
}

/** A simulator that listens. */
export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

export { DEMO_CLIENT };

/** Where the simulator listens by default: on this machine only. */
export const LOOPBACK = '127.0.0.1';

const DEFAULT_DIALECT: DialectName = '2.1';
const MAX_BODY_BYTES = 64 * 1024;

/** Starts an operator to try and test against (docs/design.md, "The simulator"). */
export async function startSimulator(settings: SimulatorSettings) {
  const dialect: Dialect = {
    ...DIALECTS[settings.dialect ?? DEFAULT_DIALECT],
    ...(settings.clientAuthentication === undefined
      ? {}
      : { clientAuthentication: settings.clientAuthentication }),
    ...(settings.cibaGrantType === undefined ? {} : { cibaGrantType: settings.cibaGrantType }),
  };
  const simulated = new SimulatedOperator(dialect, settings);
  const server = createServer((request, response) => {
    simulated.serve(request, response).catch(() => response.destroy());
  });
  await once(server.listen(settings.port, settings.host ?? LOOPBACK), 'listening');
  const url = addressOf(server);
  simulated.url = url;
  return {
    /** `{auth_url}`. */
    authUrl: url,
    /** `{sim_swap_url}`. */
    simSwapUrl: url + dialect.paths.simSwap,
    stats: (): Readonly<Counts> => ({ ...simulated.counts }),
    resetStats: () => void Object.assign(simulated.counts, noCounts()),
    /** Invalidates all tokens issued so far. */
    revokeTokens: () => simulated.tokens.revoke(),
    /** Begins this many periods of nonces at once. */
    rotateNonces: (periods: number) => simulated.proofs?.rotate(periods),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The address on this machine of a server that listens everywhere. */
function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The server does not listen on a port.');
  const { address: ip, family, port } = address;
  if (ip === '0.0.0.0' || ip === '::') return `http://${LOOPBACK}:${port}`;
  return `http://${family === 'IPv6' ? `[${ip}]` : ip}:${port}`;
}

type Handler = (
  request: IncomingMessage,
  body: string,
  thumbprint?: string,
) => Outcome | Promise<Outcome>;

class SimulatedOperator {
  readonly counts = noCounts();
  readonly tokens: AccessTokens;
  readonly proofs: Proofs | undefined;
  url = '';
  readonly #settings: SimulatorSettings;
  readonly #dialect: Dialect;
  readonly #authorizationServer: AuthorizationServer;
  readonly #lookups: Lookups;
  /** The numbers with a lookup under way, where only one at a time is allowed. */
  readonly #queried = new Set<string>();

  constructor(dialect: Dialect, settings: SimulatorSettings) {
    const nowMs = settings.nowMs ?? Date.now;
    const { jwks, pollDelayMs } = settings;
    const { counts } = this;
    this.#settings = settings;
    this.#dialect = dialect;
    const authentication = dialect.clientAuthentication;
    const account = { ...DEMO_CLIENT, authentication, ...(jwks === undefined ? {} : { jwks }) };
    const clients = new Clients(account, nowMs);
    const tokens = new AccessTokens(dialect.tokens, counts, nowMs);
    this.tokens = tokens;
    this.proofs = settings.nonces && new Proofs(settings.nonces, counts, nowMs);
    const consents = new Consents(dialect.consent, tokens, counts, nowMs);
    this.#authorizationServer = new AuthorizationServer({
      dialect,
      clients,
      tokens,
      consents,
      counts,
      pollDelayMs,
    });
    this.#lookups = new Lookups(dialect, tokens, counts, nowMs);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = request.headers[this.#dialect.correlatorHeader];
    const correlator =
      typeof sent === 'string' && this.#settings.echoesCorrelator !== false ? sent : undefined;
    const { reply, fault, afterwards } = await this.#route(request);
    if (afterwards !== undefined) {
      if (response.closed) afterwards();
      else response.once('close', afterwards);
    }
    const destination = {
      response,
      correlator,
      dialect: this.#dialect,
      sleep: (ms: number) => sleep(ms),
    };
    await respond(destination, reply, fault);
  }

  async #route(request: IncomingMessage): Promise<Outcome> {
    const { method, url: target = '' } = request;
    if (target === '/stats') return { reply: this.#stats(method) };
    if (target === '/tokens') return { reply: this.#revoke(method) };
    if (target === this.#dialect.paths.discovery) {
      const reply = this.#authorizationServer.metadata(this.url);
      return { reply: method === 'GET' ? reply : { status: 405, headers: { allow: 'GET' } } };
    }
    this.counts.requests += 1;
    const handle = this.#handlerOf(target);
    if (handle === undefined) return { reply: { status: 404 } };
    if (method !== 'POST') return { reply: { status: 405, headers: { allow: 'POST' } } };
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > MAX_BODY_BYTES) return { reply: { status: 413 } };
    const body = await readText(request);
    const { proofs } = this;
    if (proofs === undefined) return handle(request, body);
    const [path = ''] = target.split('?', 1);
    const isLookup = path.startsWith(`${this.#dialect.paths.simSwap}/`);
    const server: ProofServer = isLookup ? 'lookups' : 'tokens';
    const proven = await proofs.check(request, this.url + path, server);
    const outcome =
      proven.kind === 'refused'
        ? { reply: proven.reply }
        : await handle(request, body, proven.thumbprint);
    const headers = { ...outcome.reply.headers, ...proofs.headers(server) };
    return { ...outcome, reply: { ...outcome.reply, headers } };
  }

  #handlerOf(target: string): Handler | undefined {
    const { paths, tokenRequest } = this.#dialect;
    const [path = '', query = ''] = target.split('?', 2);
    const takesQuery = tokenRequest.grant === 'client_credentials' && tokenRequest.inQuery;
    if (target !== path && !(takesQuery && path === paths.token)) return undefined;
    const authorizationRequest = (
      { headers }: IncomingMessage,
      body: string,
      thumbprint?: string,
    ): AuthorizationRequest => ({ headers, query, body, thumbprint, url: this.url + path });
    const server = this.#authorizationServer;
    switch (path) {
      case '':
        return undefined;
      case paths.token:
        return (...came) => server.token(authorizationRequest(...came));
      case paths.backchannelAuthentication:
        return (...came) => server.authorize(authorizationRequest(...came));
      case paths.cibaToken:
        return (...came) => server.poll(authorizationRequest(...came));
      case lookupPath(paths.simSwap, paths.retrieveDate):
        return (...came) => this.#lookUp('retrieve-date', ...came);
      case lookupPath(paths.simSwap, paths.check):
        return (...came) => this.#lookUp('check', ...came);
      default:
        return undefined;
    }
  }

  #stats(method: string | undefined): Reply {
    if (method !== 'GET' && method !== 'DELETE') {
      return { status: 405, headers: { allow: 'GET, DELETE' } };
    }
    if (method === 'DELETE') Object.assign(this.counts, noCounts());
    return { status: 200, body: { ...this.counts } };
  }

  #revoke(method: string | undefined): Reply {
    if (method !== 'DELETE') return { status: 405, headers: { allow: 'DELETE' } };
    this.tokens.revoke();
    return { status: 204 };
  }

  /** Answers a lookup (docs/operator-api.md, "The date" and "The check"). */
  #lookUp(
    operation: Operation,
    { headers }: IncomingMessage,
    text: string,
    thumbprint?: string,
  ): Outcome {
    const { correlatorHeader, partnerHeader } = this.#dialect;
    const body = readJsonObject(headers['content-type'], text);
    const correlator = String(headers[correlatorHeader] ?? '');
    const lacksHeader = partnerHeader !== undefined && headers[partnerHeader] === undefined;
    if (body === undefined || lacksHeader || !takesCorrelator(this.#dialect, correlator)) {
      return this.#refused(refuse(this.#dialect, 'invalid argument'));
    }
    const request: LookupRequest = { operation, headers, body, thumbprint };
    const authorized = this.#lookups.authorize(request);
    switch (authorized.kind) {
      case 'refused':
        return this.#refused(authorized.reply);
      case 'granted':
        return this.#inTurn(authorized.grant, request);
    }
  }

  /** Refuses a second lookup about a number at the same time as a conflict, where the dialect does so. */
  #inTurn({ number }: NumberGrant, request: LookupRequest): Outcome {
    if (!this.#dialect.oneCallPerNumber) return this.#answer(number, request);
    if (this.#queried.has(number)) {
      this.counts.conflicts += 1;
      return this.#refused(refuse(this.#dialect, 'another request under way'));
    }
    this.#queried.add(number);
    return {
      ...this.#answer(number, request),
      afterwards: () => this.#queried.delete(number),
    };
  }

  #answer(number: string, { operation, body }: LookupRequest): Outcome {
    const { lookup } = findTestNumber(number) ?? {};
    const fault =
      lookup?.operation === undefined || lookup.operation === operation ? lookup?.fault : undefined;
    if (fault?.kind === 'refuse' || fault?.kind === 'refuse a lookup') {
      return this.#refused({ status: 200 }, fault);
    }
    const reply = this.#lookups.answer(operation, number, body);
    return reply.status === 200 ? { reply, fault } : this.#refused(reply, fault);
  }

  #refused(reply: Reply, fault?: Fault): Outcome {
    this.counts.refusedLookups += 1;
    return { reply, fault };
  }
}

function lookupPath(simSwap: string, path: string | undefined): string | undefined {
  return path === undefined ? undefined : simSwap + path;
}

function readJsonObject(
  contentType: string | undefined,
  body: string,
): Readonly<Record<string, unknown>> | undefined {
  if (!/^application\/json\b/i.test(contentType ?? '')) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : undefined;
  } catch {
    return undefined;
  }
}
