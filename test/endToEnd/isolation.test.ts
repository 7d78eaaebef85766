import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/system/clock.ts';
import { answerJson, type Answer, type Received } from '../wire/recordingServer.ts';
import { TestClock } from '../support/testClock.ts';
import { answerRightly, replying } from '../support/wiredOperator.ts';
import { AskedSimSwaps, line } from './askedSimSwaps.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

const NUMBERS = 200;
/** More than may be on the wire to an operator at a time. */
const CONSENTS = 300;
const MAX_EXCHANGES = 256;
/** A token and a check. */
const NORMAL_EXCHANGES = 2;
const CHECK_ONLY = { OPERATOR_OPERATIONS: 'check' };

function failing(path: string, share: number, fail: Answer): Answer {
  let seen = 0;
  let failed = 0;
  return (received, response) => {
    if (received.path.endsWith(path)) {
      seen += 1;
      if (failed < seen * share) {
        failed += 1;
        fail(received, response);
        return;
      }
    }
    answerRightly(received, response);
  };
}

const resets: Answer = ({ connection }) => connection.socket.resetAndDestroy();

const refuses = (status: number): Answer => replying({ code: 'NO', error: 'no' }, status);

describe('an operator that fails', () => {
  let clock: TestClock;

  beforeEach(() => {
    clock = new TestClock();
  });

  /** Pauses before retries pass at once. */
  const hasty: Clock = {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (ms, act) => clock.after(ms, act),
    sleep: (ms) => clock.advance(ms),
  };

  it.each<{ what: string; operator: Answer; settings?: Record<string, string> }>([
    { what: 'no token, ever', operator: failing('/token', 1, refuses(503)) },
    { what: 'two of five token requests are reset', operator: failing('/token', 0.4, resets) },
    { what: 'two of five checks are reset', operator: failing('/check', 0.4, resets) },
    { what: 'every token is refused (401)', operator: failing('/check', 1, refuses(401)) },
    {
      what: 'two of five checks fail, and doubtful ones are repeated',
      operator: failing('/check', 0.4, refuses(500)),
      settings: { OPERATOR_RETRY_LOOKUPS: 'true' },
    },
  ])('costs at most 1.10 × its normal exchanges: $what', async ({ operator, settings }) => {
    await using asked = await AskedSimSwaps.start(hasty, operator, { ...CHECK_ONLY, ...settings });
    for (let index = 0; index < NUMBERS; index += 1) await asked.ask({ number: line(index) });
    expect(asked.count()).toBeGreaterThanOrEqual(20);
    expect(asked.count()).toBeLessThanOrEqual(1.1 * NORMAL_EXCHANGES * NUMBERS);
  });
});

describe('hundreds of pending consents', () => {
  const THREE_LEGGED = { ...CHECK_ONLY, OPERATOR_FLOW: '3-legged', CONSENT_WAIT_MS: '300000' };
  const GRANTED = line(999);

  /** Prompts are acknowledged with the number for a name; all but one number are pending. */
  function consents(instead: (received: Received) => boolean = () => false): Answer {
    return (received, response) => {
      const form = new URLSearchParams(received.body);
      if (instead(received)) return;
      if (received.path.endsWith('/bc-authorize')) {
        const authReqId = form.get('login_hint')?.replace('tel:+', '');
        answerJson(received, response, { auth_req_id: authReqId, expires_in: 600, interval: 5 });
      } else if (received.path.endsWith('/check') || `+${form.get('auth_req_id')}` === GRANTED) {
        answerRightly(received, response);
      } else {
        answerJson(received, response, { error: 'authorization_pending' }, 400);
      }
    };
  }

  it('do not delay a check of another number', async () => {
    const clock = new TestClock();
    await using asked = await AskedSimSwaps.start(clock, consents(), THREE_LEGGED);
    let over = 0;
    const callers = new LightAbortSignal();
    const pending = Array.from({ length: CONSENTS }, async (_, index) => {
      await asked.ask({ number: line(index), signal: callers });
      over += 1;
    });
    await expect.poll(() => asked.count('/token'), { timeout: 15_000 }).toBe(CONSENTS);

    expect(await asked.ask({ number: GRANTED })).toBe(false);
    expect(over).toBe(0);
    expect(asked.count('/check')).toBe(1);
    callers.abort();
    await Promise.all(pending);
  });

  it('whose prompts are not acknowledged do not delay a poll, nor the check after it', async () => {
    const clock = new TestClock();
    let isHolding = false;
    const isHeld = ({ path }: Received): boolean => isHolding && path.endsWith('/bc-authorize');
    await using asked = await AskedSimSwaps.start(clock, consents(isHeld), {
      ...THREE_LEGGED,
      OPERATOR_CIBA_FIRST_POLL: 'after-interval',
    });
    const granted = asked.ask({ number: GRANTED });
    await expect.poll(() => clock.sleepers).toBeGreaterThan(1);
    isHolding = true;
    const callers = new LightAbortSignal();
    const held = Array.from({ length: CONSENTS }, (_, index) =>
      asked.ask({ number: line(index), signal: callers }),
    );
    await expect
      .poll(() => asked.count('/bc-authorize'), { timeout: 15_000 })
      .toBe(1 + MAX_EXCHANGES);

    await clock.advance(5000);
    expect(await granted).toBe(false);
    callers.abort();
    await Promise.all(held);
    // What is on the wire for a consent runs to its end; what waits for room ends with its time.
    await clock.advance(60_000);
    isHolding = false;
    for (const { socket } of asked.operator.connections) socket.destroy();
  });
});
