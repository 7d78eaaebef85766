import { beforeEach, describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../../src/domain/phoneNumber.ts';
import type { LookupFailure } from '../../../src/domain/errors.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import type { GuardedEndpoint } from '../../../src/http/resilience/guardedEndpoint.ts';
import type { Log } from '../../../src/log/log.ts';
import { TestClock } from '../../testClock.ts';
import { answerJson, RecordingServer } from '../recordingServer.ts';
import { AMPLE_MS, TestEndpoint } from '../testEndpoint.ts';

const REQUEST = { headers: [], contentType: 'application/json', body: '{}' } as const;
const BROKEN = new Error('The request could not be made.');

function judge(exchange: Exchange): { didLeave: boolean; failure?: LookupFailure } {
  if (exchange.kind === 'fault') return { didLeave: exchange.fault.sent };
  const failure: LookupFailure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
  return exchange.reply.status < 300 ? { didLeave: true } : { didLeave: true, failure };
}

describe('an endpoint behind its circuit', () => {
  let clock: TestClock;
  let lines: string[];
  let status: number;

  beforeEach(() => {
    clock = new TestClock();
    lines = [];
    status = 200;
  });

  const write = (message: string): void => {
    lines.push(message.split(/[.:]/, 1)[0] ?? '');
  };
  const log: Log = { info: write, warn: write, error: write };

  function startServer(): Promise<RecordingServer> {
    return RecordingServer.start((received, response) =>
      answerJson(received, response, {}, status),
    );
  }

  /** Posts about the n-th number; whether it left. */
  async function post(guarded: GuardedEndpoint, index: number, make?: () => never) {
    const { judged } = await guarded.post({
      about: `+447700900${String(index).padStart(3, '0')}` as PhoneNumber,
      urgency: { deadlineMs: clock.monotonicMs() + AMPLE_MS },
      make: make ?? (() => ({ ...REQUEST, correlator: `exchange-${index}` })),
      judge,
    });
    return judged.didLeave;
  }

  async function open(guarded: GuardedEndpoint): Promise<void> {
    status = 503;
    for (let index = 0; index < 20; index += 1) await post(guarded, index);
  }

  it('says when it opens and when it closes, and nothing in between', async () => {
    await using server = await startServer();
    await using endpoint = new TestEndpoint(server.url);
    const guarded = endpoint.guarded('token-poll', clock, log);

    await open(guarded);
    for (let index = 0; index < 100; index += 1) expect(await post(guarded, index)).toBe(false);
    expect(server.received).toHaveLength(20);
    await clock.advance(5000);
    status = 200;
    expect(await post(guarded, 1)).toBe(true);
    expect(await post(guarded, 2)).toBe(true);

    expect(lines.filter((line) => line.includes('circuit'))).toEqual([
      'The circuit is open',
      'The circuit is closed',
    ]);
    expect(new Set(lines).size).toBe(3);
  });

  it('tries again after a trial that could not even be made', async () => {
    await using server = await startServer();
    await using endpoint = new TestEndpoint(server.url);
    const guarded = endpoint.guarded('token-poll', clock, log);

    await open(guarded);
    await clock.advance(5000);
    const fails = (): never => {
      throw BROKEN;
    };
    await expect(post(guarded, 1, fails)).rejects.toBe(BROKEN);
    await clock.advance(5000);
    status = 200;
    expect(await post(guarded, 1)).toBe(true);
  });
});
