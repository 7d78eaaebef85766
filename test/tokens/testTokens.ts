import { generateKeyPairSync } from 'node:crypto';
import { readConfig } from '../../src/config/config.ts';
import type { Tokens } from '../../src/domain/profile.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Operation } from '../../src/domain/question.ts';
import { createCorrelator } from '../../src/system/correlator.ts';
import type { AccessToken } from '../../src/tokens/accessToken.ts';
import type {
  AssertionSettings,
  AuthorizationSettings,
  Flow,
} from '../../src/tokens/authorizationSettings.ts';
import {
  createClientAuthentication,
  type ClientAuthentication,
} from '../../src/tokens/clientAuthentication.ts';
import {
  TokenManager,
  type Acquired,
  type ExchangeContext,
  type TokenSettings,
} from '../../src/tokens/tokenManager.ts';
import { answerJson, RecordingServer, type Answer } from '../wire/recordingServer.ts';
import { AMPLE_MS, TestEndpoint } from '../wire/testEndpoint.ts';
import { TestClock } from '../support/testClock.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const PUBLIC_KEY = publicKey;
export const ASSERTION: AssertionSettings = {
  privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  alg: 'ES256',
  kid: 'key-1',
  lifetimeSeconds: 60,
  audience: 'https://operator.example',
  claims: (aud: string) => ({ iss: 'client', sub: 'client', aud }),
};

/** The settings that a test changes. */
export type Changes = Partial<
  Pick<AuthorizationSettings, 'grant' | 'scopes'> & {
    readonly authentication: Partial<AuthorizationSettings['authentication']>;
    readonly clientAuthentication: Partial<AuthorizationSettings['clientAuthentication']>;
    readonly flow: Flow;
    readonly tokens: Partial<Tokens>;
  }
>;

export function settingsFor(
  url: string,
  { tokens, authentication, clientAuthentication, ...changes }: Changes,
): TokenSettings {
  const [settings] = readConfig({
    OPERATOR_FLOW: changes.flow ?? '2-legged',
    OPERATOR_AUTH_URL: url,
    OPERATOR_SIM_SWAP_URL: url,
    OPERATOR_CLIENT_ID: 'client',
    OPERATOR_CLIENT_SECRET: 'secret',
  }).operators;
  if (settings === undefined) throw new Error('no operator');
  const changed = {
    ...settings,
    ...changes,
    tokens: { ...settings.tokens, ...tokens },
    authentication: { ...settings.authentication, ...authentication },
    clientAuthentication: { ...settings.clientAuthentication, ...clientAuthentication },
  };
  // The grants of these tests are those of their flow.
  return changed as TokenSettings;
}

/** A token manager, and one server for all of its endpoints. */
export class TestTokens implements AsyncDisposable {
  readonly clock = new TestClock();
  readonly tokens: TokenManager;
  readonly server: RecordingServer;
  readonly #endpoint: TestEndpoint;

  private constructor(
    server: RecordingServer,
    changes: Changes,
    authenticate?: ClientAuthentication,
  ) {
    const { url } = server;
    const settings = settingsFor(url, changes);
    const endpoint = new TestEndpoint(url, { clock: this.clock });
    this.server = server;
    this.#endpoint = endpoint;
    this.tokens = new TokenManager(
      settings,
      {
        token: endpoint.guarded('client-credentials'),
        backchannelAuthentication: endpoint.guarded('backchannel-authentication'),
        cibaToken: endpoint.guarded('token-poll'),
      },
      authenticate ?? createClientAuthentication(settings, this.clock),
      this.clock,
    );
  }

  static async start(
    answer: Answer,
    changes: Changes = {},
    authenticate?: ClientAuthentication,
  ): Promise<TestTokens> {
    return new TestTokens(await RecordingServer.start(answer), changes, authenticate);
  }

  context(): ExchangeContext {
    const deadlineMs = this.clock.monotonicMs() + AMPLE_MS;
    return { correlator: createCorrelator('request'), deadlineMs };
  }

  acquire(
    number: PhoneNumber,
    operation: Operation,
    context: Partial<ExchangeContext> = {},
  ): Promise<Acquired> {
    const subject = { number, operation, purpose: 'dpv:FraudPreventionAndDetection' };
    const acquiring = this.tokens.acquire(subject, { ...this.context(), ...context });
    return Promise.resolve(acquiring);
  }

  /** Acquires a token and returns the header that its lookup would carry. */
  async header(number: PhoneNumber, operation: Operation): Promise<string> {
    return tokenOf(await this.acquire(number, operation)).spend({ number, operation });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endpoint[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Issues `token-1`, `token-2`, … */
export function issuing(members: object = {}): Answer {
  let count = 0;
  return (received, response) => {
    count += 1;
    const token = { access_token: `token-${count}`, token_type: 'Bearer', expires_in: 300 };
    answerJson(received, response, { ...token, ...members });
  };
}

export function tokenOf(acquired: Acquired): AccessToken {
  if (acquired.kind !== 'acquired') throw new Error('No token was acquired.');
  return acquired.token;
}
