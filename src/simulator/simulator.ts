import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONWebKeySet } from 'jose';
import { parsePhoneNumber } from '../domain/phoneNumber.ts';
import type { Operation } from '../domain/question.ts';
import { AccessTokens, OPERATION_OF_SCOPE, type Grant, type TokenGrant } from './accessTokens.ts';
import { Clients, type ClientAccount } from './clients.ts';
import { Consents } from './consents.ts';
import { refuse, SIM_SWAP_PATHS, takesCorrelator, type Dialect } from './dialect.ts';
import type { Fault } from './fault.ts';
import { Lookups } from './lookups.ts';
import { oauthError, type Reply } from './reply.ts';
import { respond } from './respond.ts';
import { noCounts, type Counts } from './stats.ts';
import { findTestNumber } from './testNumbers.ts';

/** How the simulated operator is set up. */
export interface SimulatorSettings {
  /** 0 for any that is free. */
  readonly port: number;
  readonly clientAuthentication?: ClientAccount['authentication'];
  /** The client's public keys, for assertions; their audience is the simulator's own address. */
  readonly jwks?: JSONWebKeySet;
  readonly cibaGrantType?: string;
  /** The version of CAMARA SIM Swap that lookups are answered in; 2.1 if left out. */
  readonly dialect?: Dialect;
  /** Whether replies carry the `x-correlator` of their request. */
  readonly echoesCorrelator?: boolean;
  /** How long the reply to a poll takes, so that a second poll at the same time can be seen. */
  readonly pollDelayMs?: number;
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
}

/** A simulator that listens. */
export interface Simulator {
  /** `{auth_url}`. */
  readonly authUrl: string;
  /** `{sim_swap_url}`. */
  readonly simSwapUrl: string;
  stats(): Readonly<Counts>;
  resetStats(): void;
  close(): Promise<void>;
}

/** The client that the simulator knows: no secrets, for they open nothing. */
export const DEMO_CLIENT = { clientId: 'demo-client', clientSecret: 'demo-secret' };

const DEFAULT_DIALECT: Dialect = '2.1';
const CIBA_GRANT_TYPE = 'urn:openid:params:mc:grant-type:ciba';
const MAX_BODY_BYTES = 64 * 1024;

/** What a request comes to: the reply, and what becomes of it. */
interface Outcome {
  readonly reply: Reply;
  readonly fault?: Fault | undefined;
  /** Called once the reply has left, or the client. */
  readonly afterwards?: () => void;
}

/** Starts an operator to try and test against (design §7). */
export async function startSimulator(settings: SimulatorSettings): Promise<Simulator> {
  const simulated = new SimulatedOperator(settings);
  const server = createServer((request, response) => {
    simulated.serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, '127.0.0.1', () => {
      resolve();
    });
  });
  const url = addressOf(server);
  simulated.url = url;
  return {
    authUrl: url,
    simSwapUrl: `${url}${SIM_SWAP_PATHS[settings.dialect ?? DEFAULT_DIALECT]}`,
    stats: () => ({ ...simulated.counts }),
    resetStats: () => {
      Object.assign(simulated.counts, noCounts());
    },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It listens on no port.');
  return `http://127.0.0.1:${address.port}`;
}

class SimulatedOperator {
  readonly counts = noCounts();
  url = '';
  readonly #settings: SimulatorSettings;
  readonly #dialect: Dialect;
  readonly #clients: Clients;
  readonly #tokens: AccessTokens;
  readonly #consents: Consents;
  readonly #lookups: Lookups;

