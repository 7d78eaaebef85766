import { beforeEach, describe, expect, it } from 'vitest';
import { identityOf, type Consent } from '../../src/consents/consentRecord.ts';
import { settled } from '../support/testClock.ts';
import { ALICE, changed } from '../support/values.ts';
import { AskedConsents, failing, LEASE_MS, PENDING } from './askedConsents.ts';
import { answersOf, askAll, DATE, executorOn, requestAt, window } from './requests.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

const WINDOW = [window(240)];
const FALSE = [{ swapped: false }];

describe('lookups with consent in several replicas', () => {
  let service: AskedConsents;
  let clock: AskedConsents['clock'];
  let operator: AskedConsents['operator'];
  let store: AskedConsents['store'];
  beforeEach(() => {
    service = new AskedConsents({ replicas: 2, isShared: true, keepMs: 0 });
    ({ clock, operator, store } = service);
  });

  /** The answers of a request to one replica. */
  const ask = (replica: 0 | 1, waitMs = 3000) => service.ask(WINDOW, { waitMs }, replica);
  const heard = (ms: number, replica: 0 | 1) => service.after(ms, ask(replica));

  /** Changes the living consent as another process does. */
  async function changeConsent(change: (found: Consent, nowMs: number) => Consent): Promise<void> {
    const { record, version, nowMs } = await store.read(ALICE);
    if (record?.consent === undefined) throw new Error('No consent lives.');
    const consent = change(record.consent, nowMs);
    await store.write(ALICE, version, { ...record, consent }, 120_000);
  }

  it('takes over from a poller that died once its lease is over', async () => {
    operator.polled = [PENDING];
    await heard(3000, 0);
    await changeConsent((found, nowMs) => ({ ...found, leaseUntilMs: nowMs + LEASE_MS }));
    const polls = operator.polls.length;
    expect(await heard(3000, 1)).toEqual([failing('CONSENT_PENDING')]);
    expect(operator.polls).toHaveLength(polls);
    await clock.advance(LEASE_MS - 3000);
    operator.polled = ['granted'];
    expect(await heard(0, 1)).toEqual(FALSE);
  });

  it('sends no poll that is due while another replica polls', async () => {
    operator.polled = [PENDING];
    const asked = ask(0, 9000);
    await clock.advance(1900);
    await changeConsent((found, nowMs) => ({ ...found, leaseUntilMs: nowMs + LEASE_MS }));
    expect(await service.after(7100, asked)).toEqual([failing('CONSENT_PENDING')]);
    expect(operator.polls).toHaveLength(1);
  });

  it('returns the outcome at another replica to a request that joins', async () => {
    operator.polled = [PENDING];
    const asked = ask(0, 9000);
    await clock.advance(1000);
    const failure = { code: 'CONSENT_DENIED', reach: 'number' } as const;
    await changeConsent((found, nowMs) => {
      const untilMs = nowMs + 600_000;
      return { ...identityOf(found), state: 'closed', failure, untilMs };
    });
    expect(await heard(0, 0)).toEqual([failing('CONSENT_DENIED')]);
    expect(await asked).toEqual([failing('CONSENT_DENIED')]);
    expect(operator.polls).toHaveLength(1);
  });

  it('holds the lease of a prompt against the clock of a server that has taken over', async () => {
    // Another server replies from the next write on.
    store.beforeWrite = () => (store.aheadMs = LEASE_MS);
    const leftMs: number[] = [];
    const requestConsent = operator.requestConsent.bind(operator);
    operator.requestConsent = async (subject) => {
      const { record, nowMs } = await store.read(ALICE);
      const { consent } = record ?? {};
      leftMs.push(consent?.state === 'requested' ? consent.leaseUntilMs - nowMs : 0);
      return requestConsent(subject);
    };
    expect(await heard(0, 0)).toEqual(FALSE);
    expect(leftMs).toEqual([LEASE_MS]);
  });

  it('ends with its request and returns its fact while a store does not reply to that fact', async () => {
    const date = changed(24);
    operator.looked = [date];
    operator.polled = ['granted', PENDING];
    const over = new LightAbortSignal();
    const questions = [DATE, window(240)];
    const executor = executorOn(service.replica(), requestAt(clock, { signal: over }));
    const asked = askAll(executor, ALICE, questions);
    await clock.advance(0);
    await settled();
    service.factCache.isSilent = true;
    await clock.advance(3000);
    over.abort();
    await asked;
    expect(answersOf(executor, ALICE, questions)).toEqual([
      { latestSimChange: date.latestSimChange },
      failing('CONSENT_PENDING'),
    ]);
  });

  it('returns STATE_UNAVAILABLE, without a prompt, while the store is lost', async () => {
    store.isLost = true;
    expect(await heard(0, 0)).toEqual([failing('STATE_UNAVAILABLE')]);
    expect(operator.prompts).toHaveLength(0);
  });

  it('prompts no owner when the intent may not be written, and withdraws it', async () => {
    store.writesWhileLost = true;
    store.beforeWrite = () => (store.isLost = true);
    expect(await heard(0, 0)).toEqual([failing('STATE_UNAVAILABLE')]);
    store.isLost = false;
    await clock.advance(1000);
    expect(operator.prompts).toHaveLength(0);
    expect(await heard(0, 1)).toEqual(FALSE);
    expect(operator.prompts).toHaveLength(1);
  });

  it.each([false, true])(
    'keeps the acknowledgement that arrived while the store was lost (writes done: %s)',
    async (isWritten) => {
      operator.polled = [PENDING];
      operator.latencyMs = 100;
      store.writesWhileLost = isWritten;
      const asked = ask(0);
      await clock.advance(50);
      store.isLost = true;
      expect(await service.after(5000, asked)).toEqual([failing('CONSENT_PENDING')]);
      store.isLost = false;
      await clock.advance(1000);
      operator.polled = ['granted'];
      expect(await heard(1000, 1)).toEqual(FALSE);
      expect(operator.prompts).toHaveLength(1);
    },
  );

  it('stays in doubt when the store stays lost after the acknowledgement', async () => {
    operator.latencyMs = 100;
    const asked = ask(0);
    await clock.advance(50);
    store.isLost = true;
    expect(await service.after(LEASE_MS + 1000, asked)).toEqual([failing('CONSENT_PENDING')]);
    store.isLost = false;
    expect(await heard(0, 1)).toEqual([failing('CONSENT_PENDING')]);
    await clock.advance(300_000);
    expect(await heard(0, 1)).toEqual([failing('CONSENT_EXPIRED')]);
    expect(operator.prompts).toHaveLength(1);
  });

  it('keeps a failure that was returned while the store was lost, although its lease is over', async () => {
    operator.looked = [{ code: 'OPERATOR_UNAVAILABLE', reach: 'number' }];
    operator.latencyMs = 100;
    const asked = ask(0);
    await clock.advance(250);
    store.isLost = true;
    expect(await service.after(3000, asked)).toEqual([failing('OPERATOR_UNAVAILABLE')]);
    await clock.advance(LEASE_MS);
    store.isLost = false;
    await clock.advance(1000);
    expect(await heard(0, 1)).toEqual([failing('OPERATOR_UNAVAILABLE')]);
    expect(operator.prompts).toHaveLength(1);
  });

  it('spends a token that arrived while the store was lost', async () => {
    operator.latencyMs = 100;
    const asked = ask(0);
    await clock.advance(150);
    store.isLost = true;
    // Another replica may find it in the store: the lookup does not leave before this one has claimed it there.
    expect(await service.after(3000, asked)).toEqual([failing('CONSENT_PENDING')]);
    expect(operator.lookups).toHaveLength(0);
    await clock.advance(LEASE_MS);
    store.isLost = false;
    await clock.advance(1000);
    expect(await heard(0, 1)).toEqual(FALSE);
    expect(operator.prompts).toHaveLength(1);
    expect(operator.lookups).toHaveLength(1);
  });

  it('continues a consent with waiters when the store has lost it', async () => {
    operator.polled = [PENDING];
    const asked = ask(0, 60_000);
    await settled();
    await store.forget();
    store.doubtUntilMs = clock.monotonicMs() + 300_000;
    expect(await service.heard(0, WINDOW, { caller: 'bert' }, 1)).toEqual([
      failing('CONSENT_PENDING'),
    ]);
    const { length } = operator.polls;
    await clock.advance(LEASE_MS - 1000);
    // Another replica's poll may be on the wire, which the store has lost.
    expect(operator.polls).toHaveLength(length);
    operator.polled = ['granted'];
    expect(await service.after(LEASE_MS, asked)).toEqual(FALSE);
    expect(operator.prompts).toHaveLength(1);
  });

  it('does not send a request after it was held up for too long', async () => {
    const write = store.write.bind(store);
    store.write = async (...written) => {
      const result = await write(...written);
      store.write = write;
      await clock.sleep(LEASE_MS);
      store.isLost = true;
      return result;
    };
    const asked = ask(0);
    await clock.advance(2 * LEASE_MS);
    await asked;
    expect(operator.prompts).toHaveLength(0);
    store.isLost = false;
    expect(await heard(0, 1)).toEqual([failing('CONSENT_PENDING')]);
    expect(operator.prompts).toHaveLength(0);
  });
});
