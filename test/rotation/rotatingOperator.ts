import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { demanding, type Authority } from '../tls/authority.ts';
import type { Certificate } from '../tls/certificate.ts';

/** What the operator shows, and whom it lets in. */
export interface Trust {
  readonly certificate: Certificate;
  /** Who may have signed the certificates of clients. */
  readonly clients: readonly Authority[];
}

/** The owner looks at the phone by then: the first poll, which comes at once, finds nothing. */
const MIN_POLLS = 2;
/** How long each reply takes. */
const REPLY_MS = 30;

/**
 * An operator on TLS that demands a client certificate and one of the secrets that count, and that can be told to take
 * and show others. It answers about a number by its last digit: odd ones were swapped.
 */
export class RotatingOperator implements AsyncDisposable {
  readonly url: string;
  /** Those that count. */
  readonly secrets = new Set<string>();
  /** By number, as the operator was told it. */
  readonly prompts = new Map<string, number>();
  /** What it was asked and refused, with why. */
  readonly refusals: string[] = [];
  lookups = 0;
  readonly #server: Server;
  readonly #consents = new Map<string, { readonly number: string; polls: number }>();
  readonly #tokens = new Map<string, string>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(trust: Trust): Promise<RotatingOperator> {
    const server = createServer(optionsOf(trust));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const operator = new RotatingOperator(server);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void operator.#serve(request, response).catch(() => response.destroy());
    });
    return operator;
  }

  /** Of connections from now on; those that are open go on. */
  set trust(trust: Trust) {
    this.#server.setSecureContext(optionsOf(trust));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request);
    await sleep(REPLY_MS);
    const { status, reply } = this.#answer(request, body);
    if (status === 401) this.refusals.push(request.url ?? '');
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-correlator': request.headers['x-correlator'],
    });
    response.end(JSON.stringify(reply));
  }

  #answer({ url = '', headers }: IncomingMessage, body: string): Answer {
    if (url.endsWith('/check')) return this.#check(headers.authorization ?? '', body);
    const [, basic = ''] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
    const [, secret = ''] = Buffer.from(basic, 'base64').toString().split(':');
    if (!this.secrets.has(secret)) return { status: 401, reply: { error: 'invalid_client' } };
    const form = new URLSearchParams(body);
    if (url.endsWith('/bc-authorize')) return this.#prompt(form.get('login_hint') ?? '');
    const authReqId = form.get('auth_req_id');
    return authReqId === null ? this.#token(form.get('username') ?? '') : this.#poll(authReqId);
  }

  #prompt(hint: string): Answer {
    const number = numberIn(hint);
    this.prompts.set(number, (this.prompts.get(number) ?? 0) + 1);
    const auth_req_id = randomUUID();
    this.#consents.set(auth_req_id, { number, polls: 0 });
    return { status: 200, reply: { auth_req_id, expires_in: 60, interval: 1 } };
  }

  #poll(authReqId: string): Answer {
    const consent = this.#consents.get(authReqId);
    if (consent === undefined) return { status: 400, reply: { error: 'invalid_grant' } };
    consent.polls += 1;
    return consent.polls < MIN_POLLS
      ? { status: 400, reply: { error: 'authorization_pending' } }
      : this.#token(consent.number);
  }

  #token(about: string): Answer {
    const access_token = randomUUID();
    this.#tokens.set(access_token, numberIn(about));
    return { status: 200, reply: { access_token, token_type: 'Bearer', expires_in: 60 } };
  }

  #check(authorization: string, body: string): Answer {
    const token = authorization.replace('Bearer ', '');
    const number = this.#tokens.get(token);
    this.#tokens.delete(token);
    const { phoneNumber = number } = JSON.parse(body) as { phoneNumber?: string };
    if (number === undefined || phoneNumber !== number) return { status: 401, reply: {} };
    this.lookups += 1;
    return { status: 200, reply: { swapped: wasSwapped(number) } };
  }
}

interface Answer {
  readonly status: number;
  readonly reply: object;
}

/** The truth about a number. */
export function wasSwapped(number: string): boolean {
  return Number(number.at(-1)) % 2 === 1;
}

function numberIn(text: string): string {
  return text.replace(/^tel:/, '');
}

function optionsOf({ certificate, clients }: Trust): ReturnType<typeof demanding> {
  const [first, ...others] = clients;
  if (first === undefined) throw new Error('No client may come.');
  const options = demanding(certificate, first);
  return { ...options, ca: [first.pem, ...others.map(({ pem }) => pem)] };
}