  constructor(settings: SimulatorSettings) {
    const nowMs = settings.nowMs ?? Date.now;
    const { jwks, clientAuthentication: authentication = 'basic' } = settings;
    this.#settings = settings;
    this.#dialect = settings.dialect ?? DEFAULT_DIALECT;
    this.#clients = new Clients(
      { ...DEMO_CLIENT, authentication, ...(jwks === undefined ? {} : { jwks }) },
      nowMs,
    );
    this.#tokens = new AccessTokens(this.counts, nowMs);
    this.#consents = new Consents(this.#tokens, this.counts, nowMs);
    this.#lookups = new Lookups(this.#dialect, this.#tokens, this.counts, nowMs);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = request.headers['x-correlator'];
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
    const { method, url: path } = request;
    if (path === '/stats') return { reply: this.#stats(method) };
    const handle = this.#handlerOf(path);
    if (handle === undefined) return { reply: { status: 404 } };
    if (method !== 'POST') return { reply: { status: 405, headers: { allow: 'POST' } } };
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > MAX_BODY_BYTES) return { reply: { status: 413 } };
    return handle(request, await readText(request));
  }

  #handlerOf(
    path: string | undefined,
  ): ((request: IncomingMessage, body: string) => Promise<Outcome>) | undefined {
    const simSwapPath = SIM_SWAP_PATHS[this.#dialect];
    switch (path) {
      case '/oauth/v1/token':
        return (request, body) => this.#form(request, body, (form) => this.#token(form));
      case '/openIDConnectCIBA/v1/bc-authorize':
        return (request, body) => this.#form(request, body, (form) => this.#authorize(form));
      case '/openIDConnectCIBA/v1/token':
        return (request, body) => this.#form(request, body, (form) => this.#poll(form));
      case `${simSwapPath}/retrieve-date`:
        return (request, body) => Promise.resolve(this.#lookUp('retrieve-date', request, body));
      case `${simSwapPath}/check`:
        return (request, body) => Promise.resolve(this.#lookUp('check', request, body));
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

  /** A form from a client that shows who it is. */
  async #form(
    request: IncomingMessage,
    body: string,
    handle: (form: URLSearchParams) => Outcome,
  ): Promise<Outcome> {
    const isForm = /^application\/x-www-form-urlencoded\b/i.test(
      request.headers['content-type'] ?? '',
    );
    if (!isForm) return { reply: oauthError(400, 'invalid_request') };
    const form = new URLSearchParams(body);
    // RFC 6749 §3.2: no parameter more than once.
    if (new Set(form.keys()).size < form.size) return { reply: oauthError(400, 'invalid_request') };
    if (await this.#clients.accepts(request.headers.authorization, form, this.url)) {
      return handle(form);
    }
    this.counts.refusedClients += 1;
    return {
      reply: {
        ...oauthError(401, 'invalid_client'),
        headers: { 'www-authenticate': 'Basic realm="simulator"' },
      },
    };
  }

  /** Service, "Endpoints" 3. */
  #token(form: URLSearchParams): Outcome {
    if (form.get('grant_type') !== 'client_credentials') {
      return { reply: oauthError(400, 'unsupported_grant_type') };
    }
    const granted = this.#grant(form.get('username'), form.get('scope'), '2-legged');
    switch (granted.kind) {
      case 'refused':
        return { reply: granted.reply };
      case 'granted':
        return this.#issue(granted.grant);
    }
  }

  #issue(grant: TokenGrant): Outcome {
    const fault = findTestNumber(grant.number)?.token;
    return fault?.kind === 'refuse'
      ? { reply: { status: 200 }, fault }
      : { reply: this.#tokens.issue(grant), fault };
  }

  /** Service, "Endpoints" 1. */
  #authorize(form: URLSearchParams): Outcome {
    const granted = this.#grant(form.get('login_hint'), form.get('scope'), '3-legged');
    switch (granted.kind) {
      case 'refused':
        return { reply: granted.reply };
      case 'granted':
        return this.#prompt(granted.grant);
    }
  }

  #prompt(grant: TokenGrant): Outcome {
    const { consent = { grantedAfterMs: 0 } } = findTestNumber(grant.number) ?? {};
    if (consent.insteadOfPrompt !== undefined) {
      return { reply: { status: 200 }, fault: consent.insteadOfPrompt };
    }
    return { reply: this.#consents.request(grant, consent), fault: consent.afterPrompt };
  }

  /** Service, "Endpoints" 2. */
  #poll(form: URLSearchParams): Outcome {
    if (form.get('grant_type') !== (this.#settings.cibaGrantType ?? CIBA_GRANT_TYPE)) {
      return { reply: oauthError(400, 'unsupported_grant_type') };
    }
    const authReqId = form.get('auth_req_id');
    if (authReqId === null) return { reply: oauthError(400, 'invalid_request') };
    const { pollDelayMs } = this.#settings;
    return {
      reply: this.#consents.poll(authReqId),
      fault: pollDelayMs === undefined ? undefined : { kind: 'delay', ms: pollDelayMs },
      afterwards: () => {
        this.#consents.pollAnswered(authReqId);
      },
    };
  }

  /** Service, "Endpoints" 4 and 5. */
  #lookUp(operation: Operation, request: IncomingMessage, text: string): Outcome {
    const body = readJsonObject(request.headers['content-type'], text);
    const { 'x-correlator': correlator = '', authorization } = request.headers;
    if (body === undefined || !takesCorrelator(this.#dialect, String(correlator))) {
      return this.#refused(refuse(this.#dialect, 'invalid argument'));
    }
    const authorized = this.#lookups.authorize(operation, authorization, body);
    switch (authorized.kind) {
      case 'refused':
        return this.#refused(authorized.reply);
      case 'granted':
        return this.#answer(operation, authorized.grant.number, body);
    }
  }

  #answer(operation: Operation, number: string, body: Readonly<Record<string, unknown>>): Outcome {
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

  #grant(telUri: string | null, scope: string | null, flow: TokenGrant['flow']): Grant {
    // The service takes the number with and without its plus, and nothing between the digits.
    const digits = /^tel:\+?([0-9]+)$/.exec(telUri ?? '')?.[1] ?? '';
    const parsed = parsePhoneNumber(`+${digits}`);
    switch (parsed.kind) {
      case 'refused':
        return refusedGrant(flow === '3-legged' ? 'unknown_user_id' : 'invalid_request');
      case 'parsed': {
        const operation = OPERATION_OF_SCOPE[scope ?? ''];
        return operation === undefined
          ? refusedGrant('invalid_scope')
          : { kind: 'granted', grant: { number: parsed.value, operation, flow } };
      }
    }
  }
}

function refusedGrant(error: string): Grant {
  return { kind: 'refused', reply: oauthError(400, error) };
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
