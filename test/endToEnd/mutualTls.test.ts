import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKey, claimsAt, sign, AUDIENCE, ISSUER } from '../caller/testIssuer.ts';
import { answering, ConnectProxy, tunnelFor } from '../http/connectProxy.ts';
import { answerJson, RecordingServer } from '../http/recordingServer.ts';
import { hurriedClock } from '../hurriedClock.ts';
import { entryAt, startServiceOf } from '../operatorsFile.ts';
import type { Service } from '../service.ts';
import { Authority, demanding } from '../tls/authority.ts';
import { TemporaryFiles } from '../temporary.ts';
import { WiredOperator } from '../wiredOperator.ts';

const SERVERS = new Authority('Servers of an operator');
const CLIENTS = new Authority('Clients of an operator');
const STRANGERS = new Authority('Another authority');
const SERVER = SERVERS.issue();
const TLS = demanding(SERVER, CLIENTS);
const CREDENTIALS = 'sim-swap:what only the proxy reads';

const ASK = `query ($e164s: [ID!]!) {
  phoneNumbers(e164s: $e164s) { simSwappedWithin(maxAgeHours: 24) }
}`;

const files = new TemporaryFiles();
const client = CLIENTS.issue({ name: 'sim-swap' });
const certificate = files.write('client.pem', client.cert);
const key = files.write('client.key', client.key);
const ca = files.write('ca.pem', SERVERS.pem);
const credentials = files.write('proxy', CREDENTIALS);
const secret = files.write('secret', 'kept-secret-of-the-operator');

const GOOD = { certificate: { file: certificate }, key: { file: key }, ca: { file: ca } };

function entry(name: string, prefix: string, url: string, members: object): object {
  // In a file that stays: it is read again.
  const own = { id: 'sim-swap', secret: { file: secret } };
  return entryAt(url, { name, prefixes: [prefix], client: own, ...members });
}

describe('of several operators that demand certificates', () => {
  let operator: WiredOperator;
  let proxy: ConnectProxy;
  let refusing: ConnectProxy;
  let hanging: ConnectProxy;
  let service: Service;
  beforeAll(async () => {
    operator = await WiredOperator.start({}, TLS);
    proxy = await ConnectProxy.start({ manner: tunnelFor(CREDENTIALS) });
    refusing = await ConnectProxy.start({
      manner: answering('HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\n\r\n<html></html>'),
    });
    hanging = await ConnectProxy.start({ manner: (_, socket) => void socket.resume() });
    const other = CLIENTS.issue();
    const otherKey = files.write('other.key', other.key);
    const halfWritten = files.write('half.pem', client.cert.slice(0, 200));
    const otherCa = files.write('other-ca.pem', STRANGERS.pem);
    const { url } = operator;
    const limits = { timeoutMs: 500 };
    service = await startServiceOf(
      [
        entry('good', '+4477009000', url, { tls: GOOD }),
        entry('proxied', '+4477009001', url, {
          tls: GOOD,
          proxy: { url: proxy.url, credentials: { file: credentials } },
        }),
        entry('mismatched', '+4477009002', url, { tls: { ...GOOD, key: { file: otherKey } } }),
        entry('half-written', '+4477009003', url, {
          tls: { ...GOOD, certificate: { file: halfWritten } },
        }),
        entry('untrusted', '+4477009004', url, { tls: { ...GOOD, ca: { file: otherCa } } }),
        entry('refused', '+4477009005', url, { tls: GOOD, proxy: { url: refusing.url } }),
        entry('hanging', '+4477009006', url, { tls: GOOD, proxy: { url: hanging.url }, limits }),
        entry('unauthorised', '+4477009007', url, { tls: GOOD, proxy: { url: proxy.url } }),
      ],
      {},
      {},
      { clock: hurriedClock },
    );
  });
  afterAll(async () => {
    await service.stop();
    for (const one of [operator, proxy, refusing, hanging]) await one[Symbol.asyncDispose]();
  });

  it('those that can be reached answer, and of each other one the log says by name what is wrong', async () => {
    const e164s = Array.from(
      { length: 8 },
      (_, index) => `+4477009${String(index).padStart(3, '0')}01`,
    );
    const reply = await service.ask(ASK, { e164s });
    const answers = reply.data.phoneNumbers.map(
      ({ simSwappedWithin }: { simSwappedWithin: boolean | null }) => simSwappedWithin,
    );
    expect(answers).toEqual([false, false, null, null, null, null, null, null]);
    expect(reply.codes).toHaveLength(6);
    expect(new Set(reply.codes)).toEqual(new Set(['OPERATOR_UNAVAILABLE', 'OPERATOR_TIMEOUT']));
    await vi.waitFor(() => {
      expect(saidOf('mismatched')).toContain('of another key than that of the key file');
      expect(saidOf('half-written')).toContain('the certificate file is cut off');
      expect(saidOf('untrusted')).toContain('"stage":"certificate"');
      expect(saidOf('refused')).toContain('PROXY_STATUS_403');
      expect(saidOf('hanging')).toContain('"stage":"proxy-tunnel"');
      expect(saidOf('unauthorised')).toContain('PROXY_STATUS_407');
    });
    expect(saidOf('good')).toBe('');
    expect(saidOf('proxied')).toBe('');
  });

  it('no secret is in the log, nor in what the operator hears', () => {
    const written =
      service.logged.join('\n') + JSON.stringify(operator.received.map(({ headers }) => headers));
    for (const word of [CREDENTIALS, btoa(CREDENTIALS), client.key.split('\n')[1] ?? '?']) {
      expect(written).not.toContain(word);
    }
  });

  it('one serves once its files are fixed', async () => {
    files.write('half.pem', client.cert);
    await vi.waitFor(
      async () => {
        const { data } = await service.ask(ASK, { e164s: ['+447700900302'] });
        expect(data.phoneNumbers[0].simSwappedWithin).toBe(false);
      },
      { timeout: 10_000, interval: 100 },
    );
  });

  function saidOf(name: string): string {
    return service.logged
      .filter((line) => !line.startsWith('info') && line.includes(`"operator":"${name}"`))
      .join('\n');
  }
});

