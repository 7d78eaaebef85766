import { describe, expect, it } from 'vitest';
import { Authority, demanding } from '../tls/authority.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { Http2Server } from './http2Server.ts';
import { answerWithout, HttpsServer } from './httpsServer.ts';
import { TestEndpoint } from './testEndpoint.ts';

const SERVERS = new Authority('Servers of the operator');
const CLIENTS = new Authority('Clients of the operator');
const SERVER = SERVERS.issue();
const CLIENT = CLIENTS.issue({ name: 'sim-swap' });

describe('an operator that demands a certificate, and signs its own', () => {
  it.each(['http/1.1', 'h2'] as const)('is asked over %s', async (protocol) => {
    using files = new TemporaryFiles();
    const tls = {
      certificate: files.source('client.pem', CLIENT.cert),
      key: files.source('client.key', CLIENT.key),
      ca: files.source('ca.pem', SERVERS.pem),
    };
    await using server =
      protocol === 'h2'
        ? await Http2Server.start(demanding(SERVER, CLIENTS), ({ stream }) => {
            stream.respond({ ':status': 200 });
            stream.end('{}');
          })
        : await HttpsServer.start(demanding(SERVER, CLIENTS), answerWithout);
    await using client = new TestEndpoint(server.url, { connection: { tls } });
    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
  });
});
