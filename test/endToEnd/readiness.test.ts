import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AUDIENCE, ISSUER, TestIssuer } from '../caller/testIssuer.ts';
import { RecordingServer } from '../wire/recordingServer.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../support/redisServer.ts';
import { startService } from '../support/service.ts';
import { TemporaryFiles } from '../support/temporary.ts';

/** Nothing listens there: an operator that is away. */
const NOWHERE = 'http://127.0.0.1:1';

const AUDIT_KEY = 'a key of thirty-two characters or more';

async function readiness(url: string): Promise<[status: number, body: unknown]> {
  const reply = await fetch(`${url}/readyz`);
  return [reply.status, await reply.json()];
}

const READY = [200, { status: 'ready' }];

function starting(...waitingFor: string[]): [number, object] {
  return [503, { status: 'starting', waitingFor }];
}

describe('/readyz', () => {
  test('fails until the keys of the issuer were fetched, and not when the issuer fails later', async () => {
    const issuer = await TestIssuer.start();
    onTestFinished(() => issuer.close());
    issuer.status = 503;
    await using server = await startService(NOWHERE, issuer.settings);
    expect(await readiness(server.url)).toEqual(starting('JWT_JWKS_URL'));
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);

    issuer.status = 200;
    await expect.poll(() => readiness(server.url), { timeout: 20_000 }).toEqual(READY);
    issuer.status = 503;
    expect(await readiness(server.url)).toEqual(READY);
  });

  test('fails where JWT_JWKS_URL is an address of something else', async () => {
    await using other = await RecordingServer.start((_, response) => response.end('<html></html>'));
    await using server = await startService(NOWHERE, {
      JWT_JWKS_URL: `${other.url}/`,
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
    });
    await expect.poll(() => server.logged.join()).toContain('"need":"JWT_JWKS_URL"');
    expect(await readiness(server.url)).toEqual(starting('JWT_JWKS_URL'));
  });

  test.skipIf(NO_REDIS)(
    'fails in the 3-legged flow until Redis has answered, and not when Redis fails later',
    async () => {
      const known = await startRedis();
      const port = Number(new URL(known.url).port);
      await known.kill();
      await using server = await startService(NOWHERE, {
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

  test('fails while the audit log cannot be written, as on a full disk', async () => {
    await using server = await startService(NOWHERE, {
      AUDIT_KEY,
      AUDIT_LOG: '/dev/full',
    });
    await expect.poll(() => server.logged.join()).toContain('"need":"AUDIT_LOG"');
    expect(await readiness(server.url)).toEqual(starting('AUDIT_LOG'));
  });

  test('succeeds once the audit log was written', async () => {
    const files = new TemporaryFiles();
    const file = join(files.folder, 'audit.jsonl');
    await using server = await startService(NOWHERE, { AUDIT_KEY, AUDIT_LOG: file });
    await expect.poll(() => readiness(server.url)).toEqual(READY);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      audit: 'start',
      time: expect.any(String),
    });
  });

  test('does not depend on the operator, nor on Redis without consents: their outage is not a reason to replace a process', async () => {
    await using server = await startService(NOWHERE, {
      REDIS_URL: 'redis://127.0.0.1:1',
      STATE_KEY: freshStateKey(),
    });
    expect(await readiness(server.url)).toEqual(READY);
    const query = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';
    expect((await server.ask(query)).codes).toEqual(['OPERATOR_UNAVAILABLE']);
    expect(await readiness(server.url)).toEqual(READY);
  });
});
