import { describe, expect, it } from 'vitest';
import type { ConnectionSettings } from '../../src/http/connections/connectionSettings.ts';
import {
  tryConnection,
  type Connected,
  type ConnectionTrial,
} from '../../onboarding/tryConnection.ts';
import type { AlpnProtocol } from '../../src/http/connections/tlsConnector.ts';
import { noFiles } from '../../src/system/fromFiles.ts';
import { systemClock } from '../../src/system/clock.ts';
import { Authority, demanding } from '../tls/authority.ts';
import { NO_OPENSSL, OpensslServer } from '../tls/opensslServer.ts';
import { answering, ConnectProxy, tunnelFor } from '../http/connectProxy.ts';
import { answerByStream, Http2Server } from '../http/http2Server.ts';
import { answerWithout, RecordingServer } from '../http/recordingServer.ts';

const SERVERS = new Authority('Servers of the operator');
const CLIENTS = new Authority('Clients of the operator');
const SERVER = SERVERS.issue({ validDays: [-1, 10] });
const CLIENT = CLIENTS.issue({ validDays: [-1, 20] });

function text(pem: string): { readonly kind: 'text'; readonly text: string } {
  return { kind: 'text', text: pem };
}

const OURS = { certificate: text(CLIENT.cert), key: text(CLIENT.key), ca: text(SERVERS.pem) };

async function tried(
  address: string,
  settings: ConnectionSettings,
  protocols: readonly AlpnProtocol[] = ['h2', 'http/1.1'],
): Promise<ConnectionTrial> {
  const trial = await tryConnection(address, settings, {
    protocols,
    timeoutMs: 2000,
    clock: systemClock,
    watchFiles: noFiles,
  });
  if (trial.kind === 'connected') trial.socket.destroy();
  return trial;
}

function daysTo(ms: number | undefined): number {
  return Math.round(((ms ?? Number.NaN) - Date.now()) / (24 * 3_600_000));
}

describe('a connection that is tried', () => {
  it.each(['http/1.1', 'h2'] as const)('tells what was agreed on, over %s', async (protocol) => {
    const options = demanding(SERVER, CLIENTS);
    await using server =
      protocol === 'h2'
        ? await Http2Server.start(options, (received) => answerByStream(received, {}))
        : await RecordingServer.start(answerWithout, options);
    await using proxy = await ConnectProxy.start({ manner: tunnelFor('user:password') });
    const trial = await tried(server.url, {
      tls: OURS,
      proxy: { url: proxy.url, credentials: text('user:password') },
    });
    expect(trial).toMatchObject({ kind: 'connected', protocol, tlsVersion: 'TLSv1.3' });
    const { serverCertificateEndsMs, clientCertificateEndsMs } = trial as Connected;
    expect(daysTo(serverCertificateEndsMs)).toBe(10);
    expect(daysTo(clientCertificateEndsMs)).toBe(20);
  });

  it.each<[string, ConnectionSettings, object]>([
    [
      'our own files',
      { tls: { ...OURS, key: text(CLIENTS.certificate.key) } },
      { stage: 'files', flaw: 'the certificate is of another key than that of the key file' },
    ],
    ['the certificate', { tls: { ca: text(CLIENTS.pem) } }, { stage: 'certificate' }],
    [
      'the name of the proxy',
      { proxy: { url: 'http://proxy.invalid:3128' } },
      { stage: 'proxy-name', code: 'ENOTFOUND' },
    ],
    [
      'the proxy',
      { proxy: { url: 'http://127.0.0.1:9' } },
      { stage: 'proxy-connection', code: 'ECONNREFUSED' },
    ],
  ])('tells that it broke at %s', async (_, settings, expected) => {
    await using server = await RecordingServer.start(answerWithout, SERVER);
    expect(await tried(server.url, settings)).toMatchObject({ kind: 'failed', ...expected });
  });

  it.each([
    ['the name', 'https://operator.invalid/', { stage: 'name', code: 'ENOTFOUND' }],
    ['the address', 'https://127.0.0.1:9/', { stage: 'connection', code: 'ECONNREFUSED' }],
  ])('tells that it broke at %s', async (_, address, expected) => {
    expect(await tried(address, {})).toMatchObject({ kind: 'failed', ...expected });
  });

  it('tells that the proxy made no tunnel', async () => {
    await using proxy = await ConnectProxy.start({
      manner: answering('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'),
    });
    const trial = await tried('https://127.0.0.1:9/', { proxy: { url: proxy.url } });
    expect(trial).toMatchObject({ stage: 'proxy-tunnel', code: 'PROXY_STATUS_403' });
  });

  it('tells that no TLS is spoken there', async () => {
    await using proxy = await ConnectProxy.start();
    const trial = await tried(proxy.url.replace('http:', 'https:'), {});
    expect(trial).toMatchObject({ kind: 'failed', stage: 'tls' });
  });

  it.skipIf(NO_OPENSSL !== undefined).each(['tls1_2', 'tls1_3'] as const)(
    `tells that our certificate is refused, by %s ${NO_OPENSSL ?? ''}`,
    async (version) => {
      const options = { version, protocol: 'http/1.1' };
      await using server = await OpensslServer.start(SERVER, CLIENTS, options);
      const stranger = SERVERS.issue();
      const tls = { ...OURS, certificate: text(stranger.cert), key: text(stranger.key) };
      expect(await tried(server.url, { tls }, ['http/1.1'])).toMatchObject({
        kind: 'failed',
        stage: 'client-certificate',
      });
    },
  );
});
