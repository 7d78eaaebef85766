import { describe, expect, it } from 'vitest';
import type { TlsSettings } from '../../src/wire/wireSettings.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { Authority } from '../tls/authority.ts';
import type { Certificate } from '../tls/certificate.ts';
import { NO_OPENSSL, OpensslServer } from '../tls/opensslServer.ts';
import { answerWithout, RecordingServer } from './recordingServer.ts';
import { TestEndpoint, text } from './testEndpoint.ts';

const SERVERS = new Authority('Servers of the operator');
const CLIENTS = new Authority('Clients of the operator');
const STRANGERS = new Authority('Another authority');
const SERVER = SERVERS.issue();
const CLIENT = CLIENTS.issue({ name: 'sim-swap' });

const OURS: TlsSettings = {
  certificate: text(CLIENT.cert),
  key: text(CLIENT.key),
  ca: text(SERVERS.pem),
};

const NAMED = { name: 'sim-swap' };
const EXPIRED = { ...NAMED, validDays: [-30, -1] } as const;
const pairOf = ({ cert, key }: Certificate) => ({ certificate: text(cert), key: text(key) });

describe.skipIf(NO_OPENSSL !== undefined)(
  `an operator that refuses our certificate ${NO_OPENSSL ?? ''}`,
  () => {
    describe.each(['http/1.1', 'h2'])('over %s', (protocol) => {
      describe.each(['tls1_2', 'tls1_3'] as const)('by %s', (version) => {
        it.each<[string, TlsSettings]>([
          ['none', { ca: text(SERVERS.pem) }],
          ['one of another authority', { ...OURS, ...pairOf(STRANGERS.issue(NAMED)) }],
          ['one that has expired', { ...OURS, ...pairOf(CLIENTS.issue(EXPIRED)) }],
        ])('is the failed stage where we show %s, and nothing was sent', async (_, tls) => {
          await using server = await OpensslServer.start(SERVER, CLIENTS, { version, protocol });
          const log = new RecordedLog();
          await using client = new TestEndpoint(server.url, { connection: { tls }, log });
          // TLS 1.2 has no alert of its own for it.
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
  const ca = text(SERVERS.pem);
  const serverName = 'api.operator.example';

  it.each<[string, Certificate, TlsSettings, string]>([
    ['of another authority', STRANGERS.issue(), { ca }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['that Node does not trust', SERVER, {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['that has expired', SERVERS.issue({ validDays: [-30, -1] }), { ca }, 'CERT_HAS_EXPIRED'],
    ['of another name', SERVER, { ca, serverName }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('%s is refused before anything is sent', async (_, certificate, tls, code) => {
    await using server = await RecordingServer.start(answerWithout, certificate);
    await using client = new TestEndpoint(server.url, { connection: { tls } });
    expect(await client.post()).toMatchObject({
      fault: { cause: 'connection', sent: false, stage: 'certificate', detail: code },
    });
  });

  it('is requested and verified by the name that is set', async () => {
    const named = SERVERS.issue({ name: serverName });
    await using server = await RecordingServer.start(answerWithout, named);
    const tls = { ca, serverName };
    await using client = new TestEndpoint(server.url, { connection: { tls }, http2: 'never' });
    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    const [connection] = server.connections;
    expect(connection?.socket).toHaveProperty('servername', serverName);
  });

  it('is not accepted before TLS 1.2', async () => {
    const old = {
      ...SERVER,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const;
    await using server = await RecordingServer.start(answerWithout, old);
    await using client = new TestEndpoint(server.url, { connection: { tls: { ca } } });
    expect(await client.post()).toMatchObject({ fault: { sent: false, stage: 'tls' } });
  });
});
