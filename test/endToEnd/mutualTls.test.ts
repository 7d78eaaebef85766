import type { ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKey, claimsAt, sign, AUDIENCE, ISSUER } from '../caller/testIssuer.ts';
import { answering, ConnectProxy, tunnelFor } from '../http/connectProxy.ts';
import { answerJson, RecordingServer, type Received } from '../http/recordingServer.ts';
import { hurriedClock } from '../hurriedClock.ts';
import { entryAt, startServiceOf } from '../operatorsFile.ts';
import { startService, type Service } from '../service.ts';
import { Authority, demanding } from '../tls/authority.ts';
import { TemporaryFiles } from '../temporary.ts';
import { acknowledge, grant, pend, WiredOperator } from '../wiredOperator.ts';

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

describe('a consent under way', () => {
  it('goes on with the certificate that takes the place of the first, with one prompt', async () => {
    let isGranted = false;
    const names: string[] = [];
    const note = ({ connection }: Received): void => {
      const { socket } = connection;
      names.push(String((socket as TLSSocket).getPeerCertificate().subject.CN));
    };
    const script = {
      authorize: (received: Received, response: ServerResponse) => {
        note(received);
        acknowledge(received, response);
      },
      token: (received: Received, response: ServerResponse) => {
        note(received);
        (isGranted ? grant : pend)(received, response);
      },
    };
    await using operator = await WiredOperator.start(script, TLS);
    const own = {
      cert: files.write('own.pem', client.cert),
      key: files.write('own.key', client.key),
    };
    await using service = await startService(
      operator.url,
      {
        OPERATOR_FLOW: '3-legged',
        OPERATOR_TLS_CERTIFICATE_FILE: own.cert,
        OPERATOR_TLS_KEY_FILE: own.key,
        OPERATOR_TLS_CA_FILE: ca,
      },
      { clock: hurriedClock },
    );
    // By its clock patience is short: it is asked again, as clients do.
    const askUntil = async (isDone: (answer: boolean | null) => boolean): Promise<void> => {
      await vi.waitUntil(
        async () => {
          const { data } = await service.ask(ASK, { e164s: ['+447700900001'] });
          return isDone(data.phoneNumbers[0].simSwappedWithin);
        },
        { timeout: 20_000, interval: 20 },
      );
    };
    await askUntil(() => names.length > 1);
    const next = CLIENTS.issue({ name: 'sim-swap-next' });
    files.write('own.key', next.key);
    files.write('own.pem', next.cert);
    await askUntil(() => names.at(-1) === 'sim-swap-next');
    isGranted = true;
    await askUntil((answer) => answer === false);
    expect(operator.count('prompts')).toBe(1);
    expect(operator.count('lookups')).toBe(1);
  });
});

/** What publishes JSON over TLS, by a certificate of the company's own authority. */
async function publishing(document: () => object): Promise<RecordingServer> {
  return RecordingServer.start((received, response) => answerJson(received, response, document()), {
    cert: SERVER.cert,
    key: SERVER.key,
  });
}

function egressThrough(proxy: string): Readonly<Record<string, string>> {
  return {
    EGRESS_PROXY_URL: proxy,
    EGRESS_PROXY_CREDENTIALS_FILE: credentials,
    EGRESS_CA_FILE: ca,
  };
}

describe('through the proxy of EGRESS_PROXY_URL', () => {
  it("the issuer's keys are fetched", async () => {
    const issuerKey = await createKey('ES256');
    await using issuer = await publishing(() => ({ keys: [issuerKey.publicJwk] }));
    await using operator = await WiredOperator.start();
    await using proxy = await ConnectProxy.start({ manner: tunnelFor(CREDENTIALS) });
    await using service = await startService(operator.url, {
      JWT_JWKS_URL: `${issuer.url}/jwks`,
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      ...egressThrough(proxy.url),
    });
    const token = await sign(issuerKey, claimsAt(Date.now(), { scope: 'sim-swap:read' }));
    const reply = await service.ask(
      ASK,
      { e164s: ['+447700900001'] },
      { authorization: `Bearer ${token}` },
    );
    expect(reply.data.phoneNumbers).toEqual([{ simSwappedWithin: false }]);
    expect(issuer.received.map(({ path }) => path)).toEqual(['/jwks']);
    expect(proxy.requests).toHaveLength(1);
    expect(operator.lookups).toHaveLength(1);
  });

  it("the log says why the issuer's keys cannot be had", async () => {
    await using operator = await WiredOperator.start();
    await using proxy = await ConnectProxy.start({ manner: tunnelFor('another:word') });
    await using service = await startService(operator.url, {
      JWT_JWKS_URL: 'https://127.0.0.1:9/jwks',
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      ...egressThrough(proxy.url),
    });
    await vi.waitFor(() => {
      const said = service.logged.filter((one) => one.startsWith('error'));
      expect(said.join('\n')).toContain('proxy-tunnel: PROXY_STATUS_407');
    });
  });

  it('the number directory is asked, and the discovery document read', async () => {
    await using operator = await WiredOperator.start({}, TLS);
    await using directory = await publishing(() => ({ operator: 'found' }));
    await using authorization: RecordingServer = await publishing(() => ({
      issuer: authorization.url,
      token_endpoint: `${operator.url}/token`,
    }));
    await using proxy = await ConnectProxy.start({ manner: tunnelFor(CREDENTIALS) });
    const discovery = { issuer: authorization.url, hosts: [new URL(operator.url).host] };
    const found = entry('found', '+1', operator.url, { tls: GOOD, authUrl: undefined, discovery });
    await using service = await startServiceOf([found], egressThrough(proxy.url), {
      directory: { url: directory.url },
    });
    const reply = await service.ask(ASK, { e164s: ['+447700900001'] });
    expect(reply.data.phoneNumbers).toEqual([{ simSwappedWithin: false }]);
    // The operator has its own way, which is none of the proxy's.
    const hosts = [directory, authorization].map(({ url }) => new URL(url).host);
    expect(new Set(proxy.requests.map(({ url }) => url))).toEqual(new Set(hosts));
  });
});

describe('the collector of traces', () => {
  it('is sent spans through that proxy, and only by the authorities of EGRESS_CA_FILE', async () => {
    await using operator = await WiredOperator.start();
    await using collector = await publishing(() => ({}));
    await using proxy = await ConnectProxy.start({ manner: tunnelFor(CREDENTIALS) });
    const settings = { ...egressThrough(proxy.url), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const service = await startService(operator.url, settings);
    await service.ask(ASK, { e164s: ['+447700900001'] });
    await service.stop();
    expect(collector.received.map(({ path }) => path)).toContain('/v1/traces');
    expect(proxy.requests).not.toEqual([]);
  });
});
