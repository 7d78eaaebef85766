import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import type { AccessToken } from '../../src/tokens/accessToken.ts';
import type { OperatorSettings } from '../../src/operator/operatorSettings.ts';
import type { Flow } from '../../src/tokens/authorizationSettings.ts';
import {
  createClientAuthentication,
  type ClientAuthentication,
} from '../../src/tokens/clientAuthentication.ts';
import { TokenManager, type Polled, type ExchangeContext } from '../../src/tokens/tokenManager.ts';
import { answerJson, deadUrl, RecordingServer, type Answer } from '../http/recordingServer.ts';
import { AMPLE_MS, TestEndpoint } from '../http/testEndpoint.ts';
import { TestClock } from '../testClock.ts';
import { ALICE } from '../values.ts';

const DATE = { number: ALICE, operation: 'retrieve-date' } as const;
const CHECK = { number: ALICE, operation: 'check' } as const;

const BASIC = `Basic ${Buffer.from('client:secret').toString('base64')}`;

function settingsFor(url: string, flow: Flow): OperatorSettings {
  const [settings] = readConfig({
    OPERATOR_FLOW: flow,
    OPERATOR_AUTH_URL: url,
    OPERATOR_SIM_SWAP_URL: url,
    OPERATOR_CLIENT_ID: 'client',
    OPERATOR_CLIENT_SECRET: 'secret',
  }).operators;
  if (settings === undefined) throw new Error('no operator');
  return settings;
}

class TestTokens implements AsyncDisposable {
  readonly clock = new TestClock();
  /** In the 2-legged flow. */
  readonly direct: TokenManager;
  /** In the 3-legged flow. */
  readonly consented: TokenManager;
  readonly #endpoints: readonly TestEndpoint[];

  constructor(authUrl: string, authenticate?: ClientAuthentication) {
    const token = new TestEndpoint(`${authUrl}/oauth/v1/token`);
    const backchannel = new TestEndpoint(`${authUrl}/openIDConnectCIBA/v1/bc-authorize`);
    const cibaToken = new TestEndpoint(`${authUrl}/openIDConnectCIBA/v1/token`);
    this.#endpoints = [token, backchannel, cibaToken];
    const endpoints = {
      token: token.guarded('client-credentials', this.clock),
      backchannelAuthentication: backchannel.guarded('backchannel-authentication', this.clock),
      cibaToken: cibaToken.guarded('token-poll', this.clock),
    };
    const create = (flow: Flow): TokenManager => {
      const settings = settingsFor(authUrl, flow);
      const { clientId, clientAuthentication } = settings;
      const proof =
        authenticate ?? createClientAuthentication(clientId, clientAuthentication, this.clock);
      return new TokenManager(settings, endpoints, proof, this.clock);
    };
    this.direct = create('2-legged');
    this.consented = create('3-legged');
  }

