import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formOf } from '../support/operatorBooks.ts';

// An operator without faults, in a process of its own, so that a crowd's replies are not late because of it. Owners consent
// after a second. Every seventh line has swapped.

export interface CrowdCounts {
  readonly lookups: number;
  /** How often each owner was prompted. */
  readonly prompts: Readonly<Record<string, number>>;
  /** Prompts while the number's last consent was alive. */
  readonly secondPrompts: number;
}

/** Whether its line swapped within any window. */
function isSwapped(number: string): boolean {
  return Number(number.slice(1)) % SWAPPED_EVERY === 0;
}

const SWAPPED_EVERY = 7;
const OWNER_MS = 1000;
const CONSENT_SECONDS = 120;
const POLL_SECONDS = 2;
const ISSUED = { token_type: 'Bearer', expires_in: 60 };

const [, , replyMs = '0'] = process.argv;
const tokens = new Map<string, string>();
const consents = new Map<string, { readonly number: string; readonly promptedAtMs: number }>();
const living = new Set<string>();
const prompts = new Map<string, number>();
let lookups = 0;
let secondPrompts = 0;
let issued = 0;

function replyTo(path: string, authorization: string, body: string): readonly [number, object] {
  const id = `${(issued += 1)}`;
  switch (path) {
    case '/openIDConnectCIBA/v1/bc-authorize': {
      const number = numberIn(body, 'login_hint');
      if (living.has(number)) secondPrompts += 1;
      living.add(number);
      prompts.set(number, (prompts.get(number) ?? 0) + 1);
      consents.set(id, { number, promptedAtMs: performance.now() });
      return [200, { auth_req_id: id, expires_in: CONSENT_SECONDS, interval: POLL_SECONDS }];
    }
    case '/openIDConnectCIBA/v1/token': {
      const polled = formOf({ path, headers: {}, body }).get('auth_req_id') ?? '';
      const consent = consents.get(polled);
      if (consent === undefined) return [400, { error: 'invalid_grant' }];
      if (performance.now() < consent.promptedAtMs + OWNER_MS) {
        return [400, { error: 'authorization_pending' }];
      }
      consents.delete(polled);
      living.delete(consent.number);
      tokens.set(id, consent.number);
      return [200, { access_token: id, ...ISSUED }];
    }
    case '/oauth/v1/token':
      tokens.set(id, numberIn(body, 'username'));
      return [200, { access_token: id, ...ISSUED }];
    default: {
      const token = authorization.slice('Bearer '.length);
      const number = tokens.get(token);
      if (number === undefined || !path.endsWith('/check')) return [401, {}];
      tokens.delete(token);
      lookups += 1;
      return [200, { swapped: isSwapped(number) }];
    }
  }
}

function numberIn(body: string, member: string): string {
  const named = formOf({ path: '', headers: {}, body }).get(member) ?? '';
  return named.replace(/^tel:/, '');
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    const { headers, url = '' } = request;
    const [status, reply] = replyTo(url, headers.authorization ?? '', body);
    const correlator = String(headers['x-correlator']);
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-correlator': correlator,
    });
    setTimeout(() => response.end(JSON.stringify(reply)), Number(replyMs));
  });
});
server.listen(0, '127.0.0.1', 4096, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on('message', () => {
  const counts: CrowdCounts = { lookups, prompts: Object.fromEntries(prompts), secondPrompts };
  process.send?.(counts);
});
process.on('disconnect', () => process.exit());
