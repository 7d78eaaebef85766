import { describe, expect, it } from 'vitest';
import type { Scopes, Tokens } from '../../src/domain/profile.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { TokenMisused } from '../../src/tokens/accessToken.ts';
import { tokenCoverage } from '../../src/tokens/authorizationSettings.ts';
import { KeptTokens, ReusableToken } from '../../src/tokens/reusedTokens.ts';
import { answerJson } from '../wire/recordingServer.ts';
import { TestClock } from '../support/testClock.ts';
import { WITHOUT_NUMBER } from '../operator/camara.ts';
import { ALICE, BOB } from '../support/values.ts';
import {
  ASSERTION,
  issuing,
  settingsFor,
  TestTokens,
  tokenOf,
  type Changes,
} from './testTokens.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

const TWO_SCOPES: Scopes = {
  operations: { 'retrieve-date': 'retrieve-sim-swap-date', check: 'check-sim-swap' },
  openid: false,
  purpose: false,
  joinedBy: ' ',
};
/** In two orders: a scope is a set. */
const ONE_SCOPE: Scopes = {
  ...TWO_SCOPES,
  operations: { 'retrieve-date': 'sim-swap profile', check: 'profile sim-swap' },
};
const JWT_GRANT = {
  grant: { type: 'jwt-bearer', path: '/token', parameters: {}, subject: 'tel:{number}' },
  clientAuthentication: { assertion: ASSERTION },
  scopes: ONE_SCOPE,
} as const;
const PER_NUMBER: Changes = { tokens: { use: 'per-number' } };
type TokenUse = Tokens['use'];

describe('a token', () => {
  it.each<[TokenUse, string, Changes, string[]]>([
    ['once', 'one scope', { scopes: ONE_SCOPE }, ['1', '2', '3', '4']],
    ['per-number', 'two scopes', {}, ['1', '2', '3', '4']],
    ['per-number', 'one scope', { scopes: ONE_SCOPE }, ['1', '1', '2', '2']],
    ['any-number', 'two scopes', { grant: WITHOUT_NUMBER }, ['1', '2', '1', '2']],
    ['any-number', 'one scope', { grant: WITHOUT_NUMBER, scopes: ONE_SCOPE }, ['1', '1', '1', '1']],
    ['any-number', 'a JWT as the grant', JWT_GRANT, ['1', '1', '2', '2']],
    ['any-number', 'the number as username', { scopes: ONE_SCOPE }, ['1', '1', '2', '2']],
  ])('with use %s and %s', async (use, _, changes, tokens) => {
    await using test = await TestTokens.start(issuing(), { tokens: { use }, ...changes });
    const headers = [
      await test.header(ALICE, 'retrieve-date'),
      await test.header(ALICE, 'check'),
      await test.header(BOB, 'retrieve-date'),
      await test.header(BOB, 'check'),
    ];
    expect(headers).toEqual(tokens.map((token) => `token-${token}`));
    expect(test.server.received).toHaveLength(new Set(tokens).size);
  });

  it('gives each lookup a right that works once', async () => {
    await using test = await TestTokens.start(issuing(), PER_NUMBER);
    const token = tokenOf(await test.acquire(ALICE, 'check'));
    const subject = { number: ALICE, operation: 'check' } as const;
    expect(() => token.spend({ ...subject, number: BOB })).toThrow(TokenMisused);
    token.spend(subject);
    expect(() => token.spend(subject)).toThrow(TokenMisused);
  });

  it.each<[string, object, number, number]>([
    ['its margin before its end', { expires_in: 300 }, 294_999, 295_000],
    ['after the default lifetime where the reply names none', { expires_in: null }, 54_999, 55_000],
  ])('is replaced %s, counted from sending', async (_, members, stillMs, overMs) => {
    const sendingMs = 2000;
    const answer = issuing(members);
    await using test = await TestTokens.start(
      (received, response) => {
        void test.clock.advance(sendingMs).then(() => answer(received, response));
      },
      { tokens: { use: 'per-number', marginSeconds: 5, defaultLifetimeSeconds: 60 } },
    );
    await test.header(ALICE, 'check');
    await test.clock.advance(stillMs - sendingMs);
    expect(await test.header(ALICE, 'check')).toBe('token-1');
    await test.clock.advance(overMs - stillMs);
    test.clock.setWall(0);
    expect(await test.header(ALICE, 'check')).toBe('token-2');
  });

  it('that ends within the margin serves its waiters, and is not kept', async () => {
    await using test = await TestTokens.start(issuing({ expires_in: 5 }), PER_NUMBER);
    const both = [test.header(ALICE, 'check'), test.header(ALICE, 'check')];
    expect(await Promise.all(both)).toEqual(['token-1', 'token-1']);
    expect(await test.header(ALICE, 'check')).toBe('token-2');
  });

  it('is replaced once refused, and a second refusal of it does not drop its replacement', async () => {
    await using test = await TestTokens.start(issuing(), PER_NUMBER);
    const first = await test.acquire(ALICE, 'check');
    const second = await test.acquire(ALICE, 'check');
    tokenOf(first).refused();
    expect(await test.header(ALICE, 'check')).toBe('token-2');
    tokenOf(second).refused();
    expect(await test.header(ALICE, 'check')).toBe('token-2');
    expect(test.server.received).toHaveLength(2);
  });
});

