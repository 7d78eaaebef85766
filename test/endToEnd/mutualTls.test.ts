import { expect, it } from 'vitest';
import { createKey, claimsAt, sign, AUDIENCE, ISSUER } from '../caller/testIssuer.ts';
import { ConnectProxy, tunnelFor } from '../wire/connectProxy.ts';
import { answerJson, RecordingServer } from '../wire/recordingServer.ts';
import { hurriedClock } from '../support/hurriedClock.ts';
import { entryAt, startServiceOf } from '../support/operatorsFile.ts';
import { Authority, demanding } from '../tls/authority.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { WiredOperator } from '../support/wiredOperator.ts';

const SERVERS = new Authority('Servers of an operator');
const CLIENTS = new Authority('Clients of an operator');
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

it('an operator with broken files answers once they are fixed; the others answer meanwhile', async () => {
  await using operator = await WiredOperator.start({}, TLS);
  await using proxy = await ConnectProxy.start({ manner: tunnelFor(CREDENTIALS) });
  const halfWritten = files.write('half.pem', client.cert.slice(0, 200));
  const way = { url: proxy.url, credentials: { file: credentials } };
  const broken = { ...GOOD, certificate: { file: halfWritten } };
  await using service = await startServiceOf(
    [
      entry('good', '+4477009000', operator.url, { tls: GOOD }),
      entry('proxied', '+4477009001', operator.url, { tls: GOOD, proxy: way }),
      entry('broken', '+4477009002', operator.url, { tls: broken }),
    ],
    {},
    {},
    { clock: hurriedClock },
  );
  const answers = async (): Promise<unknown> => {
    const e164s = ['+447700900001', '+447700900101', '+447700900201'];
    const { data } = await service.ask(ASK, { e164s });
    return data.phoneNumbers.map((one: { simSwappedWithin: unknown }) => one.simSwappedWithin);
  };
  expect(await answers()).toEqual([false, false, null]);
  const warned = service.logged.filter((line) => !line.startsWith('info')).join('\n');
  expect(warned).toMatch(/"operator":"broken".*the certificate file is cut off/);
  expect(warned).not.toMatch(/"operator":"(?:good|proxied)"/);
  const written =
    service.logged.join('\n') + JSON.stringify(operator.received.map(({ headers }) => headers));
  for (const word of [CREDENTIALS, btoa(CREDENTIALS), client.key.split('\n')[1] ?? '?']) {
    expect(written).not.toContain(word);
  }

  files.write('half.pem', client.cert);
  await expect.poll(answers, { timeout: 10_000, interval: 100 }).toEqual([false, false, false]);
});

/** What publishes JSON over TLS, by a certificate of the company's own authority. */
async function publishing(document: () => object): Promise<RecordingServer> {
  return RecordingServer.start((received, response) => answerJson(received, response, document()), {
    cert: SERVER.cert,
    key: SERVER.key,
  });
}

it('everything but operators is reached through the proxy of EGRESS_PROXY_URL', async () => {
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
