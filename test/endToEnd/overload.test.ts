import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { TestIssuer } from '../caller/testIssuer.ts';
import { WiredOperator } from '../wiredOperator.ts';
import { ServerProcess } from './serverProcess.ts';

const LIST = 100;
const UNAVAILABLE = { code: 'UNAVAILABLE', retryAfterSeconds: 1 };

const issuer = await TestIssuer.start();
afterAll(() => issuer.close());

async function start(settings: Readonly<Record<string, string>>) {
  const operator = await WiredOperator.start();
  const server = await ServerProcess.start(operator.url, {
    ...issuer.settings,
    AUDIT_LOG: '/dev/null',
    AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
    QUOTA_NUMBERS_PER_HOUR: '1000000',
    QUOTA_LOOKUPS_PER_HOUR: '1000000',
    ...settings,
  });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await operator[Symbol.asyncDispose]();
  });
  /** Queries a list of numbers, none of which is in another list. */
  const ask = async (subject: string, list: number, fields = 'simSwappedWithin', size = LIST) => {
    const token = await issuer.token({ sub: subject, scope: 'sim-swap:read' });
    const e164s = Array.from({ length: size }, (_, n) => `+4477${10_000_000 + list * LIST + n}`);
    const query = `query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { ${fields} } }`;
    const headers = { authorization: `Bearer ${token}` };
    const { status, errors, data } = await server.ask(query, { e164s }, headers);
    return { status, errors: errors.map(({ extensions }) => extensions), data };
  };
  return { server, ask };
}

describe('more numbers than may be at work', () => {
  it('do not end a process with a heap of 64 MiB, and no request is late', async () => {
    const { server, ask } = await start({ NODE_OPTIONS: '--max-old-space-size=64' });
    const lists = Array.from({ length: 30 }, (_, list) => ask('risk', list));
    const replies = await Promise.all(lists);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(replies.flatMap(({ errors }) => errors)).toContainEqual(UNAVAILABLE);
    expect(server.logged('a request did not end in its time')).toEqual([]);
    expect((await ask('app', 1000, 'simSwappedWithin', 1)).status).toBe(200);
  });
});

describe('more requests than may be under way', () => {
  it('are refused before their bodies are read, and are served once there is room', async () => {
    const { server, ask } = await start({ NODE_OPTIONS: '--max-old-space-size=64' });
    const token = await issuer.token({ sub: 'risk', scope: 'sim-swap:read' });
    const sockets: Socket[] = [];
    const replies: string[] = [];
    const { port } = new URL(server.url);
    for (let n = 0; n < 750; n += 1) {
      const socket = connect(Number(port), '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (text: Buffer) => replies.push(text.toString()));
      socket.write(
        `POST /graphql HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n` +
          'content-type: application/json\r\ncontent-length: 20\r\n\r\n',
      );
      if (n % 100 === 0) await once(socket, 'connect');
    }
    // Its heap has room for 682, of which a caller gets three quarters.
    await expect.poll(() => replies.length).toBeGreaterThan(0);
    expect((await ask('app', 0, 'simSwappedWithin', 1)).status).toBe(200);
    // A body has five seconds: on a busy machine those that are waited for are over meanwhile.
    const refused = replies.filter((reply) => !reply.startsWith('HTTP/1.1 408 '));
    expect(refused).not.toEqual([]);
    for (const reply of refused) {
      expect(reply).toMatch(/^HTTP\/1\.1 503 .*\r\n/);
      expect(reply).toMatch(/\r\nretry-after: 1\r\n/i);
      expect(reply).toContain('"UNAVAILABLE"');
    }
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await ask('risk', 0, 'simSwappedWithin', 1)).status).toBe(200);
  });
});
