import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Random } from '../random.ts';
import { SECRET_MARK } from './marks.ts';
import { listen } from '../listening.ts';

type Failure = readonly [status: number, code: string];

type Reply = readonly [status: number, headers: Record<string, string>, body: string];

// 400 is how most refusals come, above all those of the polls.
const STATUSES = [
  400, 400, 400, 400, 301, 302, 307, 400, 401, 403, 404, 409, 415, 422, 429, 500, 501, 502, 503,
] as const;

const CODES = [
  'OUT_OF_RANGE',
  'INVALID_ARGUMENT',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'NOT_FOUND',
  'NOT_SUPPORTED',
  'SERVICE_NOT_APPLICABLE',
  'UNIDENTIFIABLE_PHONE_NUMBER',
  'QUOTA_EXCEEDED',
] as const;

const LOOKUP_FAILURES: readonly [Failure, ...Failure[]] = [
  [404, 'NOT_FOUND'],
  [422, 'SERVICE_NOT_APPLICABLE'],
  [429, 'QUOTA_EXCEEDED'],
  [503, 'UNAVAILABLE'],
];

const ERRORS = [
  'invalid_client',
  'invalid_grant',
  'access_denied',
  'access_denied',
  'access_denied',
  'expired_token',
  'slow_down',
  'authorization_pending',
  'unknown_user_id',
  'invalid_scope',
] as const;

/** An operator that says everything that it was told, in every place where a reply can hold it. */
export class NastyOperator {
  requests = 0;
  readonly #random: Random;
  readonly #server: Server;
  readonly #refusesLookups: boolean;

  /** @param refusesLookups once it has refused us a lookup, a 3-legged service prompts no owner for a minute */
  constructor(random: Random, refusesLookups: boolean) {
    this.#random = random;
    this.#refusesLookups = refusesLookups;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  listen(): Promise<string> {
    return listen(this.#server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const body = await readText(request);
    const told = `${body} ${decodeURIComponent(body)} ${request.headers.authorization ?? ''}`;
    const correlator = String(request.headers['x-correlator']);
    if (this.#random.chance(0.03)) {
      request.socket.destroy();
      return;
    }
    if (this.#random.chance(0.03)) {
      request.socket.end(`HTTP/1.1 200 OK\r\n${told.replaceAll(/[\r\n]/g, '')}\r\n\r\n`);
      return;
    }
    const path = request.url ?? '';
    const isLookup = path.endsWith('/check') || path.endsWith('/retrieve-date');
    const [status, headers, text] = this.#random.chance(0.6)
      ? this.#goodReply(path, told)
      : isLookup && !this.#refusesLookups
        ? this.#failedLookup(told)
        : this.#badReply(told);
    const echoed = this.#random.chance(0.03) ? `other-${correlator}` : correlator;
    response.writeHead(status, {
      'content-type': this.#random.chance(0.95) ? 'application/json' : 'text/html',
      'x-correlator': echoed,
      'set-cookie': `session=${SECRET_MARK}-cookie`,
      ...headers,
    });
    response.end(text);
  }

  #goodReply(path: string, told: string): Reply {
    if (path.endsWith('/bc-authorize')) {
      const authReqId = `${SECRET_MARK}-auth-req-${this.requests}`;
      return json({ auth_req_id: authReqId, expires_in: 1, interval: 1 });
    }
    // Among all other refusals this one is rare, and it takes a way of its own.
    if (path.endsWith('/openIDConnectCIBA/v1/token') && this.#random.chance(0.15)) {
      return [400, {}, JSON.stringify({ error: 'access_denied', error_description: told })];
    }
    if (path.endsWith('/token')) {
      const token = `${SECRET_MARK}-token-${this.requests}`;
      return json({ access_token: token, token_type: 'Bearer', expires_in: 60, id_token: token });
    }
    // Now and then what should be a date or a boolean is all that was told.
    if (this.#random.chance(0.2)) {
      return json({ latestSimChange: told, swapped: told, monitoredPeriod: told });
    }
    return json(
      path.endsWith('/check')
        ? { swapped: this.#random.chance(0.3) }
        : { latestSimChange: this.#random.chance(0.5) ? null : '2020-01-01T00:00:00Z' },
    );
  }

  /** A reply to a lookup that is about the number, or about the operator itself. */
  #failedLookup(told: string): Reply {
    const [status, code] = this.#random.pick(LOOKUP_FAILURES);
    return [
      status,
      { 'x-told': encodeURIComponent(told).slice(0, 500) },
      JSON.stringify({ status, code, message: told }),
    ];
  }

  #badReply(told: string): Reply {
    const status = this.#random.pick(STATUSES);
    const inHeader = encodeURIComponent(told).slice(0, 500);
    const headers = {
      location: `http://127.0.0.1:9/?${inHeader}`,
      'www-authenticate': `Bearer error="${inHeader}"`,
      ...(this.#random.chance(0.3) ? { 'retry-after': '1' } : {}),
    };
    if (this.#random.chance(0.2)) return [status, headers, told];
    const reply = {
      status,
      ...(this.#random.chance(0.5)
        ? { code: this.#random.chance(0.9) ? this.#random.pick(CODES) : told }
        : { error: this.#random.chance(0.9) ? this.#random.pick(ERRORS) : told }),
      message: told,
      error_description: told,
      error_uri: `https://operator.example/?${inHeader}`,
    };
    return [status, headers, JSON.stringify(reply)];
  }
}

function json(value: object): Reply {
  return [200, {}, JSON.stringify(value)];
}
