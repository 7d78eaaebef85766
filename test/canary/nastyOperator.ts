import type { Answer } from '../wire/recordingServer.ts';
import { askedOf } from '../support/operatorBooks.ts';
import type { Random } from '../support/random.ts';
import { SECRET_MARK } from './marks.ts';
import { throughout, type OperatorScript } from '../support/wiredOperator.ts';

type Failure = readonly [status: number, code: string];

type Reply = readonly [status: number, headers: Record<string, string>, body: string];

// Most refusals are 400, above all those of polls.
const STATUSES = [
  400, 400, 400, 400, 301, 302, 307, 400, 401, 403, 404, 409, 415, 422, 429, 500, 501, 502, 503,
] as const;

const CODES = (
  'OUT_OF_RANGE INVALID_ARGUMENT UNAUTHENTICATED PERMISSION_DENIED NOT_FOUND ' +
  'NOT_SUPPORTED SERVICE_NOT_APPLICABLE UNIDENTIFIABLE_PHONE_NUMBER QUOTA_EXCEEDED'
).split(' ');

const LOOKUP_FAILURES: readonly [Failure, ...Failure[]] = [
  [404, 'NOT_FOUND'],
  [422, 'SERVICE_NOT_APPLICABLE'],
  [429, 'QUOTA_EXCEEDED'],
  [503, 'UNAVAILABLE'],
];

const ERRORS = (
  'invalid_client invalid_grant access_denied access_denied access_denied expired_token ' +
  'slow_down authorization_pending unknown_user_id invalid_scope'
).split(' ');

/**
 * Replies that repeat the request in every place of a reply.
 *
 * @param refusesLookups after a refusal of the client a 3-legged service prompts no owner for a minute
 */
export function nastily(random: Random, refusesLookups: boolean): OperatorScript {
  let issued = 0;
  const answer: Answer = ({ path, headers, body, correlator, connection }, response) => {
    const told = `${body} ${decodeURIComponent(body)} ${headers.authorization ?? ''}`;
    if (random.chance(0.03)) {
      connection.socket.destroy();
      return;
    }
    if (random.chance(0.03)) {
      connection.socket.end(`HTTP/1.1 200 OK\r\n${told.replaceAll(/[\r\n]/g, '')}\r\n\r\n`);
      return;
    }
    issued += 1;
    // Every refusal soon: a caller's quota ends after a few lookups.
    const failsPlainly = askedOf(path) === 'lookups' && (!refusesLookups || random.chance(0.5));
    const fails = failsPlainly ? failedLookup : badReply;
    const [status, more, text] = random.chance(0.6)
      ? goodReply(random, path, told, issued)
      : fails(random, told);
    response.writeHead(status, {
      'content-type': random.chance(0.95) ? 'application/json' : 'text/html',
      'x-correlator': random.chance(0.03) ? `other-${correlator}` : correlator,
      'set-cookie': `session=${SECRET_MARK}-cookie`,
      ...more,
    });
    response.end(text);
  };
  return throughout(answer);
}

function goodReply(random: Random, path: string, told: string, issued: number): Reply {
  // Rare among the other refusals, and each takes another path.
  if (path.endsWith('/bc-authorize') && random.chance(0.1)) {
    return [400, {}, JSON.stringify({ error: 'unknown_user_id', error_description: told })];
  }
  if (path.endsWith('/bc-authorize')) {
    const authReqId = `${SECRET_MARK}-auth-req-${issued}`;
    return json({ auth_req_id: authReqId, expires_in: 1, interval: 1 });
  }
  if (path.endsWith('/openIDConnectCIBA/v1/token') && random.chance(0.15)) {
    return [400, {}, JSON.stringify({ error: 'access_denied', error_description: told })];
  }
  if (path.endsWith('/token')) {
    const token = `${SECRET_MARK}-token-${issued}`;
    return json({ access_token: token, token_type: 'Bearer', expires_in: 60, id_token: token });
  }
  // Sometimes a date or a boolean is the whole request.
  if (random.chance(0.2)) {
    return json({ latestSimChange: told, swapped: told, monitoredPeriod: told });
  }
  return json(
    path.endsWith('/check')
      ? { swapped: random.chance(0.3) }
      : { latestSimChange: random.chance(0.5) ? null : '2020-01-01T00:00:00Z' },
  );
}

function failedLookup(random: Random, told: string): Reply {
  const [status, code] = random.pick(LOOKUP_FAILURES);
  return [
    status,
    { 'x-told': encodeURIComponent(told).slice(0, 500) },
    JSON.stringify({ status, code, message: told }),
  ];
}

function badReply(random: Random, told: string): Reply {
  const status = random.pick(STATUSES);
  const inHeader = encodeURIComponent(told).slice(0, 500);
  const headers = {
    location: `http://127.0.0.1:9/?${inHeader}`,
    'www-authenticate': `Bearer error="${inHeader}"`,
    ...(random.chance(0.3) ? { 'retry-after': '1' } : {}),
  };
  if (random.chance(0.2)) return [status, headers, told];
  const reply = {
    status,
    ...(random.chance(0.5)
      ? { code: random.chance(0.9) ? random.pick(CODES) : told }
      : { error: random.chance(0.9) ? random.pick(ERRORS) : told }),
    message: told,
    error_description: told,
    error_uri: `https://operator.example/?${inHeader}`,
  };
  return [status, headers, JSON.stringify(reply)];
}

function json(value: object): Reply {
  return [200, {}, JSON.stringify(value)];
}
