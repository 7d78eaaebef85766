import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEMO_CLIENT, startSimulator } from '../../simulator/simulator.ts';
import { ServerProcess } from './serverProcess.ts';
import { listen } from '../listening.ts';

const TIMEOUT_MS = 400;
/** What a loaded machine may add. */
const SLACK_MS = 3000;
const QUERY = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';
const CREDENTIALS = {
  OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
  OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
  AUDIT_KEY: 'a key of thirty-two characters or more',
};

/** A server that takes requests and never answers. */
async function silentServer(): Promise<string> {
  const server = createServer(() => undefined);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** A pipe without a reader: whatever opens it to write waits for ever, as on a disk that hangs. */
function hungFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hung-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'audit.jsonl');
  execFileSync('mkfifo', [path]);
  return path;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

async function ask(url: string, headers: Record<string, string> = {}) {
  const startedAtMs = performance.now();
  const reply = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: QUERY }),
  });
  const body = (await reply.json()) as { errors?: { extensions?: { code?: string } }[] };
  return {
    status: reply.status,
    codes: body.errors?.map(({ extensions }) => extensions?.code),
    tookMs: performance.now() - startedAtMs,
  };
}

describe('a request ends in its time', () => {
  test('when its caller cannot be identified: the issuer never answers', async () => {
    const issuer = await silentServer();
    await using server = await ServerProcess.start(issuer, {
      ...CREDENTIALS,
      JWT_JWKS_URL: `${issuer}/jwks`,
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: 'sim-swap',
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    // Well formed, so that the keys are asked for.
    const token = `${part({ alg: 'ES256', typ: 'at+jwt', kid: 'k' })}.${part({ sub: 's' })}.AAAA`;

    const reply = await ask(server.url, { authorization: `Bearer ${token}` });
    expect(reply).toMatchObject({ status: 503, codes: ['UNAVAILABLE'] });
    expect(reply.tookMs).toBeLessThan(TIMEOUT_MS + SLACK_MS);
  });

  test('when its body does not arrive', async () => {
    await using server = await ServerProcess.start('http://127.0.0.1:1', {
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"query":',
    );
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    await once(socket, 'close');
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(received).toContain('"code":"BAD_REQUEST"');
  });

  test('when the audit log hangs, and the process can still be ended', async () => {
    const simulator = await startSimulator({ port: 0 });
    onTestFinished(() => simulator.close());
    await using server = await ServerProcess.start(simulator.authUrl, {
      ...CREDENTIALS,
      OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
      OPERATOR_TIMEOUT_MS: '100',
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
      AUDIT_LOG: hungFile(),
    });
    const logged: string[] = [];
    createInterface({ input: server.stdout }).on('line', (line) => logged.push(line));
    const replies = await Promise.all(Array.from({ length: 6 }, () => ask(server.url)));
    for (const { codes, tookMs } of replies) {
      expect(['AUDIT_UNAVAILABLE', 'UNAVAILABLE', 'OPERATOR_TIMEOUT']).toContain(codes?.[0]);
      expect(tookMs).toBeLessThan(TIMEOUT_MS + 1000 + SLACK_MS);
    }

    server.terminate();
    const exit = await server.exit;
    expect(exit.code).not.toBe(0);
    expect(logged.filter((line) => line.includes('the drain did not end in time'))).toHaveLength(1);
  }, 60_000);
});