describe('the waiters for one token', () => {
  it('share one request, and each gets a right to its own lookup', async () => {
    await using test = await TestTokens.start(issuing(), {
      tokens: { use: 'any-number' },
      grant: WITHOUT_NUMBER,
      scopes: ONE_SCOPE,
    });
    const headers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        test.header(index % 2 === 0 ? ALICE : BOB, 'check'),
      ),
    );
    expect(new Set(headers)).toEqual(new Set(['token-1']));
    expect(test.server.received).toHaveLength(1);
  });

  it('share one failure, which is not kept', async () => {
    let isDown = true;
    const issue = issuing();
    await using test = await TestTokens.start((received, response) => {
      if (isDown) answerJson(received, response, { error: 'invalid_client' }, 401);
      else issue(received, response);
    }, PER_NUMBER);
    const both = [test.acquire(ALICE, 'check'), test.acquire(ALICE, 'check')];
    const outcomes = await Promise.all(both);
    expect(outcomes.map((one) => one.kind)).toEqual(['failed', 'failed']);
    expect(test.server.received).toHaveLength(1);
    isDown = false;
    expect(await test.header(ALICE, 'check')).toBe('token-1');
  });

  it('may hang up: the request ends with the last of them, and the next waiter starts another', async () => {
    const answers: (() => void)[] = [];
    const issue = issuing();
    await using test = await TestTokens.start((received, response) => {
      answers.push(() => issue(received, response));
    }, PER_NUMBER);
    const [one, other] = [new LightAbortSignal(), new LightAbortSignal()];
    const acquiring = [one, other, one].map((signal) => test.acquire(ALICE, 'check', { signal }));
    await expect.poll(() => answers.length).toBe(1);
    one.abort();
    expect(await acquiring[0]).toMatchObject({ failure: { code: 'OPERATOR_TIMEOUT' } });
    other.abort();
    const again = [new LightAbortSignal(), new LightAbortSignal()] as const;
    const [gone, stays] = again.map((signal) => test.acquire(ALICE, 'check', { signal }));
    expect(await acquiring[1]).toMatchObject({ failure: { code: 'OPERATOR_TIMEOUT' } });
    await test.server.connections[0]?.closed;
    await expect.poll(() => answers.length).toBe(2);
    again[0].abort();
    expect(await gone).toMatchObject({ failure: { code: 'OPERATOR_TIMEOUT' } });
    answers[1]?.();
    expect(await stays).toMatchObject({ kind: 'acquired' });
    expect(test.server.received).toHaveLength(2);
  });
});