  context(): ExchangeContext {
    return {
      correlator: createCorrelator('request'),
      deadlineMs: this.clock.monotonicMs() + AMPLE_MS,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#endpoints.map((one) => one[Symbol.asyncDispose]()));
  }
}

const issuing =
  (members: object = {}): Answer =>
  (received, response) =>
    answerJson(received, response, {
      access_token: 'token-1',
      token_type: 'Bearer',
      expires_in: 300,
      ...members,
    });

/** Refuses with an OAuth error the first times, then issues a token. */
function issuingAfter(times: number, status: number, error: string): Answer {
  let count = 0;
  return (received, response) => {
    count += 1;
    if (count > times) issuing()(received, response);
    else answerJson(received, response, { error }, status);
  };
}

function tokenOf(acquired: Polled): AccessToken {
  if (acquired.kind !== 'acquired') throw new Error('No token was acquired.');
  return acquired.token;
}

describe('on the wire', () => {
  it.each([
    [DATE, 'retrieve-sim-swap-date'],
    [CHECK, 'check-sim-swap'],
  ])('2-legged: client_credentials for $operation', async (subject, scope) => {
    await using server = await RecordingServer.start(issuing());
    await using test = new TestTokens(server.url);
    const acquired = await test.direct.acquire(subject, test.context());

    expect(server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({
      method: 'POST',
      path: '/oauth/v1/token',
      headers: {
        authorization: BASIC,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'x-correlator': expect.stringMatching(/^request-[A-Za-z0-9]{12}-1$/) as string,
      },
      body: `grant_type=client_credentials&scope=${scope}&username=tel%3A%2B447700900001`,
    });
    expect(tokenOf(acquired).spend(subject)).toBe('token-1');
  });

  it('3-legged: the backchannel authentication request', async () => {
    await using server = await RecordingServer.start((received, response) =>
      answerJson(received, response, { auth_req_id: 'request-1', expires_in: 120, interval: 2 }),
    );
    await using test = new TestTokens(server.url);
    expect(await test.consented.requestConsent(CHECK, test.context())).toMatchObject({
      judged: {
        kind: 'acknowledged',
        acknowledged: { authReqId: 'request-1', expiresInSeconds: 120, intervalSeconds: 2 },
      },
      attempts: 1,
    });
    expect(server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({
      method: 'POST',
      path: '/openIDConnectCIBA/v1/bc-authorize',
      headers: { authorization: BASIC, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'login_hint=tel%3A%2B447700900001&scope=check-sim-swap',
    });
  });

  it('3-legged: a poll', async () => {
    await using server = await RecordingServer.start(issuing());
    await using test = new TestTokens(server.url);
    const polled = await test.consented.poll('request 1/+&', DATE, test.context());
    expect(server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({
      method: 'POST',
      path: '/openIDConnectCIBA/v1/token',
      headers: { authorization: BASIC, 'content-type': 'application/x-www-form-urlencoded' },
      body:
        'grant_type=urn%3Aopenid%3Aparams%3Amc%3Agrant-type%3Aciba' +
        '&auth_req_id=request+1%2F%2B%26',
    });
    expect(tokenOf(polled).spend(DATE)).toBe('token-1');
  });
});

describe('the proof of the client', () => {
  it('goes into the form, and each attempt has its own', async () => {
    let made = 0;
    const authenticate: ClientAuthentication = () => {
      made += 1;
      return Promise.resolve({ headers: [], form: { client_assertion: `jwt-${made}` } });
    };
    await using server = await RecordingServer.start(issuingAfter(1, 500, 'server_error'));
    await using test = new TestTokens(server.url, authenticate);
    await test.direct.acquire(CHECK, test.context());
    expect(
      server.received.map(({ body }) => new URLSearchParams(body).get('client_assertion')),
    ).toEqual(['jwt-1', 'jwt-2']);
    expect(server.received[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('a token', () => {
  it('is acquired each time', async () => {
    await using server = await RecordingServer.start(issuing());
    await using test = new TestTokens(server.url);
    await test.direct.acquire(CHECK, test.context());
    await test.direct.acquire(CHECK, test.context());
    expect(server.received).toHaveLength(2);
  });

  it('expires by the monotonic clock, counted from sending', async () => {
    await using server = await RecordingServer.start((received, response) => {
      void test.clock.advance(2_000).then(() => issuing({ expires_in: 5 })(received, response));
    });
    await using test = new TestTokens(server.url);
    const sentAtMs = test.clock.monotonicMs();
    const token = tokenOf(await test.direct.acquire(CHECK, test.context()));
    test.clock.setWall(0);
    expect(token.isExpired(sentAtMs + 4_999)).toBe(false);
    expect(token.isExpired(sentAtMs + 5_000)).toBe(true);
  });
});

describe('trouble', () => {
  it('2-legged, 500: is tried once more, with a correlator of its own', async () => {
    await using server = await RecordingServer.start(issuingAfter(1, 500, 'server_error'));
    await using test = new TestTokens(server.url);
    expect(await test.direct.acquire(CHECK, test.context())).toHaveProperty('token');
    expect(server.received.map(({ correlator }) => correlator.at(-1))).toEqual(['1', '2']);
  });

  it('2-legged, 401: is our trouble, and is not tried again', async () => {
    await using server = await RecordingServer.start(issuingAfter(9, 401, 'invalid_client'));
    await using test = new TestTokens(server.url);
    expect(await test.direct.acquire(CHECK, test.context())).toEqual({
      kind: 'failed',
      failure: { code: 'OPERATOR_REFUSED', reach: 'number' },
    });
    expect(server.received).toHaveLength(1);
  });

  it('bc-authorize, reset after it was sent: no owner is prompted twice', async () => {
    await using server = await RecordingServer.start((_, response) =>
      response.socket?.resetAndDestroy(),
    );
    await using test = new TestTokens(server.url);
    expect(await test.consented.requestConsent(CHECK, test.context())).toMatchObject({
      judged: { kind: 'reply-lost' },
      attempts: 1,
    });
    expect(server.received).toHaveLength(1);
  });

  it('bc-authorize, 500: no owner is prompted twice', async () => {
    await using server = await RecordingServer.start(issuingAfter(9, 500, 'server_error'));
    await using test = new TestTokens(server.url);
    expect(await test.consented.requestConsent(CHECK, test.context())).toMatchObject({
      judged: {
        failure: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' },
        kind: 'failed',
        mayHavePrompted: true,
      },
      attempts: 1,
    });
    expect(server.received).toHaveLength(1);
  });

  it('a poll, 500: is one poll, and the next is a matter of its interval', async () => {
    await using server = await RecordingServer.start(issuingAfter(9, 500, 'server_error'));
    await using test = new TestTokens(server.url);
    expect(await test.consented.poll('request-1', CHECK, test.context())).toEqual({
      kind: 'go-on',
      goOn: 'no_reply',
    });
    expect(server.received).toHaveLength(1);
  });

  it('a poll that is pending goes on', async () => {
    await using server = await RecordingServer.start(issuingAfter(9, 400, 'authorization_pending'));
    await using test = new TestTokens(server.url);
    expect(await test.consented.poll('request-1', CHECK, test.context())).toEqual({
      kind: 'go-on',
      goOn: 'authorization_pending',
    });
  });

  it('no server listens: nothing was sent, and no method rejects', async () => {
    await using test = new TestTokens(await deadUrl());
    const failure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
    expect(await test.direct.acquire(CHECK, test.context())).toEqual({ kind: 'failed', failure });
    expect(await test.consented.requestConsent(CHECK, test.context())).toMatchObject({
      judged: { kind: 'failed', failure, mayHavePrompted: false },
      attempts: 0,
    });
    expect(await test.consented.poll('request-1', CHECK, test.context())).toEqual({
      kind: 'go-on',
      goOn: 'no_reply',
    });
  });
});
