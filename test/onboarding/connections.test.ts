import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answering, ConnectProxy, tunnelFor, type ProxyManner } from '../wire/connectProxy.ts';
import { Http2Server } from '../wire/http2Server.ts';
import { answerJson, deadUrl, RecordingServer } from '../wire/recordingServer.ts';
import { listen } from '../support/listening.ts';
import { Authority, demanding } from '../tls/authority.ts';
import { createCertificate, type Certificate } from '../tls/certificate.ts';
import { NO_OPENSSL, OpensslServer } from '../tls/opensslServer.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { check, failed, issueTokens, rowsOf, settingsAt, verdicts } from './checked.ts';

const AUTHORITY = new Authority('Servers of the operator');
const CLIENTS = new Authority('Clients of the operator');
const LONG: [number, number] = [-1, 300];
const LONG_MS = 10_000;
const files = new TemporaryFiles();

/** The settings of an operator that speaks TLS, whose authority is trusted. */
function trusting(url: string): Record<string, string> {
  const { origin } = new URL(url);
  return { ...settingsAt(origin), OPERATOR_TLS_CA_FILE: files.write('ca.pem', AUTHORITY.pem) };
}

/** A certificate of our own, and its key. */
function showing({ cert, key }: Certificate): Record<string, string> {
  return {
    OPERATOR_TLS_CERTIFICATE_FILE: files.write('client.pem', cert),
    OPERATOR_TLS_KEY_FILE: files.write('client.key', key),
  };
}

/** A proxy that knows us by `us:ours`. */
function through(url: string): Record<string, string> {
  const credentials = files.write('proxy', 'us:ours\n');
  return { OPERATOR_PROXY_URL: url, OPERATOR_PROXY_CREDENTIALS_FILE: credentials };
}

const overTls = (url: string): string => url.replace('http:', 'https:');

describe('a connection that works', () => {
  it.each([
    ['http/1.1', 'HTTP/1.1'],
    ['h2', 'HTTP/2'],
  ])('by TLS and %s, with a certificate of our own', async (protocol, version) => {
    const options = demanding(AUTHORITY.issue({ validDays: LONG }), CLIENTS);
    await using server =
      protocol === 'h2'
        ? await Http2Server.start(options, ({ stream }) => {
            stream.respond({ ':status': 405 });
            stream.end();
          })
        : await RecordingServer.start(issueTokens, options);
    const ours = showing(CLIENTS.issue({ validDays: [-1, 20] }));
    const report = await check({ ...trusting(server.url), ...ours });
    expect(rowsOf(report, 'files')).toMatchObject([
      {
        verdict: 'warning',
        found: expect.stringMatching(/our certificate is valid for (?:19|20)/),
      },
    ]);
    const found = expect.stringMatching(`^TLSv1.3, ${version}, certificate for 29\\d`);
    expect(rowsOf(report, 'tls')).toMatchObject([{ verdict: 'ok', found }]);
    const reply = expect.stringContaining(`${version}, connections `);
    expect(rowsOf(report, 'http')).toMatchObject([{ verdict: 'ok', found: reply }]);
  });

  it('warns of a certificate that ends soon', async () => {
    const certificate = AUTHORITY.issue({ validDays: [-1, 10] });
    await using server = await RecordingServer.start(issueTokens, certificate);
    const report = await check(trusting(server.url));
    const advice = expect.stringContaining('renewed');
    expect(rowsOf(report, 'tls')).toMatchObject([{ verdict: 'warning', advice }]);
    expect(failed(report)).toEqual([]);
  });

  it('through a proxy with credentials, which resolves the name', async () => {
    const certificate = AUTHORITY.issue({ validDays: LONG });
    await using server = await RecordingServer.start(issueTokens, certificate);
    await using proxy = await ConnectProxy.start({ manner: tunnelFor('us:ours') });
    const report = await check({ ...trusting(server.url), ...through(proxy.url) });
    const rows = ['files', 'proxy', 'tls', 'credentials', 'scopes'].map((row) => [row, 'ok']);
    expect(verdicts(report)).toMatchObject(Object.fromEntries(rows));
    expect(rowsOf(report, 'name')).toEqual([]);
  });
});

