import { expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { Exchange, OutgoingRequest } from '../../src/wire/exchange.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { TestClock } from '../support/testClock.ts';
import { answerJson, RecordingServer } from '../wire/recordingServer.ts';
import { AMPLE_MS, TestEndpoint } from '../wire/testEndpoint.ts';

const BROKEN = new Error('The request could not be made.');

function judge(exchange: Exchange): { didLeave: boolean; failure?: LookupFailure } {
  if (exchange.kind === 'fault') return { didLeave: exchange.fault.sent };
  const failure: LookupFailure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
  return exchange.reply.status < 300 ? { didLeave: true } : { didLeave: true, failure };
}

it('an endpoint behind its circuit is tried again after a trial, even one that could not be made', async () => {
  const clock = new TestClock();
  const log = new RecordedLog();
  let status = 503;
  await using server = await RecordingServer.start((received, response) =>
    answerJson(received, response, {}, status),
  );
  await using endpoint = new TestEndpoint(server.url, { clock });
  const guarded = endpoint.guarded('token-poll', log);
  /** Posts about the n-th number; whether the request left. */
  const post = async (
    index: number,
    make = (): OutgoingRequest => ({ headers: [], correlator: `exchange-${index}` }),
  ) => {
    const about = `+447700900${String(index).padStart(3, '0')}` as PhoneNumber;
    const urgency = { deadlineMs: clock.monotonicMs() + AMPLE_MS };
    const { judged } = await guarded.post({ about, urgency, make, judge });
    return judged.didLeave;
  };

  for (let index = 0; index < 20; index += 1) expect(await post(index)).toBe(true);
  for (let index = 0; index < 100; index += 1) expect(await post(index)).toBe(false);
  expect(server.received).toHaveLength(20);
  await clock.advance(5000);
  const fails = (): never => {
    throw BROKEN;
  };
  await expect(post(1, fails)).rejects.toBe(BROKEN);
  await clock.advance(5000);
  status = 200;
  expect([await post(1), await post(2)]).toEqual([true, true]);

  // Its failures, and once that it opened and closed.
  const messages = log.lines.map(({ message }) => message);
  expect(new Set(messages).size).toBe(3);
  expect(messages.filter((message) => message.includes('circuit'))).toEqual([
    expect.stringMatching(/^The circuit is open/),
    expect.stringMatching(/^The circuit is closed/),
  ]);
});
