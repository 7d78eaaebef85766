import { describe, expect, it, onTestFinished } from 'vitest';
import type { Tokens } from '../../src/domain/profile.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { systemClock, type Clock } from '../../src/system/clock.ts';
import { answerJson, RecordingServer } from '../wire/recordingServer.ts';
import { WITHOUT_NUMBER } from '../operator/camara.ts';
import {
  operatorNamed,
  SeveralOperators,
  window,
  type Short,
} from '../support/severalOperators.ts';

const SIZE = 50;

function numberOf(index: number): PhoneNumber {
  return `+4477009001${String(index).padStart(2, '0')}` as PhoneNumber;
}

/** An operator that takes only the tokens that it has not revoked. */
async function start(use: Tokens['use']) {
  const valid = new Set<string>();
  const counts = { tokens: 0, answered: 0, refused: 0 };
  const operator = {
    counts,
    takesTokens: true,
    revokeAfter: Infinity,
    revoke: () => valid.clear(),
  };
  const server = await RecordingServer.start((received, response) => {
    if (received.path.startsWith('/oauth')) {
      const access_token = `token-${(counts.tokens += 1)}`;
      valid.add(access_token);
      answerJson(received, response, { access_token, token_type: 'Bearer', expires_in: 3600 });
      return;
    }
    const token = String(received.headers.authorization).replace('Bearer ', '');
    if (operator.takesTokens && valid.has(token)) {
      counts.answered += 1;
      if (counts.answered === operator.revokeAfter) operator.revoke();
      answerJson(received, response, { swapped: false });
    } else {
      counts.refused += 1;
      answerJson(received, response, { code: 'UNAUTHENTICATED' }, 401);
    }
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs(),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
  const plain = operatorNamed('theirs', server.url);
  const changes = {
    prefixes: ['default'] as const,
    tokens: { ...plain.tokens, use },
    ...(use === 'any-number' ? { grant: WITHOUT_NUMBER, sendPhoneNumber: 'always' as const } : {}),
  };
  const service = new SeveralOperators([operatorNamed('theirs', server.url, changes)], { clock });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const list = (): Promise<readonly Short[]> => {
    const loader = service.request();
    return Promise.all(Array.from({ length: SIZE }, (_, one) => window(loader, numberOf(one))));
  };
  return { operator, counts, list, pass: (ms: number) => (aheadMs += ms) };
}

const ALL_FALSE = Array<Short>(SIZE).fill(false);
const ALL_REFUSED = Array<Short>(SIZE).fill('OPERATOR_REFUSED');

describe('shared tokens that the operator revoked', () => {
  it('before a list: one lookup tries the new token, and all are answered', async () => {
    const { operator, counts, list } = await start('any-number');
    expect(await list()).toEqual(ALL_FALSE);
    operator.revoke();
    expect(await list()).toEqual(ALL_FALSE);
    expect(counts).toEqual({ tokens: 2, answered: 2 * SIZE, refused: SIZE });
  });

  it('in mid-list: all are answered, with one refresh', async () => {
    const { operator, counts, list } = await start('any-number');
    operator.revokeAfter = SIZE / 2;
    expect(await list()).toEqual(ALL_FALSE);
    expect(counts).toEqual({ tokens: 2, answered: SIZE, refused: SIZE / 2 });
  });

  it('each for a number: all are answered, and the retry budget is charged once', async () => {
    const { operator, counts, list } = await start('per-number');
    expect(await list()).toEqual(ALL_FALSE);
    operator.revoke();
    expect(await list()).toEqual(ALL_FALSE);
    expect(counts).toEqual({ tokens: 2 * SIZE, answered: 2 * SIZE, refused: SIZE });
  });

  it('and refuses again: one lookup tries, the others end; one refresh a minute', async () => {
    const { operator, counts, list, pass } = await start('any-number');
    expect(await list()).toEqual(ALL_FALSE);
    operator.takesTokens = false;
    expect(await list()).toEqual(ALL_REFUSED);
    expect(counts).toEqual({ tokens: 2, answered: SIZE, refused: SIZE + 1 });
    for (const tokens of [3, 4]) {
      expect(await list()).toEqual(ALL_REFUSED);
      expect(counts.tokens).toBe(tokens - 1);
      pass(60_000);
      expect(await list()).toEqual(ALL_REFUSED);
      expect(counts.tokens).toBe(tokens);
    }
    operator.takesTokens = true;
    expect(await list()).toEqual(ALL_FALSE);
    expect(counts.tokens).toBe(4);
  });
});
