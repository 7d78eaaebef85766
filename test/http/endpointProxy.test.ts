import { describe, expect, it } from 'vitest';
import { Authority } from '../tls/authority.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { ConnectProxy, tunnelFor } from './connectProxy.ts';
import { Http2Server } from './http2Server.ts';
import { answerWithout, HttpsServer } from './httpsServer.ts';
import { TestEndpoint } from './testEndpoint.ts';

const SERVERS = new Authority('Servers of the operator');
const SERVER = SERVERS.issue();
const PROXIES = new Authority('Proxies of the company');

describe('an operator behind an egress proxy', () => {
  it.each([
    ['http/1.1', 'http'],
    ['http/1.1', 'https'],
    ['h2', 'http'],
    ['h2', 'https'],
  ] as const)('is asked over %s, by a tunnel of a proxy over %s', async (protocol, scheme) => {
    using files = new TemporaryFiles();
    await using proxy = await ConnectProxy.start({
      manner: tunnelFor('sim-swap:kept between us: two'),
      ...(scheme === 'https' ? { certificate: PROXIES.issue() } : {}),
    });
    await using server =
      protocol === 'h2'
        ? await Http2Server.start(SERVER, ({ stream }) => {
            stream.respond({ ':status': 200 });
            stream.end('{}');
          })
        : await HttpsServer.start(SERVER, answerWithout);
    const connection = {
      tls: { ca: files.source('ca.pem', SERVERS.pem) },
      proxy: {
        url: proxy.url,
        credentials: files.source('proxy', 'sim-swap:kept between us: two\n'),
        ...(scheme === 'https' ? { ca: files.source('proxy-ca.pem', PROXIES.pem) } : {}),
      },
    };
    await using client = new TestEndpoint(server.url, { connection });
    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    expect(proxy.requests.map(({ url }) => url)).toEqual([new URL(server.url).host]);
  });
});