describe('a connection that breaks has a red row that says what to do', () => {
  it.each([
    ['no such name', (): string => 'https://operator.invalid', 'name', /spelling|name server/],
    ['nothing listens', deadUrl, 'tcp', /Nothing listens at this port/],
  ] as const)('%s', async (_, url, step, advice) => {
    const report = await check(settingsAt(await url()));
    expect(failed(report)).toEqual([step]);
    expect(rowsOf(report, step)[0]?.advice).toMatch(advice);
    expect(verdicts(report)).toMatchObject({ credentials: 'not tried', scopes: 'not tried' });
  });

  const OF_ANOTHER_NAME = { OPERATOR_TLS_SERVER_NAME: 'elsewhere.example' };
  it.each<[string, () => Certificate, RegExp, Record<string, string>?]>([
    [
      'of an authority that is not trusted',
      () => createCertificate(),
      /No trusted authority.*tls\.ca/,
    ],
    ['that has expired', () => AUTHORITY.issue({ validDays: [-20, -2] }), /has expired/],
    ['not valid yet', () => AUTHORITY.issue({ validDays: [2, 20] }), /not valid yet.*clock/],
    ['of another name', () => AUTHORITY.issue(), /another name.*tls\.serverName/, OF_ANOTHER_NAME],
  ])('a certificate %s', async (_, certificate, advice, settings = {}) => {
    await using server = await RecordingServer.start(issueTokens, certificate());
    const report = await check({ ...trusting(server.url), ...settings });
    expect(failed(report)).toEqual(['tls']);
    expect(rowsOf(report, 'tls')[0]?.advice).toMatch(advice);
  });

  it.each([
    ['does not speak TLS', 'http', overTls, LONG_MS, 'tls', /does not speak TLS/],
    ['hangs in the handshake', 'tcp', overTls, 200, 'tls', /no answer in time/],
    ['never answers', 'http', String, 200, 'http', /no answer in time/],
  ] as const)('a server that %s', async (_, protocol, urlOf, timeoutMs, step, words) => {
    const silent = protocol === 'tcp' ? createServer() : createHttpServer();
    const url = await listen(silent);
    const report = await check(settingsAt(urlOf(url)), { timeoutMs });
    silent.close();
    expect(failed(report)).toEqual([step]);
    expect(JSON.stringify(rowsOf(report, step)[0])).toMatch(words);
  });

  it('a server that wants a client certificate', async () => {
    const options = demanding(AUTHORITY.issue(), CLIENTS);
    await using server = await RecordingServer.start(issueTokens, options);
    const report = await check(trusting(server.url));
    const red = report.findings.filter(({ verdict }) => verdict === 'failed');
    expect(red).toMatchObject([{ advice: expect.stringMatching(/certificate.*registered/) }]);
  });

  it.skipIf(NO_OPENSSL !== undefined).each(['tls1_2', 'tls1_3'] as const)(
    `a server that refuses our certificate by an alert, by %s ${NO_OPENSSL ?? ''}`,
    async (version) => {
      const options = { version, protocol: 'http/1.1' };
      await using server = await OpensslServer.start(AUTHORITY.issue(), CLIENTS, options);
      const stranger = showing(AUTHORITY.issue());
      const report = await check({ ...trusting(server.url), ...stranger });
      expect(failed(report)).toEqual(['tls']);
      expect(rowsOf(report, 'tls')[0]?.advice).toMatch(/does not accept our certificate/);
    },
  );

  it('our own certificate, with the key of another', async () => {
    await using server = await RecordingServer.start(issueTokens, AUTHORITY.issue());
    const { cert } = AUTHORITY.issue();
    const mixed = showing({ cert, key: AUTHORITY.issue().key });
    const report = await check({ ...trusting(server.url), ...mixed });
    expect(failed(report)).toContain('files');
    expect(rowsOf(report, 'files')[0]).toMatchObject({
      found: 'the certificate is of another key than that of the key file',
      advice: expect.stringMatching(/Correct the files/),
    });
  });

  it.each([
    ['has no such name', 'http://proxy.invalid:3128', /name of the proxy cannot be resolved/],
    ['is not there', 'http://127.0.0.1:9', /No connection to the proxy/],
  ])('a proxy that %s', async (_, url, advice) => {
    const settings = { ...settingsAt('https://127.0.0.1:9'), OPERATOR_PROXY_URL: url };
    const report = await check(settings);
    expect(failed(report)).toEqual(['proxy']);
    expect(rowsOf(report, 'proxy')[0]?.advice).toMatch(advice);
  });

  const page = answering('HTTP/1.1 200 OK\r\n\r\n<html>Sign in to the network</html>');
  it.each<readonly [string, ProxyManner, RegExp, number]>([
    ['refuses', answering('HTTP/1.1 403 Forbidden\r\n\r\n'), /allow the host and port/, LONG_MS],
    ['does not know our credentials', tunnelFor('us:others'), /proxy\.credentials/, LONG_MS],
    ['answers with a page', page, /not a proxy that supports CONNECT/, LONG_MS],
    ['hangs', () => undefined, /Ask your network team/, 200],
  ])('a proxy that %s', async (_, manner, advice, timeoutMs) => {
    await using server = await RecordingServer.start(issueTokens, AUTHORITY.issue());
    await using proxy = await ConnectProxy.start({ manner });
    const settings = { ...trusting(server.url), ...through(proxy.url) };
    const report = await check(settings, { timeoutMs });
    expect(failed(report)).toEqual(['proxy']);
    expect(rowsOf(report, 'proxy')[0]?.advice).toMatch(advice);
    expect(server.connections).toEqual([]);
  });
});

it('credentials are tried where only the SIM swap API cannot be reached', async () => {
  await using server = await RecordingServer.start((received, response) =>
    answerJson(received, response, { access_token: 'issued', token_type: 'Bearer' }),
  );
  const settings = { ...settingsAt(server.url), OPERATOR_SIM_SWAP_URL: await deadUrl() };
  const report = await check(settings);
  expect(failed(report)).toEqual(['tcp']);
  expect(verdicts(report)).toMatchObject({ credentials: 'ok', scopes: 'ok' });
});
