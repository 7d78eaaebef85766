import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answering, ConnectProxy, tunnelFor, type ProxyManner } from '../http/connectProxy.ts';
import { Http2Server } from '../http/http2Server.ts';
import { answerJson, deadUrl, RecordingServer } from '../http/recordingServer.ts';
import { listen } from '../listening.ts';
import { Authority, demanding } from '../tls/authority.ts';
import { createCertificate } from '../tls/certificate.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { check, failed, issueTokens, rowsOf, settingsAt, verdicts } from './checked.ts';

const AUTHORITY = new Authority('Servers of the operator');
const LONG: [number, number] = [-1, 300];
const LONG_MS = 10_000;

/** Settings by which an operator of TLS is asked, whose authority is trusted. */
function trusting(files: TemporaryFiles, url: string): Record<string, string> {
  const { origin } = new URL(url);
  return { ...settingsAt(origin), OPERATOR_TLS_CA_FILE: files.write('ca.pem', AUTHORITY.pem) };
}

describe('a connection that works', () => {
  it.each(['http/1.1', 'h2'] as const)('by TLS and %s', async (protocol) => {
    using files = new TemporaryFiles();
    const certificate = AUTHORITY.issue({ validDays: LONG });
    await using server =
      protocol === 'h2'
        ? await Http2Server.start(certificate, ({ stream }) => {
            stream.respond({ ':status': 405 });
            stream.end();
          })
        : await RecordingServer.start(issueTokens, certificate);
    const report = await check(trusting(files, server.url));
    const version = protocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1';
    expect(rowsOf(report, 'tls')).toMatchObject([
      {
        verdict: 'ok',
        found: expect.stringMatching(`^TLSv1.3, ${version}, certificate for 29\\d`),
      },
    ]);
    expect(rowsOf(report, 'http')).toMatchObject([
      { verdict: 'ok', found: expect.stringContaining(`${version}, connections `) },
    ]);
  });

  it('warns of a certificate that ends soon', async () => {
    using files = new TemporaryFiles();
    const certificate = AUTHORITY.issue({ validDays: [-1, 10] });
    await using server = await RecordingServer.start(issueTokens, certificate);
    const report = await check(trusting(files, server.url));
    expect(rowsOf(report, 'tls')).toMatchObject([
      { verdict: 'warning', advice: expect.stringContaining('renewed') },
    ]);
    expect(failed(report)).toEqual([]);
  });

  it('through a proxy with credentials, which resolves the name', async () => {
    using files = new TemporaryFiles();
    const certificate = AUTHORITY.issue({ validDays: LONG });
    await using server = await RecordingServer.start(issueTokens, certificate);
    await using proxy = await ConnectProxy.start({ manner: tunnelFor('us:ours') });
    const report = await check({
      ...trusting(files, server.url),
      OPERATOR_PROXY_URL: proxy.url,
      OPERATOR_PROXY_CREDENTIALS_FILE: files.write('proxy', 'us:ours\n'),
    });
    expect(verdicts(report)).toMatchObject({
      files: 'ok',
      proxy: 'ok',
      tls: 'ok',
      credentials: 'ok',
      scopes: 'ok',
    });
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

  it.each([
    [
      'a certificate of an authority that is not trusted',
      () => createCertificate(),
      /No authority that is trusted.*tls\.ca/,
    ],
    [
      'a certificate that has expired',
      () => AUTHORITY.issue({ validDays: [-20, -2] }),
      /has expired/,
    ],
    [
      'a certificate that is not valid yet',
      () => AUTHORITY.issue({ validDays: [2, 20] }),
      /not valid yet.*clock/,
    ],
  ])('%s', async (_, certificate, advice) => {
    using files = new TemporaryFiles();
    await using server = await RecordingServer.start(issueTokens, certificate());
    const report = await check(trusting(files, server.url));
    expect(failed(report)).toEqual(['tls']);
    expect(rowsOf(report, 'tls')[0]?.advice).toMatch(advice);
  });

  it('a certificate of another name', async () => {
    using files = new TemporaryFiles();
    await using server = await RecordingServer.start(issueTokens, AUTHORITY.issue());
    const report = await check({
      ...trusting(files, server.url),
      OPERATOR_TLS_SERVER_NAME: 'elsewhere.example',
    });
    expect(failed(report)).toEqual(['tls']);
    expect(rowsOf(report, 'tls')[0]?.advice).toMatch(/another name.*tls\.serverName/);
  });

  it('a server that does not speak TLS', async () => {
    await using server = await RecordingServer.start(() => undefined);
    const report = await check(settingsAt(server.url.replace('http:', 'https:')));
    expect(failed(report)).toEqual(['tls']);
    expect(rowsOf(report, 'tls')[0]?.advice).toMatch(/does not speak TLS/);
  });

  it('a server that hangs in the handshake, inside the time of a step', async () => {
    const silent = createServer();
    const url: string = await listen(silent);
    const report = await check(settingsAt(url.replace('http:', 'https:')), { timeoutMs: 200 });
    silent.close();
    expect(failed(report)).toEqual(['tls']);
    expect(rowsOf(report, 'tls')[0]?.found).toBe('no answer in time');
  });

  it('a server that takes the connection and never answers', async () => {
    await using server = await RecordingServer.start(() => undefined);
    const report = await check(settingsAt(server.url), { timeoutMs: 200 });
    expect(failed(report)).toEqual(['http']);
    expect(rowsOf(report, 'http')[0]?.found).toContain('no answer in time');
  });

  it('a server that wants a client certificate', async () => {
    using files = new TemporaryFiles();
    const clients = new Authority('Clients of the operator');
    await using server = await RecordingServer.start(
      issueTokens,
      demanding(AUTHORITY.issue(), clients),
    );
    const report = await check(trusting(files, server.url));
    expect(failed(report).length).toBe(1);
    const [row] = report.findings.filter(({ verdict }) => verdict === 'failed');
    expect(row?.advice).toMatch(/certificate.*registered/);
  });

  it('our own certificate, with the key of another', async () => {
    using files = new TemporaryFiles();
    await using server = await RecordingServer.start(issueTokens, AUTHORITY.issue());
    const report = await check({
      ...trusting(files, server.url),
      OPERATOR_TLS_CERTIFICATE_FILE: files.write('client.pem', AUTHORITY.issue().cert),
      OPERATOR_TLS_KEY_FILE: files.write('client.key', AUTHORITY.issue().key),
    });
    expect(failed(report)).toContain('files');
    expect(rowsOf(report, 'files')[0]?.advice).toMatch(/Correct the files/);
  });

  const page = answering('HTTP/1.1 200 OK\r\n\r\n<html>Sign in to the network</html>');
  it.each<readonly [string, ProxyManner, RegExp, number]>([
    ['refuses', answering('HTTP/1.1 403 Forbidden\r\n\r\n'), /allow the host and port/, LONG_MS],
    ['does not know our credentials', tunnelFor('us:others'), /proxy\.credentials/, LONG_MS],
    ['answers with a page', page, /not a proxy that takes CONNECT/, LONG_MS],
    ['hangs', () => undefined, /Ask your network team/, 200],
  ])('a proxy that %s', async (_, manner, advice, timeoutMs) => {
    using files = new TemporaryFiles();
    await using server = await RecordingServer.start(issueTokens, AUTHORITY.issue());
    await using proxy = await ConnectProxy.start({ manner });
    const report = await check(
      {
        ...trusting(files, server.url),
        OPERATOR_PROXY_URL: proxy.url,
        OPERATOR_PROXY_CREDENTIALS_FILE: files.write('proxy', 'us:ours'),
      },
      { timeoutMs },
    );
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
