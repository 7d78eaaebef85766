import { createPrivateKey } from 'node:crypto';
import type { TlsOptions } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { TlsSettings } from '../../src/http/connections/connectionSettings.ts';
import { RecordedLog } from '../recordedLog.ts';
import { Authority, demanding } from '../tls/authority.ts';
import type { Certificate } from '../tls/certificate.ts';
import { NO_OPENSSL, OpensslServer } from '../tls/opensslServer.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { answerByStream, Http2Server } from './http2Server.ts';
import { answerWithout, HttpsServer } from './httpsServer.ts';
import { TestEndpoint } from './testEndpoint.ts';

const SERVERS = new Authority('Servers of the operator');
const CLIENTS = new Authority('Clients of the operator');
const STRANGERS = new Authority('Another authority');
const SERVER = SERVERS.issue();
const CLIENT = CLIENTS.issue({ name: 'sim-swap' });

const PROTOCOLS = ['http/1.1', 'h2'] as const;

/** A server of the protocol, how many requests it has read, and how to end it. */
async function startServer(
  protocol: (typeof PROTOCOLS)[number],
  options: Certificate & TlsOptions,
): Promise<AsyncDisposable & { readonly url: string; readonly requests: () => number }> {
  if (protocol === 'h2') {
    const server = await Http2Server.start(options, (received) => answerByStream(received, {}));
    const requests = (): number => server.received.length;
    return {
      url: server.url,
      requests,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }
  const server = await HttpsServer.start(options, answerWithout);
  const requests = (): number => server.connections.reduce((sum, one) => sum + one.requests, 0);
  return { url: server.url, requests, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function text(pem: string): { readonly kind: 'text'; readonly text: string } {
  return { kind: 'text', text: pem };
}

const OURS: TlsSettings = {
  certificate: text(CLIENT.cert),
  key: text(CLIENT.key),
  ca: text(SERVERS.pem),
};

describe.each(PROTOCOLS)(
  'over %s, an operator that demands a certificate and signs its own',
  (protocol) => {
    it('is asked with what the files hold', async () => {
      using files = new TemporaryFiles();
      const tls = {
        certificate: files.source('client.pem', CLIENT.cert),
        key: files.source('client.key', CLIENT.key),
        ca: files.source('ca.pem', SERVERS.pem),
      };
      await using server = await startServer(protocol, demanding(SERVER, CLIENTS));
      await using client = new TestEndpoint(server.url, { connection: { tls } });
      expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    });

    it('is asked with a key that a passphrase opens', async () => {
      using files = new TemporaryFiles();
      const key = createPrivateKey(CLIENT.key).export({
        type: 'pkcs8',
        format: 'pem',
        cipher: 'aes-256-cbc',
        passphrase: 'open it',
      });
      const passphrase = files.source('passphrase', 'open it\n');
      const tls = { ...OURS, key: text(key.toString()), passphrase };
      await using server = await startServer(protocol, demanding(SERVER, CLIENTS));
      await using client = new TestEndpoint(server.url, { connection: { tls } });
      expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    });
  },
);

const STRANGER = STRANGERS.issue({ name: 'sim-swap' });
const EXPIRED = CLIENTS.issue({ name: 'sim-swap', validDays: [-30, -1] });

describe.skipIf(NO_OPENSSL !== undefined)(
  `an operator that refuses ours ${NO_OPENSSL ?? ''}`,
  () => {
    describe.each(PROTOCOLS)('over %s', (protocol) => {
      describe.each(['tls1_2', 'tls1_3'] as const)('by %s', (version) => {
        it.each<[string, TlsSettings]>([
          ['none', { ca: text(SERVERS.pem) }],
          [
            'one of another authority',
            { ...OURS, certificate: text(STRANGER.cert), key: text(STRANGER.key) },
          ],
          [
            'one that has expired',
            { ...OURS, certificate: text(EXPIRED.cert), key: text(EXPIRED.key) },
          ],
        ])('says so where we show %s, and has read nothing', async (_, tls) => {
          await using server = await OpensslServer.start(SERVER, CLIENTS, { version, protocol });
          const log = new RecordedLog();
          await using client = new TestEndpoint(server.url, { connection: { tls }, log });
          // Before TLS 1.3 there is no alert of its own for it.
          const isMissing = tls.certificate === undefined && version === 'tls1_2';
          const stage = isMissing ? 'tls' : 'client-certificate';
          for (let exchange = 1; exchange <= 3; exchange += 1) {
            expect(await client.post()).toMatchObject({
              fault: { cause: 'connection', sent: false, stage },
            });
          }
          expect(server.output).not.toContain('exchange-');
          expect(log.troubles.filter(({ message }) => message.includes('HTTP/2'))).toEqual([]);
        });
      });
    });
  },
);

describe('the certificate of an operator', () => {
  it.each<[string, Certificate, TlsSettings, string]>([
    [
      'of an authority that is not ours',
      STRANGERS.issue(),
      { ca: text(SERVERS.pem) },
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    ['that Node does not trust', SERVER, {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    [
      'that has expired',
      SERVERS.issue({ validDays: [-30, -1] }),
      { ca: text(SERVERS.pem) },
      'CERT_HAS_EXPIRED',
    ],
    [
      'of another name',
      SERVER,
      { ca: text(SERVERS.pem), serverName: 'api.operator.example' },
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
  ])('%s ends it before anything is sent', async (_, certificate, tls, code) => {
    await using server = await HttpsServer.start(certificate, answerWithout);
    await using client = new TestEndpoint(server.url, { connection: { tls } });
    expect(await client.post()).toMatchObject({
      fault: { cause: 'connection', sent: false, stage: 'certificate', detail: code },
    });
  });

  it('is asked for by the name that is set, and must be for it', async () => {
    const named = SERVERS.issue({ name: 'api.operator.example' });
    await using server = await HttpsServer.start(named, answerWithout);
    const tls = { ca: text(SERVERS.pem), serverName: 'api.operator.example' };
    await using client = new TestEndpoint(server.url, { connection: { tls }, http2: 'never' });
    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    expect(server.connections[0]?.socket.servername).toBe('api.operator.example');
  });

  it('means nothing by TLS before 1.2', async () => {
    const old = {
      ...SERVER,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const;
    await using server = await HttpsServer.start(old, answerWithout);
    const tls = { ca: text(SERVERS.pem) };
    await using client = new TestEndpoint(server.url, { connection: { tls } });
    expect(await client.post()).toMatchObject({ fault: { sent: false, stage: 'tls' } });
  });
});
