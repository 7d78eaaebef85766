import { once } from 'node:events';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { createSecureServer, type Http2ServerRequest } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Certificate } from '../../test/tls/certificate.ts';
import { answer } from '../processes/conversation.ts';
import { DEFAULT_BEHAVIOUR, type OperatorBehaviour } from './behaviour.ts';
import { Traffic } from './traffic.ts';
import { WIRE_NAMES, WIRES, type ServerAddress, type Wire, type WireName } from './wires.ts';

// The operator, as lean as it can be: its cost is no contestant's figure, but it shares the machine. A token
// works once and for its own number, so no contestant can save on them.

const DAY_MS = 24 * 3_600_000;
const LAST_SWAP_HOURS_AGO = 10 * 24;
const ACTIVATED_MS = Date.now() - 3650 * DAY_MS;
const SWAPPED_MS = Date.now() - LAST_SWAP_HOURS_AGO * 3_600_000;

/** As many as common servers and load balancers allow. */
const MAX_STREAMS = 128;
const BACKLOG = 4096;
const KEPT = { keepAliveTimeout: 600_000, connectionsCheckingInterval: 60_000 };

let behaviour: OperatorBehaviour = DEFAULT_BEHAVIOUR;
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
/** A token that was issued for another number. */
const MISMATCH: Reply = { status: 403, body: '{"status":403,"code":"INVALID_TOKEN_CONTEXT"}' };
const REFUSED: Reply = { status: 401, body: '{"status":401,"code":"UNAUTHENTICATED"}' };

function reply(traffic: Traffic, path: string, authorization: string, body: string): Reply {
  switch (path) {
    case '/oauth/v1/token':
      traffic.count('tokens');
      return issue(formMember(body, 'username'));
    case '/openIDConnectCIBA/v1/bc-authorize': {
      traffic.count('prompts');
      const id = `consent-${++issued}`;
      consents.set(id, formMember(body, 'login_hint'));
      const interval = behaviour.intervalSeconds;
      return {
        status: 200,
        body: `{"auth_req_id":"${id}","expires_in":120,"interval":${interval}}`,
      };
    }
    case '/openIDConnectCIBA/v1/token': {
      traffic.count('polls');
      const id = formMember(body, 'auth_req_id');
      const number = consents.get(id);
      consents.delete(id);
      return number === undefined ? REFUSED : issue(number);
    }
    case '/sim-swap/v1/check':
      traffic.count('lookups');
      return lookUp(authorization, body, (isSwapped, { maxAge = 0 }) => {
        return `{"swapped":${isSwapped && maxAge > LAST_SWAP_HOURS_AGO}}`;
      });
    case '/sim-swap/v1/retrieve-date':
      traffic.count('lookups');
      return lookUp(authorization, body, (isSwapped) => {
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

/** What a lookup asks; the number is left out where its token names it. */
interface Asked {
  readonly phoneNumber?: string;
  readonly maxAge?: number;
}

function lookUp(
  authorization: string,
  body: string,
  answered: (isSwapped: boolean, asked: Asked) => string,
): Reply {
  const token = authorization.slice('Bearer '.length);
  const number = tokens.get(token);
  if (number === undefined) return REFUSED;
  tokens.delete(token);
  const asked = JSON.parse(body) as Asked;
  if (asked.phoneNumber !== undefined && asked.phoneNumber !== `+${number}`) return MISMATCH;
  if (behaviour.refusesLookups) return NOT_FOUND;
  const { swappedEvery } = behaviour;
  const isSwapped = swappedEvery > 0 && Number(number.slice(-3)) % swappedEvery === 0;
  return { status: 200, body: answered(isSwapped, asked) };
}

function formMember(form: string, name: string): string {
  const start = form.indexOf(`${name}=`) + name.length + 1;
  const end = form.indexOf('&', start);
  return decodeURIComponent(form.slice(start, end < 0 ? undefined : end));
}

type AnyRequest = IncomingMessage | Http2ServerRequest;
/** What `node:http` and `node:http2` answer by alike. */
interface AnyResponse {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  end(body: string): unknown;
}

/** Answers what reaches one server. */
function serving({ echoes }: Wire, traffic: () => Traffic) {
  const respond = (request: AnyRequest, response: AnyResponse, asked: string): void => {
    const { headers, url = '' } = request;
    const { status, body } = reply(traffic(), url, headers.authorization ?? '', asked);
    const correlator = headers['x-correlator'];
    const isEchoed = url.startsWith('/sim-swap/') ? echoes.lookups : echoes.tokens;
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': body.length,
      ...(isEchoed && typeof correlator === 'string' ? { 'x-correlator': correlator } : {}),
    });
    response.end(body);
  };
  return (request: AnyRequest, response: AnyResponse): void => {
    traffic().use(request.socket.remotePort);
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      if (behaviour.hopMs === 0) respond(request, response, body);
      else setTimeout(respond, behaviour.hopMs, request, response, body);
    });
  };
}

/** A server of the operator's, and what reaches it. */
interface Opened {
  readonly address: ServerAddress;
  readonly traffic: Traffic;
}

async function open(wire: Wire, certificate: Certificate): Promise<Opened> {
  const server = createServerFor(wire, certificate, () => traffic);
  const traffic = new Traffic(server);
  server.listen(0, '127.0.0.1', BACKLOG);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { address: { protocol: wire.protocol === 'HTTP/1.1' ? 'http' : 'https', port }, traffic };
}

function createServerFor(wire: Wire, certificate: Certificate, traffic: () => Traffic): Server {
  const serve = serving(wire, traffic);
  switch (wire.protocol) {
    case 'HTTP/1.1':
      return createServer(KEPT, serve);
    case 'HTTP/1.1 over TLS':
      return createTlsServer({ ...KEPT, ...certificate }, serve);
    case 'HTTP/2 over TLS': {
      const settings = { maxConcurrentStreams: MAX_STREAMS };
      return createSecureServer({ ...certificate, allowHTTP1: true, settings }, serve);
    }
  }
}

let servers: Readonly<Record<WireName, Opened>> | undefined;

function opened(): Readonly<Record<WireName, Opened>> {
  if (servers === undefined) throw new Error('the operator has no servers yet');
  return servers;
}

answer({
  open: async (certificate: Certificate) => {
    const all = await Promise.all(
      WIRE_NAMES.map(async (name) => [name, await open(WIRES[name], certificate)] as const),
    );
    servers = Object.fromEntries(all) as Record<WireName, Opened>;
    return Object.fromEntries(all.map(([name, { address }]) => [name, address]));
  },
  behave: (wanted: OperatorBehaviour) => {
    behaviour = wanted;
  },
  counts: (name: WireName) => opened()[name].traffic.take(),
});