/** What publishes JSON over TLS, by a certificate of the company's own authority. */
async function publishing(document: () => object): Promise<RecordingServer> {
  return RecordingServer.start((received, response) => answerJson(received, response, document()), {
    cert: SERVER.cert,
    key: SERVER.key,
  });
}

it('through the proxy of EGRESS_PROXY_URL all is reached that is not an operator', async () => {
  const issuerKey = await createKey('ES256');
  await using operator = await WiredOperator.start({}, TLS);
  await using issuer = await publishing(() => ({ keys: [issuerKey.publicJwk] }));
  await using directory = await publishing(() => ({ operator: 'found' }));
  await using collector = await publishing(() => ({}));
  await using authorization: RecordingServer = await publishing(() => ({
    issuer: authorization.url,
    token_endpoint: `${operator.url}/token`,
  }));
  await using proxy = await ConnectProxy.start({ manner: tunnelFor(CREDENTIALS) });
  const discovery = { issuer: authorization.url, hosts: [new URL(operator.url).host] };
  const found = entry('found', '+1', operator.url, { tls: GOOD, authUrl: undefined, discovery });
  const settings = {
    EGRESS_PROXY_URL: proxy.url,
    EGRESS_PROXY_CREDENTIALS_FILE: credentials,
    EGRESS_CA_FILE: ca,
    JWT_JWKS_URL: `${issuer.url}/jwks`,
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  const service = await startServiceOf([found], settings, { directory: { url: directory.url } });
  const token = await sign(issuerKey, claimsAt(Date.now(), { scope: 'sim-swap:read' }));
  const headers = { authorization: `Bearer ${token}` };
  const reply = await service.ask(ASK, { e164s: ['+447700900001'] }, headers);
  await service.stop();
  expect(reply.data.phoneNumbers).toEqual([{ simSwappedWithin: false }]);
  expect(issuer.received.map(({ path }) => path)).toEqual(['/jwks']);
  expect(collector.received.map(({ path }) => path)).toContain('/v1/traces');
  // The operator has its own way, which is not the proxy's.
  const hosts = [issuer, directory, authorization, collector].map(({ url }) => new URL(url).host);
  expect(new Set(proxy.requests.map(({ url }) => url))).toEqual(new Set(hosts));
});
