import { afterAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { startSimulator, DEMO_CLIENT } from '../../simulator/simulator.ts';
import { RecordingServer } from '../http/recordingServer.ts';
import { startService, type Service } from '../service.ts';
import { TestIssuer } from './testIssuer.ts';

const issuer = await TestIssuer.start();
afterAll(() => issuer.close());

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
