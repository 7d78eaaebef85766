import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { startSimulator, DEMO_CLIENT } from '../../simulator/simulator.ts';
import { TestIssuer } from './testIssuer.ts';
import { listen } from '../listening.ts';

/** A server that counts what reaches it, by whatever method. */
interface Counting extends AsyncDisposable {
  readonly url: string;
  readonly reached: readonly string[];
}

async function count(answer: RequestListener): Promise<Counting> {
  const reached: string[] = [];
  const server = createServer((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.on('connect', (request, socket) => {
    reached.push(`CONNECT ${request.url}`);
    socket.destroy();
  });
  return {
    url: await listen(server),
    reached,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

let issuer: TestIssuer;

beforeAll(async () => {
  issuer = await TestIssuer.start();
});
afterAll(() => issuer.close());

async function ask(url: string): Promise<string> {
  const token = await issuer.token({ scope: 'sim-swap:read' });
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{"query":"{ phoneNumber(e164: \\"+447700900500\\") { simSwappedWithin } }"}',
  });
  return response.text();
}

describe('secrets and numbers go where the settings say, and nowhere else', () => {
  it('a proxy of the environment is asked nothing', async () => {
    await using proxy = await count((_request, response) => response.writeHead(502).end());
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
      expect(await ask(server.url)).toContain('"data":{"phoneNumber":{"simSwappedWithin":false}}');
      expect(proxy.reached).toEqual([]);
    } finally {
      await simulator.close();
    }
  });

  it.each([301, 302, 303, 307, 308])(
    'a redirect by the operator is not followed: %i',
    async (status) => {
      await using elsewhere = await count((_request, response) => response.end('{}'));
      await using operator = await count((_request, response) => {
        response.writeHead(status, { location: `${elsewhere.url}/taken` }).end();
      });
      await using server = await ServerProcess.start(operator.url, issuer.settings);
      expect(await ask(server.url)).toContain('OPERATOR_REFUSED');
      expect(operator.reached).toEqual(['POST /oauth/v1/token']);
      expect(elsewhere.reached).toEqual([]);
    },
  );
});
