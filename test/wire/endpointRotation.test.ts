import type { TLSSocket } from 'node:tls';
import { expect, it, vi } from 'vitest';
import type { Exchange } from '../../src/wire/exchange.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { TestClock } from '../support/testClock.ts';
import { Authority, demanding } from '../tls/authority.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { ConnectProxy, tunnelFor, type ProxyManner } from './connectProxy.ts';
import { answerByStream, Http2Server } from './http2Server.ts';
import { answerJson, answerWithout, RecordingServer } from './recordingServer.ts';
import { AMPLE_MS, isReply, TestEndpoint } from './testEndpoint.ts';

const SERVERS = new Authority('Servers of the operator');
const CLIENTS = new Authority('Clients of the operator');
const SERVER = SERVERS.issue();

/** A client with its files. */
class Client implements AsyncDisposable {
  readonly clock = new TestClock();
  readonly log = new RecordedLog();
  readonly endpoint: TestEndpoint;
  readonly #files = new TemporaryFiles();

  constructor(url: string, proxyUrl?: string) {
    const credentials = this.#files.source('proxy', 'user:first');
    const connection = {
      tls: {
        certificate: this.#files.source('tls.crt', ''),
        key: this.#files.source('tls.key', ''),
        ca: this.#files.source('ca.crt', SERVERS.pem),
      },
      ...(proxyUrl === undefined ? {} : { proxy: { url: proxyUrl, credentials } }),
    };
    this.rotate('client-1');
    this.endpoint = new TestEndpoint(url, { connection, log: this.log, fileClock: this.clock });
  }

  /** Writes a certificate of this name, and its key. */
  rotate(name: string): void {
    const { cert, key } = CLIENTS.issue({ name });
    this.write('tls.crt', cert);
    this.write('tls.key', key);
  }

  write(name: string, text: string): void {
    this.#files.write(name, text);
  }

