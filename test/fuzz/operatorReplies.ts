import type { Socket } from 'node:net';
import { Random } from '../support/random.ts';
import { toBytes, WireServer, type WireReply, type WireRequest } from '../wire/wire.ts';
import { mutated, textOf, valueOf } from './rubbish.ts';

/** How often a reply is rubbish; half or more would open the circuit. */
const RUBBISH = { token: 0.2, lookup: 0.35 };

/** An operator whose replies follow from a seed: the same question has the same reply. */
export class RubbishOperator extends WireServer {
  rubbish = 0;
  readonly #seed: number;
  #issued = 0;

  constructor(seed: number) {
    super((socket, request) => this.#answer(socket, request));
    this.#seed = seed;
  }

  #answer(socket: Socket, request: WireRequest): void {
    const authorization = request.headers['authorization'] ?? '';
    const isLookup = authorization.startsWith('Bearer ');
    // A 3-legged lookup names its number only in its token.
    const about = /\d{12}/.exec(request.body + (isLookup ? authorization : ''))?.[0] ?? '';
    const question = `${request.path} ${about} ${/"maxAge":\d+/.exec(request.body)?.[0] ?? ''}`;
    const random = new Random(this.#seed ^ hashOf(question));
    const good = this.#goodReply(request, about, random);
    if (!random.chance(isLookup ? RUBBISH.lookup : RUBBISH.token)) {
      socket.write(toBytes(good), 'latin1');
      return;
    }
    this.rubbish += 1;
    writeRubbish(socket, good, random);
  }

  #goodReply(request: WireRequest, about: string, random: Random): WireReply {
    this.#issued += 1;
    const name = `${about}-${this.#issued}`;
    const body = request.path.endsWith('/bc-authorize')
      ? { auth_req_id: name, expires_in: 30, interval: 1 }
      : request.path.endsWith('/token')
        ? { access_token: `token-${name}`, token_type: 'Bearer', expires_in: 60 }
        : request.path.endsWith('/check')
          ? { swapped: random.chance(0.5) }
          : { latestSimChange: random.chance(0.2) ? null : '2020-02-03T04:05:06Z' };
    return {
      status: 200,
      headers: {
        'content-type': 'application/json',
        'x-correlator': request.headers['x-correlator'] ?? '',
      },
      body: JSON.stringify(body),
    };
  }
}

const STATUSES = [
  100, 101, 103, 200, 200, 201, 202, 204, 206, 301, 304, 307, 400, 400, 401, 403, 404, 404, 409,
  418, 422, 429, 500, 501, 503, 599, 600, 999,
] as const;

const CODES = (
  'OUT_OF_RANGE IDENTIFIER_NOT_FOUND SERVICE_NOT_APPLICABLE INVALID_TOKEN_CONTEXT ' +
  'access_denied authorization_pending expired_token invalid_client invalid_grant ' +
  'slow_down unknown_user_id __proto__'
).split(' ');

function writeRubbish(socket: Socket, good: WireReply, random: Random): void {
  switch (random.below(8)) {
    case 0:
      socket.end(mutated(toBytes(good), random), 'latin1');
      return;
    case 1:
      socket.end(textOf(random, 400), 'latin1');
      return;
    case 2:
      socket.end(toBytes(good, random.below(200)), 'latin1');
      return;
    case 3:
      socket.write(toBytes({ ...good, body: mutated(good.body, random) }), 'latin1');
      return;
    case 4:
      socket.end(
        toBytes({
          status: random.pick(STATUSES),
          headers: { ...good.headers, 'retry-after': retryAfterOf(random), location: '/' },
          body: JSON.stringify({ code: random.pick(CODES), error: random.pick(CODES) }),
        }),
        'latin1',
      );
      return;
    case 5:
      socket.write(toBytes({ ...good, body: membersReplaced(good.body, random) }), 'latin1');
      return;
    case 6:
      socket.write(toBytes({ ...good, body: JSON.stringify(valueOf(random, 4)) }), 'latin1');
      return;
    default:
      socket.resetAndDestroy();
  }
}

function retryAfterOf(random: Random): string {
  const kept = textOf(random, 12).replaceAll(/[^\x20-\x7e]/g, '');
  return random.pick(['0', '1', '-1', '9'.repeat(30), 'Wed, 21 Oct 2099 07:28:00 GMT', kept]);
}

function membersReplaced(body: string, random: Random): string {
  const members = JSON.parse(body) as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    if (random.chance(0.6)) members[name] = valueOf(random, 2);
  }
  return JSON.stringify({ ...members, monitoredPeriod: valueOf(random, 1) });
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
