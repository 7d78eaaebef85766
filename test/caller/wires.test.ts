import { setInterval } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { startSimulator, DEMO_CLIENT } from '../../simulator/simulator.ts';
import { RecordingServer } from '../wire/recordingServer.ts';
import { startService, type Service } from '../support/service.ts';
import { claimsAt, createKey, sign, TestIssuer } from './testIssuer.ts';

const issuer = await TestIssuer.start();
afterAll(() => issuer.close());
const [next, foreign] = await Promise.all([createKey('ES256', 'next'), createKey('ES256', 'no')]);

async function ask(server: Pick<Service, 'ask'>): Promise<string> {
  const token = await issuer.token({ scope: 'sim-swap:read' });
  const query = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';
  return (await server.ask(query, {}, { authorization: `Bearer ${token}` })).text;
}

describe('secrets and numbers go only where the settings say', () => {
  it('a proxy of the environment gets nothing', async () => {
    await using proxy = await RecordingServer.start((_, response) => response.writeHead(502).end());
    const simulator = await startSimulator({ port: 0 });
    try {
      await using server = await ServerProcess.start(simulator.authUrl, {
        ...issuer.settings,
        OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
        OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
        OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
        NODE_USE_ENV_PROXY: '1',
        HTTP_PROXY: proxy.url,
        HTTPS_PROXY: proxy.url,
        http_proxy: proxy.url,
        https_proxy: proxy.url,
        NO_PROXY: '',
      });
      expect(await ask(server)).toContain('"data":{"phoneNumber":{"simSwappedWithin":false}}');
      expect(proxy.connections).toEqual([]);
    } finally {
      await simulator.close();
    }
  });

  it('a redirect by the operator is not followed', async () => {
    const statuses = [301, 302, 303, 307, 308];
    await using elsewhere = await RecordingServer.start((_, response) => response.end('{}'));
    await using operator = await RecordingServer.start((_, response) => {
      const location = `${elsewhere.url}/taken`;
      response.writeHead(statuses[operator.received.length - 1] ?? 0, { location }).end();
    });
    await using service = await startService(operator.url, issuer.settings);
    for (const _ of statuses) expect(await ask(service)).toContain('OPERATOR_REFUSED');
    const paths = operator.received.map(({ path }) => path);
    expect(paths).toEqual(statuses.map(() => '/oauth/v1/token'));
    expect(elsewhere.connections).toEqual([]);
  });
});

describe('the keys of an issuer', () => {
  it('change under load, while a forger who names a known client names 100 new ids a second', async () => {
    const rotating = await TestIssuer.start();
    await using service = await startService('http://127.0.0.1:1', rotating.settings);
    const statusOf = async (token: string): Promise<number> =>
      (await service.ask('{ __typename }', {}, { authorization: `Bearer ${token}` })).status;
    const refusedAfterMs: number[] = [];
    const unknown: Promise<number>[] = [];
    const valid: Promise<unknown>[] = [];
    const old = rotating.keys;
    expect(await statusOf(await rotating.token())).toBe(200);
    const begunAtMs = performance.now();
    let rotatedAtMs = Number.POSITIVE_INFINITY;
    for await (const _ of setInterval(10)) {
      const nowMs = performance.now();
      if (nowMs > begunAtMs + 1500 && rotatedAtMs > nowMs) {
        rotating.keys = [next, ...old];
        rotatedAtMs = nowMs;
      }
      if (nowMs > rotatedAtMs + 4000) break;
      const claims = claimsAt(Date.now(), { jti: `forged ${nowMs}` });
      unknown.push(sign(foreign, claims, { kid: `${nowMs}` }).then(statusOf));
      const token = rotating.token({ jti: `${nowMs}` });
      const note = (status: number): unknown =>
        status === 200 || refusedAfterMs.push(nowMs - rotatedAtMs);
      valid.push(token.then(statusOf).then(note));
    }
    await Promise.all(valid);
    const unknownStatuses = new Set(await Promise.all(unknown));
    const tookSeconds = (performance.now() - begunAtMs) / 1000;
    await rotating.close();

    // A second, and a fetch between the requests of a busy machine.
    expect(Math.max(...refusedAfterMs, 0)).toBeLessThan(3000);
    expect(unknownStatuses).toEqual(new Set([401]));
    expect(rotating.fetches).toBeLessThanOrEqual(2 + tookSeconds);
  });

  it('are kept while the issuer publishes none, and a token with another is 503', async () => {
    const emptied = await TestIssuer.start();
    await using service = await startService('http://127.0.0.1:1', emptied.settings);
    const replyTo = async (token: string) =>
      service.ask('{ __typename }', {}, { authorization: `Bearer ${token}` });
    const good = await emptied.token();
    expect((await replyTo(good)).status).toBe(200);
    const [{ keys }] = [emptied];
    emptied.keys = [];
    const token = sign(next, claimsAt(Date.now()));
    await expect.poll(async () => (await replyTo(await token)).status).toBe(503);
    expect((await replyTo(await token)).headers.get('retry-after')).toBe('5');
    expect((await replyTo(good)).status).toBe(200);
    emptied.keys = [...keys, next];
    await expect.poll(async () => (await replyTo(await token)).status).toBe(200);
    await emptied.close();
  });
});