  /** Advances the clock of the files until the log has the message so many times. */
  async reads(times: number, message: string): Promise<void> {
    await vi.waitUntil(
      async () => {
        await this.clock.advance(500);
        return this.log.lines.filter((line) => line.message.includes(message)).length === times;
      },
      { timeout: AMPLE_MS, interval: 2 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endpoint[Symbol.asyncDispose]();
  }
}

const READ_AGAIN = 'read again: the new contents';

function nameOf(socket: TLSSocket): string {
  return String(socket.getPeerCertificate().subject.CN);
}

type Kind = 'fresh connections' | 'kept connections' | 'HTTP/2';

/** A server that records the name in the client certificate of each request. */
async function startServer(kind: Kind, certificate = SERVER) {
  const names: string[] = [];
  const options = demanding(certificate, CLIENTS);
  const server =
    kind === 'HTTP/2'
      ? await Http2Server.start(options, (received) => {
          names.push(nameOf(received.session.socket as TLSSocket));
          setTimeout(() => answerByStream(received, {}), 5);
        })
      : await RecordingServer.start((received, response) => {
          names.push(nameOf(received.connection.socket as TLSSocket));
          const answer = kind === 'kept connections' ? answerJson : answerWithout;
          setTimeout(() => answer(received, response, {}), 5);
        }, options);
  return Object.assign(server, { names });
}

/** Keeps so many exchanges under way; returns how to stop. */
function keepPosting(client: TestEndpoint, size: number): () => Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  const stopping = new AbortController();
  const posting = Array.from({ length: size }, async () => {
    while (!stopping.signal.aborted) exchanges.push(await client.post());
  });
  return async () => {
    stopping.abort();
    await Promise.all(posting);
    return exchanges;
  };
}

it.each<[Kind, string]>([
  ['fresh connections', 'through a proxy'],
  ['kept connections', 'directly'],
  ['HTTP/2', 'directly'],
])(
  'over %s, %s, rotating the certificate fails no exchange',
  { timeout: AMPLE_MS },
  async (kind, way) => {
    await using proxy = await ConnectProxy.start({ manner: tunnelFor('user:first') });
    await using server = await startServer(kind);
    await using client = new Client(server.url, way === 'directly' ? undefined : proxy.url);
    const stop = keepPosting(client.endpoint, 10);
    for (const round of [2, 3]) {
      client.rotate(`client-${round}`);
      await client.reads(round - 1, READ_AGAIN);
      const before = server.names.length;
      const isReached = () => server.names.length > before + 30;
      await vi.waitUntil(isReached, { timeout: AMPLE_MS, interval: 2 });
      // At most ten were under way with the old certificate.
      const late = server.names.slice(before + 10, before + 30);
      expect(new Set(late)).toEqual(new Set([`client-${round}`]));
    }
    const exchanges = await stop();
    expect(exchanges.filter((one) => !isReply(one))).toEqual([]);
    expect(client.log.troubles).toEqual([]);
  },
);

const NEXT = new Authority('Next servers of the operator');
const [BY_FIRST, BY_SECOND] = [tunnelFor('user:first'), tunnelFor('user:second')];

it.each<[Kind, string, string, Authority, ProxyManner]>([
  ['kept connections', 'ca.crt', NEXT.pem, NEXT, BY_FIRST],
  ['HTTP/2', 'ca.crt', NEXT.pem, NEXT, BY_FIRST],
  ['HTTP/2', 'proxy', 'user:second', SERVERS, BY_SECOND],
])('over %s, what fails to connect by an old %s begins again', async (kind, name, ...row) => {
  const [text, authority, manner] = row;
  const held: (() => void)[] = [];
  const hold: ProxyManner = (...asked) => void held.push(() => manner(...asked));
  await using proxy = await ConnectProxy.start({ manner: hold });
  await using server = await startServer(kind, authority.issue());
  await using client = new Client(server.url, proxy.url);
  const posting = client.endpoint.post();
  await vi.waitUntil(() => held.length > 0, { timeout: AMPLE_MS, interval: 2 });
  client.write(name, text);
  await client.reads(1, READ_AGAIN);
  proxy.manner = manner;
  for (const release of held) release();
  expect(await posting).toMatchObject({ kind: 'reply' });
  expect(client.log.troubles).toEqual([]);
});

it('files that cannot be used fail no exchange', async () => {
  await using server = await startServer('fresh connections');
  await using client = new Client(server.url);
  const stop = keepPosting(client.endpoint, 10);
  client.write('tls.crt', '-----BEGIN CERTIFICATE-----\nMIIB');
  await client.reads(1, 'stay in use');
  client.write('ca.crt', '<html></html>');
  await client.reads(2, 'stay in use');
  client.rotate('client-2');
  await client.reads(3, 'stay in use');
  client.write('ca.crt', SERVERS.pem);
  await client.reads(1, READ_AGAIN);
  expect(await client.endpoint.post()).toMatchObject({ kind: 'reply' });
  expect((await stop()).filter((one) => !isReply(one))).toEqual([]);
  expect(server.names.at(-1)).toBe('client-2');
});

it('rotated credentials of a proxy are used from then on', async () => {
  await using proxy = await ConnectProxy.start({ manner: tunnelFor('user:first') });
  await using server = await startServer('fresh connections');
  await using client = new Client(server.url, proxy.url);
  expect(await client.endpoint.post()).toMatchObject({ kind: 'reply' });
  proxy.manner = tunnelFor('user:second');
  expect(await client.endpoint.post()).toMatchObject({ fault: { detail: 'PROXY_STATUS_407' } });
  client.write('proxy', 'user:second\n');
  await client.reads(1, READ_AGAIN);
  expect(await client.endpoint.post()).toMatchObject({ kind: 'reply' });
});

it('a withdrawn authority is no longer trusted, although sessions could be resumed', async () => {
  await using server = await startServer('fresh connections');
  await using client = new Client(server.url);
  for (let exchange = 0; exchange < 3; exchange += 1) await client.endpoint.post();
  client.write('ca.crt', CLIENTS.pem);
  await client.reads(1, READ_AGAIN);
  expect(await client.endpoint.post()).toMatchObject({
    fault: { sent: false, stage: 'certificate' },
  });
});
