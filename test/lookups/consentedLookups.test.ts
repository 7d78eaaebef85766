import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { LookupFailure, LookupFailureCode } from '../../src/domain/errors.ts';
import type { AcknowledgementJudgement } from '../../src/tokens/tokenResponses.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Polled } from '../../src/tokens/tokenManager.ts';
import { settled, START_MS } from '../support/testClock.ts';
import { ALICE, BOB, callerNamed, changed, checked, purposeNamed } from '../support/values.ts';
import {
  ANOTHERS,
  AskedConsents,
  failing,
  failureOf,
  PENDING,
  SECOND_MS,
} from './askedConsents.ts';
import { DATE, window } from './requests.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

const WINDOW = [window(240)];
const FALSE = [{ swapped: false }];
const UNAVAILABLE: LookupFailure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
const DENIED: Polled = { kind: 'failed', failure: { code: 'CONSENT_DENIED', reach: 'number' } };

describe.each([
  ['of its own', false],
  ['that is shared', true],
])('lookups with consent, in a store %s', (_store, isShared) => {
  let service: AskedConsents;
  beforeEach(() => {
    serve();
  });

  function serve(settings: ConstructorParameters<typeof AskedConsents>[0] = {}): void {
    service = new AskedConsents({ isShared, keepMs: 0, ...settings });
  }

  const prompts = (): number => service.operator.prompts.length;
  const pollsAt = (): number[] => service.operator.polls.map(({ at }) => at);
  const lookups = () => service.operator.lookups.map(({ lookup }) => lookup);

  it('returns CONSENT_PENDING when patience ends, and the next request resumes the same prompt', async () => {
    service.operator.polled = [PENDING, PENDING, 'granted'];
    expect(failureOf(await service.heard(3000, WINDOW))).toEqual({
      code: 'CONSENT_PENDING',
      reach: 'number',
      retryAfterSeconds: 1,
      expiresAtMs: START_MS + 120 * SECOND_MS,
    });
    await service.clock.advance(SECOND_MS);
    expect(await service.heard(0, WINDOW)).toEqual(FALSE);
    expect([prompts(), pollsAt()]).toEqual([1, [0, 2000, 4000]]);
  });

  it('begins a few exchanges a turn of the event loop, however many owners are to be prompted', async () => {
    serve({ permits: 100 });
    const numbers = Array.from({ length: 40 }, (_, n) => `+4477009000${10 + n}` as PhoneNumber);
    const asked = Promise.all(numbers.map((number) => service.ask(WINDOW, { number })));
    const begun: number[] = [];
    for (const _turn of [1, 2, 3]) begun.push(await nextTurn().then(prompts));
    expect(begun).toEqual([16, 32, 40]);
    await service.after(10 * SECOND_MS, asked);
  });

  it('polls only while a request waits', async () => {
    service.operator.polled = [PENDING];
    await service.heard(3000, WINDOW);
    const polls = pollsAt();
    await service.clock.advance(60 * SECOND_MS);
    expect(pollsAt()).toEqual(polls);
    expect(service.clock.sleepers).toBe(0);
  });

  it('shares one prompt, the polls and one lookup among the requests of one caller', async () => {
    service.operator.polled = [PENDING, 'granted'];
    const both = [service.ask(WINDOW), service.ask([window(24)])];
    expect(await service.after(2000, Promise.all(both))).toEqual([FALSE, FALSE]);
    expect([prompts(), pollsAt()]).toEqual([1, [0, 2000]]);
    expect(lookups()).toEqual([{ operation: 'check', maxAgeHours: 240 }]);
  });

  it('chooses the window when the token arrives, among the questions that still wait', async () => {
    service.operator.polled = [PENDING, 'granted'];
    const hungUp = new LightAbortSignal();
    const first = service.ask(WINDOW, { signal: hungUp });
    const second = service.ask([window(24)]);
    await service.clock.advance(SECOND_MS);
    hungUp.abort();
    expect(await service.after(SECOND_MS, second)).toEqual(FALSE);
    await first;
    expect(lookups()).toEqual([{ operation: 'check', maxAgeHours: 24 }]);
  });

  it('lets a date question wait for a pending check, and looks the date up after it', async () => {
    service.operator.polled = [PENDING, 'granted'];
    const check = service.ask(WINDOW);
    await settled();
    const date = service.ask([DATE]);
    expect(await service.after(2000, check)).toEqual(FALSE);
    expect(await date).toEqual([{ latestSimChange: null }]);
    expect(service.operator.prompted).toEqual(['check', 'retrieve-date']);
  });

  it('keeps a result that no request received, for its own caller only', async () => {
    serve({ waitMs: 2250 });
    service.operator.polled = [PENDING, 'granted'];
    service.operator.latencyMs = 100;
    expect(await service.heard(2250, WINDOW)).toEqual([failing('CONSENT_PENDING')]);
    await service.clock.advance(10 * SECOND_MS);
    expect(lookups()).toHaveLength(1);

    service.operator.polled = [PENDING];
    const bert = service.ask(WINDOW, { caller: 'bert' });
    expect(await service.heard(0, WINDOW)).toEqual(FALSE);
    expect(await service.after(3000, bert)).toEqual([failing('CONSENT_PENDING')]);
    expect(lookups()).toHaveLength(1);
  });

  it('returns an answer after one prompt even when patience is shorter than every exchange', async () => {
    service.operator.latencyMs = 100;
    const hasty = () => service.heard(SECOND_MS, WINDOW, { waitMs: 1 });
    for (const _ of [1, 2]) expect(await hasty()).toEqual([failing('CONSENT_PENDING')]);
    expect(await hasty()).toEqual(FALSE);
    expect([prompts(), lookups().length]).toEqual([1, 1]);
  });

  it('keeps the facts of a number whose next consent is pending', async () => {
    serve({ keepMs: 60_000 });
    service.operator.polled = ['granted', PENDING, PENDING, 'granted'];
    const date = changed(24);
    service.operator.looked = [date, checked(240, true)];
    const dated = { latestSimChange: date.latestSimChange };
    const questions = [DATE, window(240)];
    expect(await service.heard(3000, questions)).toEqual([dated, failing('CONSENT_PENDING')]);
    await service.clock.advance(SECOND_MS);
    expect(await service.heard(0, questions)).toEqual([dated, { swapped: true }]);
    expect(service.operator.prompted).toEqual(['retrieve-date', 'check']);
  });

  it('remembers a denial for the number, and is pending for every other caller', async () => {
    service.operator.polled = [DENIED];
    await service.heard(0, WINDOW);
    await service.clock.advance(599 * SECOND_MS);
    expect(failureOf(await service.heard(0, WINDOW))).toMatchObject({
      code: 'CONSENT_DENIED',
      retryAfterSeconds: 1,
    });
    for (const other of [{ caller: 'bert' }, { purpose: 'marketing' }]) {
      expect(failureOf(await service.heard(0, WINDOW, other))).toEqual(ANOTHERS);
    }
    await service.clock.advance(SECOND_MS);
    await service.heard(0, WINDOW, { caller: 'bert' });
    expect(prompts()).toBe(2);
  });

  it('stops polling before expires_in, and reports the expiry once to its caller', async () => {
    service.operator.polled = [PENDING];
    await service.heard(3000, WINDOW);
    await service.clock.advance(120 * SECOND_MS);
    expect(await service.heard(0, WINDOW)).toEqual([failing('CONSENT_EXPIRED')]);
    expect(prompts()).toBe(1);
    service.operator.polled = ['granted'];
    expect(await service.heard(0, WINDOW)).toEqual(FALSE);
    expect(prompts()).toBe(2);
  });

  it.each<[string, AcknowledgementJudgement, LookupFailureCode]>([
    ['whose reply was lost', { kind: 'reply-lost' }, 'CONSENT_PENDING'],
    [
      'that failed and may have prompted',
      { kind: 'failed', failure: UNAVAILABLE, mayHavePrompted: true },
      'OPERATOR_UNAVAILABLE',
    ],
  ])(
    'does not prompt again after a request %s, until it has reported the expiry once',
    async (_, acknowledgement, code) => {
      service.operator.acknowledgements = [acknowledgement];
      expect(await service.heard(0, WINDOW)).toEqual([failing(code)]);
      expect(failureOf(await service.heard(0, WINDOW))).toMatchObject({
        code: 'CONSENT_PENDING',
        retryAfterSeconds: 300,
      });
      await service.clock.advance(299 * SECOND_MS);
      expect(await service.heard(0, WINDOW)).toEqual([failing('CONSENT_PENDING')]);
      await service.clock.advance(SECOND_MS);
      expect(await service.heard(0, WINDOW)).toEqual([failing('CONSENT_EXPIRED')]);
      expect(prompts()).toBe(1);
      expect(await service.heard(0, WINDOW)).toEqual(FALSE);
      expect(prompts()).toBe(2);
    },
  );

  it('starts nothing for a caller that has hung up', async () => {
    const signal = new LightAbortSignal();
    signal.abort();
    expect(failureOf(await service.heard(0, WINDOW, { signal }))).toMatchObject({
      code: 'UNAVAILABLE',
      retryAfterSeconds: 1,
    });
    expect(prompts()).toBe(0);
  });

  it('refuses new consents when the store is full, and keeps the live ones', async () => {
    serve({ maxBytes: 1 });
    service.operator.polled = [PENDING];
    await service.heard(3000, WINDOW);
    expect(failureOf(await service.heard(0, WINDOW, { number: BOB }))).toMatchObject({
      code: 'STATE_UNAVAILABLE',
      retryAfterSeconds: 60,
    });
    service.operator.polled = ['granted'];
    expect(await service.heard(SECOND_MS, WINDOW)).toEqual(FALSE);
    expect(prompts()).toBe(1);
  });

  it('waits on close for the exchange under way, and keeps its fact', async () => {
    service.operator.latencyMs = 100;
    const hungUp = new LightAbortSignal();
    const asked = service.ask(WINDOW, { signal: hungUp });
    await service.clock.advance(150);
    hungUp.abort();
    await asked;
    let isClosed = false;
    const closing = service
      .replica()
      .close()
      .then(() => (isClosed = true));
    await settled();
    expect(isClosed).toBe(false);
    await service.after(SECOND_MS, closing);
    const anna = { caller: callerNamed('anna'), purpose: purposeNamed('fraud-prevention') };
    const recalled = service.factCache.recall(anna, ALICE, service.clock.monotonicMs());
    expect((await recalled).facts).toHaveLength(1);
  });
});
