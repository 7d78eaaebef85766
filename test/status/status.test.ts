import { once } from 'node:events';
import { hash } from 'node:crypto';
import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import type { StatusReport } from '../../src/status/statusReport.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { freePort } from '../freePort.ts';
import { answerJson } from '../http/recordingServer.ts';
import { startService, startSimulated, type Service } from '../service.ts';
import { answerNever, pend, WiredOperator } from '../wiredOperator.ts';

const ASK = 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { simSwappedWithin(maxAgeHours: 24) } }';
const NUMBER = '+447700900004';

async function onMainPort(): Promise<Readonly<Record<string, string>>> {
  const port = String(await freePort());
  return { PORT: port, METRICS_PORT: port };
}

async function reportOf({ url }: Service): Promise<StatusReport> {
  const response = await fetch(`${url}/status`);
  expect(response.status).toBe(200);
  return (await response.json()) as StatusReport;
}

/** What a browser is given. */
async function pageOf({ url }: Service): Promise<Response> {
  return fetch(`${url}/status`, {
    headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
  });
}

/** What is said to a request under the name of this host. */
async function statusUnder(host: string, port: string): Promise<number | undefined> {
  const asked = request({ host: '127.0.0.1', port, path: '/status', headers: { host } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('/status shows at a glance', () => {
  it('the service, its operators and what they were asked', async () => {
    await using service = await startSimulated(await onMainPort());
    await service.ask(ASK, { n: [NUMBER] });
    await expect.poll(async () => (await reportOf(service)).service.status).toBe('ready');
    const { operators, refusals } = await reportOf(service);
    expect(operators).toMatchObject([
      {
        name: 'operator',
        flow: '2-legged',
        endpoints: [
          { name: 'token', circuit: 'closed', exchanges: 1, failed: 0 },
          { name: 'retrieve-date', circuit: 'closed', exchanges: 0, failed: 0 },
          { name: 'check', circuit: 'closed', exchanges: 1, failed: 0 },
        ],
        queues: [
          { work: 'retrieve-date', underWay: 0, waiting: 0 },
          { work: 'check', underWay: 0, waiting: 0 },
        ],
      },
    ]);
    expect(refusals).toEqual([]);
  });

  it('what is under way, and on how many connections', async () => {
    const held: (() => void)[] = [];
    await using operator = await WiredOperator.start({
      lookUp: (received, response) => held.push(() => answerNever(received, response)),
    });
    await using service = await startService(operator.url, await onMainPort());
    const asked = service.ask(ASK, { n: [NUMBER, '+447700900003'] });
    await expect.poll(() => held.length).toBe(2);
    const { operators } = await reportOf(service);
    expect(operators[0]?.queues[1]).toEqual({ work: 'check', underWay: 2, waiting: 0 });
    expect(operators[0]?.endpoints[2]?.connections).toEqual({
      http1: 2,
      spare: 0,
      http2: 0,
      streams: 0,
    });
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics.split('\n')).toContain(
      'sim_swap_operator_connections{operator="operator",endpoint="check",protocol="http1"} 2',
    );
    for (const answer of held) answer();
    await asked;
  });

  it('an operator that fails, and why', async () => {
    await using operator = await WiredOperator.start({
      token: (received, response) => answerJson(received, response, {}, 503),
    });
    await using service = await startService(operator.url, await onMainPort());
    const n = Array.from({ length: 30 }, (_, index) => `+4477009003${10 + index}`);
    await service.ask(ASK, { n });
    const { operators, refusals } = await reportOf(service);
    const token = operators[0]?.endpoints[0];
    expect(token).toMatchObject({
      circuit: 'open',
      circuitSince: expect.any(String) as string,
      lastFailure: { outcome: '503' },
    });
    expect(token?.failed).toBe(operator.tokens.length);
    // So many, and no more, of a kind.
    expect(refusals).toHaveLength(10);
    expect(refusals[0]).toMatchObject({
      kind: 'operator',
      operator: 'operator',
      event: 'lookup',
      code: 'OPERATOR_UNAVAILABLE',
      request: expect.stringMatching(/^[A-Za-z0-9]{12}$/) as string,
    });
    const page = await (await pageOf(service)).text();
    expect(page).toContain('<strong>open</strong>');
    expect(page).toContain('circuits open: 1');
  });

  it('consents: requests that wait, and what waiting came to', async () => {
    await using operator = await WiredOperator.start({ token: pend });
    await using service = await startService(operator.url, {
      ...(await onMainPort()),
      OPERATOR_FLOW: '3-legged',
      CONSENT_WAIT_MS: '20000',
    });
    const hangingUp = new AbortController();
    const asked = service.ask(ASK, { n: [NUMBER] }, {}, hangingUp.signal).catch(() => undefined);
    await expect
      .poll(async () => (await reportOf(service)).operators[0]?.consents?.waiting)
      .toBe(1);
    hangingUp.abort();
    await asked;
    await expect
      .poll(async () => (await reportOf(service)).operators[0]?.consents)
      .toMatchObject({ waiting: 0, outcomes: { CONSENT_PENDING: 1 } });
  });

  it('callers who were refused at the door, and questions that a quota stopped', async () => {
    const issuer = await TestIssuer.start();
    await using service = await startSimulated({
      ...(await onMainPort()),
      ...issuer.settings,
      AUDIT_KEY: 'k'.repeat(32),
      AUDIT_LOG: '/dev/null',
      QUOTA_NUMBERS_PER_HOUR: '1',
    });
    await service.ask(ASK, { n: [NUMBER] }, { authorization: 'Bearer forged' });
    const token = await issuer.token({ sub: 'risk', scope: 'sim-swap:read' });
    const headers = { authorization: `Bearer ${token}`, 'x-correlator': 'callers-own-words' };
    await service.ask(ASK, { n: [NUMBER, '+447700900003'] }, headers);
    await issuer.close();
    const { refusals } = await reportOf(service);
    expect(refusals.map(({ kind }) => kind).toSorted()).toEqual(['caller', 'denied']);
    expect(refusals).toContainEqual(
      expect.objectContaining({ kind: 'caller', reason: 'invalid-token' }),
    );
    expect(refusals).toContainEqual(
      expect.objectContaining({ kind: 'denied', event: 'lookup', code: 'RATE_LIMITED' }),
    );
    const all = JSON.stringify(refusals) + (await (await pageOf(service)).text());
    expect(all).not.toMatch(/callers-own-words|risk|7700/);
  });
});

describe('/status as a page', () => {
  it('has a style that its policy knows by its hash, and nothing else that could run or load', async () => {
    await using service = await startSimulated(await onMainPort());
    const response = await pageOf(service);
    const page = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('vary')).toBe('accept');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain(`style-src 'sha256-${hash('sha256', style, 'base64')}'`);
    expect(policy).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|<link|<img|<form|style="|https?:/);
  });

  it.each([
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html', 'text/html'],
    ['application/json;q=0.5, text/html', 'text/html'],
    ['text/html;q=0.5, application/json', 'application/json'],
  ])('is not sent to those who want %s: %s', async (accept, type) => {
    await using service = await startSimulated(await onMainPort());
    const response = await fetch(`${service.url}/status`, { headers: { accept } });
    await response.body?.cancel();
    expect(response.headers.get('content-type')).toContain(type);
  });
});

describe('/status is for those who run the service', () => {
  it('is nowhere unless its port is set', async () => {
    await using service = await startSimulated();
    expect((await service.send('/status')).status).toBe(404);
  });

  it.each(['the port of the service', 'a port of its own'])(
    'on %s is not for a page of another site whose name leads to this machine',
    async (where) => {
      const port = String(await freePort());
      await using _service = await startSimulated({
        PORT: where === 'a port of its own' ? '0' : port,
        METRICS_PORT: port,
      });
      const statuses = await Promise.all(
        ['localhost', '127.0.0.1:80', 'rebound.example'].map((host) => statusUnder(host, port)),
      );
      expect(statuses).toEqual([200, 200, 421]);
    },
  );

  it('takes a token with the scope for it where others reach the port', async () => {
    const issuer = await TestIssuer.start();
    const port = String(await freePort());
    await using service = await startSimulated({
      ...issuer.settings,
      HOST: '0.0.0.0',
      METRICS_PORT: port,
      AUDIT_KEY: 'k'.repeat(32),
      AUDIT_LOG: '/dev/null',
    });
    const look = async (token?: string): Promise<Response> => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(`http://127.0.0.1:${port}/status`, { headers });
      await response.body?.cancel();
      return response;
    };
    expect((await look()).status).toBe(401);
    expect((await look('forged')).status).toBe(401);
    const reader = await look(await issuer.token({ sub: 'risk', scope: 'sim-swap:read' }));
    expect(reader.status).toBe(403);
    expect(reader.headers.get('www-authenticate')).toContain('scope="sim-swap:status"');
    const runner = await look(await issuer.token({ sub: 'ops', scope: 'sim-swap:status' }));
    expect(runner.status).toBe(200);
    // What may scrape is the network's to say.
    const scrape = await fetch(`http://127.0.0.1:${port}/metrics`);
    await scrape.body?.cancel();
    expect(scrape.status).toBe(200);
    expect((await service.send('/status')).status).toBe(404);
    await issuer.close();
  });

  it('takes no other method', async () => {
    await using service = await startSimulated(await onMainPort());
    const head = await fetch(`${service.url}/status`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });
});

test('/livez looks at nothing outside', async () => {
  await using operator = await WiredOperator.start();
  await using service = await startService(operator.url, {
    OPERATOR_FLOW: '3-legged',
    REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    STATE_KEY: 'a'.repeat(64),
  });
  expect((await service.send('/livez')).body).toEqual({ status: 'alive' });
  expect((await service.send('/readyz')).status).toBe(503);
  expect(operator.received).toEqual([]);
});
