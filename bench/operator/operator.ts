import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from '../processes/conversation.ts';
import { NOBODY_SWAPPED, type OperatorManners, type OperatorCounts } from './manners.ts';

// The operator, as lean as it can be: what it costs is nobody's figure, but it shares the machine. Tokens
// work once and for one number, so no contestant can save on them.

const DAY_MS = 24 * 3_600_000;
const LAST_SWAP_HOURS_AGO = 10 * 24;
const ACTIVATED_MS = Date.now() - 3650 * DAY_MS;
const SWAPPED_MS = Date.now() - LAST_SWAP_HOURS_AGO * 3_600_000;

let manners: OperatorManners = NOBODY_SWAPPED;
let counts: OperatorCounts = { tokens: 0, lookups: 0, prompts: 0, polls: 0 };
let issued = 0;
/** Numbers by their tokens, and by the ids of their consents. */
const tokens = new Map<string, string>();
const consents = new Map<string, string>();

interface Reply {
  readonly status: number;
  readonly body: string;
}

const NOT_FOUND: Reply = {
  status: 404,
  body: '{"status":404,"code":"IDENTIFIER_NOT_FOUND","message":"not found"}',
};
const REFUSED: Reply = { status: 401, body: '{"status":401,"code":"UNAUTHENTICATED"}' };

function reply(path: string, authorization: string, body: string): Reply {
  switch (path) {
    case '/oauth/v1/token':
      counts.tokens += 1;
      return issue(formMember(body, 'username'));
    case '/openIDConnectCIBA/v1/bc-authorize': {
      counts.prompts += 1;
      const id = `consent-${++issued}`;
      consents.set(id, formMember(body, 'login_hint'));
      const interval = manners.intervalSeconds;
      return {
        status: 200,
        body: `{"auth_req_id":"${id}","expires_in":120,"interval":${interval}}`,
      };
    }
    case '/openIDConnectCIBA/v1/token': {
      counts.polls += 1;
      const id = formMember(body, 'auth_req_id');
      const number = consents.get(id);
      consents.delete(id);
      return number === undefined ? REFUSED : issue(number);
    }
    case '/sim-swap/v1/check':
      return lookUp(authorization, (isSwapped) => {
        const { maxAge } = JSON.parse(body) as { maxAge: number };
        return `{"swapped":${isSwapped && maxAge > LAST_SWAP_HOURS_AGO}}`;
      });
    case '/sim-swap/v1/retrieve-date':
      return lookUp(authorization, (isSwapped) => {
        const changedMs = isSwapped ? SWAPPED_MS : ACTIVATED_MS;
        return `{"latestSimChange":"${new Date(changedMs).toISOString()}"}`;
      });
    default:
      return { status: 404, body: '{}' };
  }
}

function issue(number: string): Reply {
  const token = `token-${++issued}`;
  tokens.set(token, number.replace(/^tel:\+?/, ''));
  return {
    status: 200,
    body: `{"access_token":"${token}","token_type":"Bearer","expires_in":120}`,
  };
}

function lookUp(authorization: string, told: (isSwapped: boolean) => string): Reply {
  counts.lookups += 1;
  const token = authorization.slice('Bearer '.length);
  const number = tokens.get(token);
  if (number === undefined) return REFUSED;
  tokens.delete(token);
  if (manners.refusesLookups) return NOT_FOUND;
  const { swappedEvery } = manners;
  const isSwapped = swappedEvery > 0 && Number(number.slice(-3)) % swappedEvery === 0;
  return { status: 200, body: told(isSwapped) };
}

function formMember(form: string, name: string): string {
  const start = form.indexOf(`${name}=`) + name.length + 1;
  const end = form.indexOf('&', start);
  return decodeURIComponent(form.slice(start, end < 0 ? undefined : end));
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    if (manners.hopMs === 0) respond(request, response, body);
    else setTimeout(respond, manners.hopMs, request, response, body);
  });
}

function respond(
  { headers, url = '' }: IncomingMessage,
  response: ServerResponse,
  asked: string,
): void {
  const { status, body } = reply(url, headers.authorization ?? '', asked);
  const correlator = headers['x-correlator'];
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(typeof correlator === 'string' ? { 'x-correlator': correlator } : {}),
  });
  response.end(body);
}

const server = createServer(
  { keepAliveTimeout: 600_000, connectionsCheckingInterval: 60_000 },
  serve,
);
server.listen(0, '127.0.0.1', 4096, () => {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  answer({
    address: () => ({ authUrl: url, simSwapUrl: `${url}/sim-swap/v1` }),
    behave: (wanted: OperatorManners) => {
      manners = wanted;
    },
    counts: () => {
      const counted = counts;
      counts = { tokens: 0, lookups: 0, prompts: 0, polls: 0 };
      return counted;
    },
  });
});
