import { SignJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { BUILD } from '../../src/system/build.ts';
import { DEMO_CLIENT, startSimulator } from '../../simulator/simulator.ts';
import { claimsAt, createKey, sign, TestIssuer } from '../caller/testIssuer.ts';
import { deadUrl, RecordingServer, type Answer } from '../wire/recordingServer.ts';
import { startService, type Reply, type Service } from '../support/service.ts';
import { ServerProcess } from './serverProcess.ts';

const REFUSED = "A caller's access token was refused.";
const QUESTION = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';

const [simulator, issuer] = await Promise.all([startSimulator({ port: 0 }), TestIssuer.start()]);
afterAll(() => Promise.all([simulator.close(), issuer.close()]));

function ask(
  { ask: send }: Pick<Service, 'ask'>,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return send(QUESTION, {}, headers);
}

describe('the log of a process, from its start to its end', () => {
  const now = Math.floor(Date.now() / 1000);
  const cases: [reason: string, claims: JWTPayload, header?: Record<string, unknown>][] = [
    ['expired', { exp: now - 60 }],
    ['audience', { aud: 'another service' }],
    ['issuer', { iss: 'https://another.example' }],
    ['not valid yet', { nbf: now + 600 }],
    ['no subject', { sub: '' }],
    ['bound to a key', { cnf: { jkt: 'x' } }],
    ['type', {}, { typ: 'dpop+jwt' }],
    ['key', {}, { kid: 'unknown' }],
  ];

  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start(simulator.authUrl, {
      OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
      OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
      OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
      LOG_LEVEL: 'debug',
      AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
      ...issuer.settings,
    });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('says which version and commit it is, where it listens and for whom, and that it is ready', async () => {
    expect(server.logged('Starting.')).toMatchObject([{ ...BUILD, node: process.versions.node }]);
    expect(server.logged('Listening.')).toEqual([
      {
        level: 30,
        time: expect.any(String),
        msg: 'Listening.',
        host: '127.0.0.1',
        port: Number(new URL(server.url).port),
        role: 'bff',
        operators: '127.0.0.1',
        flow: '2-legged',
      },
    ]);
    await expect.poll(() => server.logged('Ready.')).toHaveLength(1);
  });

  test('names a caller as the audit log does, without digits; at level debug it has each exchange', async () => {
    for (let n = 0; n < 20; n += 1) {
      const token = await issuer.token({ sub: `caller ${n}`, scope: 'sim-swap:read' });
      expect((await ask(server, { authorization: `Bearer ${token}` })).status).toBe(200);
    }
    await expect.poll(() => server.logged('request')).toHaveLength(20);
    const callers = server.logged('request').map(({ caller }) => caller);
    const audited = server.lines
      .map((line) => JSON.parse(line) as { audit?: string; caller?: { id: string } })
      .filter(({ audit }) => audit === 'after')
      .map(({ caller }) => caller?.id);
    expect(callers).toEqual(audited);
    expect(new Set(callers).size).toBe(20);
    for (const caller of callers) expect(caller).toMatch(/^[a-z]{16}$/);
    expect(server.logged('exchange').slice(0, 2)).toMatchObject(
      ['token', 'check'].map((endpoint) => ({
        level: 20,
        operator: 'operator',
        endpoint,
        isRetry: false,
        outcome: 'replied',
        status: 200,
        ms: expect.any(Number),
        correlator: expect.stringMatching(/-[12]$/),
      })),
    );
  });

  test('has the reason why a token was refused, which the reply has not, and the drain', async () => {
    const tokens = await Promise.all(
      cases.map(([, claims, header]) => sign(issuer.key(), claimsAt(Date.now(), claims), header)),
    );
    const stranger = await createKey('RS256');
    const forged = await sign(stranger, claimsAt(Date.now()));
    const secret = new TextEncoder().encode('a secret of thirty-two characters');
    const symmetric = await new SignJWT(claimsAt(Date.now()))
      .setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
      .sign(secret);
    const long = 'x'.repeat(9000);

    const replies: string[] = [];
    const again = Array.from({ length: 3 }, () => tokens[0] ?? '');
    for (const token of [...tokens, forged, symmetric, 'no-token', long, ...again]) {
      const reply = await ask(server, { authorization: `Bearer ${token}` });
      expect(reply.status).toBe(401);
      replies.push(JSON.stringify(reply.body));
    }
    expect(new Set(replies).size).toBe(1);

    const reasons = [...cases.map(([reason]) => reason), 'signature', 'algorithm', 'malformed'];
    server.terminate();
    await server.exit;
    await expect.poll(() => server.logged('Drained.')).toHaveLength(1);
    expect(server.logged('Draining.')).toMatchObject([{ signal: 'SIGTERM', graceSeconds: 0 }]);
    expect(server.logged('Drained.')).toMatchObject([{ seconds: expect.any(Number) }]);
    // What repeats is summed up.
    expect(server.logged(REFUSED)).toMatchObject([
      ...[...reasons, 'too long'].map((reason) => ({ reason })),
      { reason: 'expired', repeats: 3 },
    ]);
    expect(server.lines.join('\n')).not.toContain('alice');
    expect(server.out).not.toContain('Anyone who reaches this service');
  });
});

it.each<[string, Answer]>([
  ['status 404', (_, response) => response.writeHead(404).end()],
  ['not JSON', (_, response) => response.end('<html>')],
  ['not a key set', (_, response) => response.end('{"error":"maintenance"}')],
])("why the issuer's keys cannot be fetched is in the log: %s", async (reason, answer) => {
  await using keys = await RecordingServer.start(answer);
  const settings = { ...issuer.settings, JWT_JWKS_URL: keys.url };
  await using service = await startService(simulator.authUrl, settings);
  await expect
    .poll(() => service.logged.filter((line) => line.includes('The keys of JWT_JWKS_URL')))
    .toEqual([expect.stringContaining(`"reason":"${reason}"`)]);
  const reply = await ask(service, { authorization: `Bearer ${await issuer.token()}` });
  expect(reply.text).not.toContain(reason);
});

test('x-correlator is returned where it may be repeated, and is in the log', async () => {
  await using service = await startService(await deadUrl());
  const uuid = '0b9ad6f2-2d5c-4a0e-9e61-52d4f0a1c001';
  const reply = await ask(service, { 'x-correlator': uuid });
  expect(reply.headers.get('x-correlator')).toBe(uuid);
  const logged = /"correlator":"0b9ad6f2-2d5c-4a0e-9e61--[A-Za-z0-9]{12}-1"/;
  expect(service.logged.join('\n')).toMatch(logged);

  // What else is returned: system/correlator.test.ts.
  const returned = (await ask(service, { 'x-correlator': '+447700900123' })).headers;
  expect(returned.get('x-correlator')).toMatch(/^number-[A-Za-z0-9]{12}$/);

  await using closed = await startService(await deadUrl(), issuer.settings);
  const refused = await ask(closed, { 'x-correlator': 'checkout-7' });
  expect([refused.status, refused.headers.get('x-correlator')]).toEqual([401, 'checkout-7']);
});