describe('kept tokens', () => {
  const settings = settingsFor('http://127.0.0.1:9', { tokens: { use: 'per-number' } });

  function reusable(number: PhoneNumber, value: string, expiresAtMs = 1e9): ReusableToken {
    const coverageOf = tokenCoverage.bind(undefined, settings);
    return new ReusableToken(
      value,
      expiresAtMs,
      { number, operation: 'check', purpose: 'p' },
      coverageOf,
    );
  }

  it('are bounded in bytes: the oldest is dropped first', () => {
    const kept = new KeptTokens(new TestClock(), 0, 40_000);
    for (let index = 0; index < 10; index += 1)
      kept.keep(`${index}`, reusable(ALICE, 'x'.repeat(8192)));
    const found = Array.from({ length: 10 }, (_, index) => kept.find(`${index}`) !== undefined);
    expect(found).toEqual([...Array<boolean>(8).fill(false), true, true]);
  });

  it('that have expired are dropped when another is kept', () => {
    let nowMs = 0;
    const clock = Object.assign(new TestClock(), { monotonicMs: () => nowMs });
    const kept = new KeptTokens(clock, 0);
    for (const key of ['over', 'over too']) kept.keep(key, reusable(ALICE, 'a', 10));
    nowMs = 10;
    kept.keep('one', reusable(ALICE, 'b'));
    // Only a clock that goes back shows that they are gone, and not merely refused.
    nowMs = 0;
    expect(['over', 'over too', 'one'].map((key) => kept.find(key) !== undefined)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('are lent only for what they cover', () => {
    const token = reusable(ALICE, 'value');
    for (const subject of [
      { number: BOB, operation: 'check', purpose: 'p' },
      { number: ALICE, operation: 'retrieve-date', purpose: 'p' },
      { number: ALICE, operation: 'check', purpose: 'q' },
    ] as const) {
      expect(() => token.lend(subject, () => undefined)).toThrow(TokenMisused);
    }
  });
});

describe('a JWT as the grant', () => {
  it.each([
    ['private_key_jwt', undefined],
    ['basic', expect.stringMatching(/^Basic /)],
  ] as const)('is the only assertion of a request with %s', async (method, header) => {
    const clientAuthentication = { method, assertion: ASSERTION };
    await using test = await TestTokens.start(issuing(), { ...JWT_GRANT, clientAuthentication });
    await test.header(ALICE, 'check');
    const [received] = test.server.received;
    expect(received?.headers.authorization).toEqual(header);
    const members = [...new URLSearchParams(received?.body).keys()];
    expect(members).toEqual(['grant_type', 'assertion']);
  });

  it('refused with invalid_grant means that the owner has opted out, once its key was accepted and fewer than five numbers in a row were refused', async () => {
    let isRefused = true;
    await using test = await TestTokens.start(
      (received, response) =>
        isRefused
          ? answerJson(received, response, { error: 'invalid_grant' }, 400)
          : issuing()(received, response),
      { ...JWT_GRANT, grant: { ...JWT_GRANT.grant, invalidGrant: 'CONSENT_DENIED' } },
    );
    const codeFor = async (last: number): Promise<string> => {
      const number = `+4477009000${String(last).padStart(2, '0')}` as PhoneNumber;
      const acquired = await test.acquire(number, 'check');
      return acquired.kind === 'failed' ? acquired.failure.code : acquired.kind;
    };

    expect(await codeFor(0)).toBe('OPERATOR_REFUSED');
    isRefused = false;
    expect(await codeFor(1)).toBe('acquired');
    isRefused = true;
    const codes: string[] = [];
    for (const last of [2, 2, 3, 4, 5, 6, 7]) codes.push(await codeFor(last));
    const refused = ['OPERATOR_REFUSED', 'OPERATOR_REFUSED'];
    expect(codes).toEqual([...Array<string>(5).fill('CONSENT_DENIED'), ...refused]);
    isRefused = false;
    expect(await codeFor(8)).toBe('acquired');
    isRefused = true;
    expect(await codeFor(9)).toBe('CONSENT_DENIED');
  });
});
