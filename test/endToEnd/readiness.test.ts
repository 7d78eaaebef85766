import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createKey } from '../caller/testIssuer.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../redisServer.ts';
import { ServerProcess } from './serverProcess.ts';
import { listen } from '../listening.ts';

/** Nothing listens there: an operator that is away. */
const NOWHERE = 'http://127.0.0.1:1';

const AUDIT_KEY = 'a key of thirty-two characters or more';

/** The status of /readyz, and what it says. */
async function readiness(url: string): Promise<[status: number, body: unknown]> {
  const reply = await fetch(`${url}/readyz`);
  return [reply.status, await reply.json()];
}

const READY = [200, { status: 'ready' }];

function starting(...waitingFor: string[]): [number, object] {
  return [503, { status: 'starting', waitingFor }];
}

/** An issuer that publishes its keys when it is there. */
class Issuer {
  readonly #body: string;
  #server: Server | undefined;
  port = 0;

  private constructor(body: string) {
    this.#body = body;
  }

  static async create(): Promise<Issuer> {
    const { publicJwk } = await createKey('ES256');
    const issuer = new Issuer(JSON.stringify({ keys: [publicJwk] }));
    // To know a port that is free.
    await issuer.come();
    await issuer.go();
    return issuer;
  }

  get settings(): Record<string, string> {
    return {
      JWT_JWKS_URL: `http://127.0.0.1:${this.port}/jwks`,
      JWT_ISSUER: 'https://issuer.example',
      JWT_AUDIENCE: 'sim-swap',
    };
  }

  async come(): Promise<void> {
    this.#server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(this.#body);
    }).listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  async go(): Promise<void> {
    if (this.#server === undefined) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describe('/readyz', () => {
  test('fails until the keys of the issuer have been had, and no more when the issuer goes', async () => {
    const issuer = await Issuer.create();
    await using server = await ServerProcess.start(NOWHERE, issuer.settings);
    expect(await readiness(server.url)).toEqual(starting('JWT_JWKS_URL'));
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);

    await issuer.come();
    await expect.poll(() => readiness(server.url), { timeout: 20_000 }).toEqual(READY);
    await issuer.go();
    expect(await readiness(server.url)).toEqual(READY);
  });

  test('fails for good where JWT_JWKS_URL is an address of something else', async () => {
    const other = createServer((_request, response) => response.end('<html></html>'));
    const url = await listen(other);
    onTestFinished(() => void other.close());
    await using server = await ServerProcess.start(NOWHERE, {
      JWT_JWKS_URL: `${url}/`,
      JWT_ISSUER: 'https://issuer.example',
      JWT_AUDIENCE: 'sim-swap',
    });
    await expect.poll(() => server.lines.join('\n')).toContain('"need":"JWT_JWKS_URL"');
    expect(await readiness(server.url)).toEqual(starting('JWT_JWKS_URL'));
  });

  test.skipIf(NO_REDIS)(
    'fails in the 3-legged flow until Redis has answered, and no more when Redis goes',
    async () => {
      const known = await startRedis();
      const port = Number(new URL(known.url).port);
      await known.kill();
      await using server = await ServerProcess.start(NOWHERE, {
        OPERATOR_FLOW: '3-legged',
        REDIS_URL: known.url,
        STATE_KEY: freshStateKey(),
      });
      expect(await readiness(server.url)).toEqual(starting('REDIS_URL'));

      const redis = await startRedis(port);
      await expect.poll(() => readiness(server.url), { timeout: 20_000 }).toEqual(READY);
      await redis.kill();
      expect(await readiness(server.url)).toEqual(READY);
    },
  );

  test('is not about Redis where no consent lies in it', async () => {
    await using server = await ServerProcess.start(NOWHERE, {
      REDIS_URL: 'redis://127.0.0.1:1',
      STATE_KEY: freshStateKey(),
    });
    expect(await readiness(server.url)).toEqual(READY);
  });

  test('fails while the audit log cannot be written: a disk that is full', async () => {
    await using server = await ServerProcess.start(NOWHERE, {
      AUDIT_KEY,
      AUDIT_LOG: '/dev/full',
    });
    await expect.poll(() => server.lines.join('\n')).toContain('"need":"AUDIT_LOG"');
    expect(await readiness(server.url)).toEqual(starting('AUDIT_LOG'));
  });

  test('says that the audit log can be written once it has been', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'audit.jsonl');
    await using server = await ServerProcess.start(NOWHERE, { AUDIT_KEY, AUDIT_LOG: file });
    await expect.poll(() => readiness(server.url)).toEqual(READY);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      audit: 'start',
      time: expect.any(String),
    });
  });

  test('is not about the operator: its outage is not a reason to replace a process', async () => {
    await using server = await ServerProcess.start(NOWHERE, {});
    expect(await readiness(server.url)).toEqual(READY);
    const reply = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ phoneNumber(e164: \\"+447700900500\\") { simSwappedWithin } }"}',
    });
    expect(await reply.text()).toContain('OPERATOR_UNAVAILABLE');
    expect(await readiness(server.url)).toEqual(READY);
  });
});
