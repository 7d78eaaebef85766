import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createSimSwapClient } from '../../src/library/client.ts';
import { systemClock } from '../../src/system/clock.ts';
import { createRedis } from '../../src/sharedState/redisClient.ts';
import { AUDIENCE, claimsAt, createKey, ISSUER, sign } from '../caller/testIssuer.ts';
import { ConnectProxy } from '../wire/connectProxy.ts';
import { answerJson, RecordingServer } from '../wire/recordingServer.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { startSimulated } from '../support/service.ts';
import { createCertificate } from '../tls/certificate.ts';
import { WiredOperator } from '../support/wiredOperator.ts';
import { withEntry } from '../support/operatorEntry.ts';

/** Signed by itself, so not trusted. */
const IMPOSTOR = createCertificate({ name: 'impostor' });
const SWITCH = 'NODE_TLS_REJECT_UNAUTHORIZED';
const ASK = 'query ($e164: ID!) { phoneNumber(e164: $e164) { simSwappedWithin } }';
const NUMBER = '+447700900001';

describe(`with ${SWITCH}=0 in the environment`, () => {
  // Node reads it for each connection.
  beforeAll(() => void vi.stubEnv(SWITCH, '0'));
  afterAll(() => void vi.unstubAllEnvs());

  it('an impostor of the operator gets no secret, and its reply is not an answer', async () => {
    await using impostor = await WiredOperator.start({}, IMPOSTOR);
    await using client = await createSimSwapClient({ settings: impostor.settings });
    expect(await client.simSwappedWithin(NUMBER, 240)).toMatchObject({
      kind: 'unknown',
      code: 'OPERATOR_UNAVAILABLE',
    });
    expect(impostor.received).toEqual([]);
  });

  it('an impostor of the proxy gets no credentials', async () => {
    await using proxy = await ConnectProxy.start({ certificate: IMPOSTOR });
    await using client = await createSimSwapClient({
      settings: withEntry({
        OPERATOR_AUTH_URL: 'https://127.0.0.1:9',
        OPERATOR_SIM_SWAP_URL: 'https://127.0.0.1:9',
        OPERATOR_CLIENT_ID: 'sim-swap',
        OPERATOR_CLIENT_SECRET: 'kept-secret-of-the-operator',
        OPERATOR_PROXY_URL: proxy.url,
        OPERATOR_PROXY_CREDENTIALS: 'sim-swap:what only the proxy reads',
      }),
    });
    expect(await client.simSwappedWithin(NUMBER, 240)).toMatchObject({
      code: 'OPERATOR_UNAVAILABLE',
    });
    expect(proxy.requests).toEqual([]);
  });

  // What is published for the service, and the collector, are reached by connections of the same kind.
  it('tokens of an impostor of the issuer are refused', async () => {
    const key = await createKey('ES256');
    await using impostor = await RecordingServer.start(
      (received, response) => answerJson(received, response, { keys: [key.publicJwk] }),
      IMPOSTOR,
    );
    await using service = await startSimulated({
      JWT_JWKS_URL: impostor.url,
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
    });
    const token = await sign(key, claimsAt(Date.now(), { scope: 'sim-swap:read' }));
    const headers = { authorization: `Bearer ${token}` };
    const reply = await service.ask(ASK, { e164: NUMBER }, headers);
    expect(reply.status).not.toBe(200);
    expect(impostor.received).toEqual([]);
    expect(service.stats().lookups).toBe(0);
  });

  it('an impostor of the shared store gets no password', async () => {
    let said = '';
    const impostor = createTlsServer(IMPOSTOR, (socket) => {
      socket.on('error', () => undefined).on('data', (data) => (said += data.toString('latin1')));
    });
    impostor.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
    await once(impostor, 'listening');
    onTestFinished(() => void impostor.close());
    const { port } = impostor.address() as AddressInfo;
    const log = new RecordedLog();
    const credentials = { username: undefined, password: 'what only Redis reads' };
    const tls = { ca: undefined, client: undefined, serverName: undefined };
    const server = { host: '127.0.0.1', port };
    const topology = { kind: 'single', server, database: 0 } as const;
    const connection = createRedis({ topology, credentials, tls }, systemClock, log);
    onTestFinished(() => connection.close());
    await connection.open();
    await vi.waitFor(() => expect(log.troubles).not.toEqual([]), { timeout: 10_000 });
    expect(said).toBe('');
  });
});

it(`the service does not start with ${SWITCH}=0`, () => {
  expect(() => readConfig({ [SWITCH]: '0' })).toThrow(`${SWITCH} must not be 0`);
});
