import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConsentRecord } from '../../src/consents/consentRecord.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Ending } from '../../src/lookups/lookupAuthorizer.ts';
import { settled } from '../support/testClock.ts';
import { ALICE, BOB, CAROL, checked, withheld } from '../support/values.ts';
import {
  ANOTHERS,
  AskedConsents,
  failing,
  failureOf,
  PENDING,
  SECOND_MS,
} from './askedConsents.ts';
import { DATE, requestAt, window } from './requests.ts';

const MINUTE_MS = 60 * SECOND_MS;
const WINDOW = [window(240)];
const FALSE = [{ swapped: false }];
const UNAVAILABLE: LookupFailure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
const REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'operation' };
const REFUSED_LINE: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'number' };
/** Because of our client, not of the number. */
const REFUSED_US: LookupFailure = { ...REFUSED, barsAfterNumbers: 2 };

let service: AskedConsents;
beforeEach(() => {
  service = new AskedConsents();
});

function prompts() {
  return service.operator.prompts.length;
}

async function ask(...asked: Parameters<AskedConsents['ask']>) {
  return service.heard(0, ...asked);
}

describe('the failure of a lookup after consent', () => {
  it('is returned to each request of its caller for a minute, and prompts no owner', async () => {
    service.operator.looked = [UNAVAILABLE];
    expect(failureOf(await ask(WINDOW))).toEqual({ ...UNAVAILABLE, retryAfterSeconds: 60 });
    await service.clock.advance(20 * SECOND_MS);
    expect(failureOf(await ask(WINDOW))).toEqual({ ...UNAVAILABLE, retryAfterSeconds: 40 });
    expect(failureOf(await ask(WINDOW, { caller: 'bert' }))).toEqual(ANOTHERS);
    expect(prompts()).toBe(1);
    await service.clock.advance(40 * SECOND_MS);
    await ask(WINDOW);
    expect(prompts()).toBe(2);
  });

  it('is returned to a request without patience, even where the store is slow', async () => {
    service.operator.looked = [UNAVAILABLE];
    await ask(WINDOW);
    service.store.beforeRead = () => service.clock.sleep(20);
    const answers = await service.heard(SECOND_MS, WINDOW, { waitMs: 0 });
    expect(failureOf(answers)).toEqual({ ...UNAVAILABLE, retryAfterSeconds: 60 });
  });

  it('is returned although no request waited for it', async () => {
    service.operator.latencyMs = 5 * SECOND_MS;
    service.operator.looked = [{ code: 'OPERATOR_TIMEOUT', reach: 'number' }];
    for (const code of ['CONSENT_PENDING', 'CONSENT_PENDING', 'CONSENT_PENDING'] as const) {
      expect(await service.heard(6 * SECOND_MS, WINDOW)).toEqual([failing(code)]);
    }
    expect(await service.heard(6 * SECOND_MS, WINDOW)).toEqual([failing('OPERATOR_TIMEOUT')]);
    expect(prompts()).toBe(1);
    expect(service.operator.lookups).toHaveLength(1);
  });

  it('with an untrusted reply applies to the operation: a query with several windows prompts once', async () => {
    const untrusted: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'question' };
    service.operator.looked = [untrusted, untrusted, untrusted, untrusted];
    const page = [DATE, window(24), window(240), window(720)];
    for (const _ of ['first', 'again']) {
      const answers = await ask(page);
      expect(answers.map((one) => failureOf([one])?.code)).toEqual(page.map(() => untrusted.code));
    }
    expect(service.operator.prompted).toEqual(['retrieve-date', 'check']);
  });

  it('closes only what it applies to', async () => {
    const failure = { code: 'OPERATION_NOT_OFFERED', reach: 'operation' } as const;
    service.operator.looked = [failure, checked(240, false)];
    for (const _ of ['first', 'again']) {
      expect(await ask([DATE, window(240)])).toEqual([{ failure }, ...FALSE]);
    }
    expect(service.operator.prompted).toEqual(['retrieve-date', 'check']);
  });
});

describe('the owner whose lookup the operator refuses for a while', () => {
  it.each([
    ['429 with Retry-After: 1', { code: 'OPERATOR_RATE_LIMITED', retryAfterSeconds: 1 }],
    ['503 with Retry-After: 3', { code: 'OPERATOR_UNAVAILABLE', retryAfterSeconds: 3 }],
    ['429', { code: 'OPERATOR_RATE_LIMITED' }],
    ['a timeout', { code: 'OPERATOR_TIMEOUT' }],
  ] as const)('is prompted after 1, 2 and 4 minutes at the soonest: %s', async (_, failure) => {
    const failed = { ...failure, reach: 'number' } as const;
    service.operator.looked = [failed];
    const promptedAt = [];
    for (let minutes = 0; minutes < 10;) {
      const told = failureOf(await ask(WINDOW));
      expect(told).toMatchObject({ code: failure.code });
      promptedAt.push(service.operator.prompts.at(-1)?.at);
      const { retryAfterSeconds = 0 } = told ?? {};
      await service.clock.advance(retryAfterSeconds * SECOND_MS);
      minutes += retryAfterSeconds / 60;
    }
    expect(promptedAt.map((atMs = 0) => atMs / MINUTE_MS)).toEqual([0, 1, 3, 7]);
    service.operator.looked = [checked(240, true)];
    expect(await ask(WINDOW)).toEqual([{ swapped: true }]);
    service.operator.looked = [failed];
    await service.clock.advance(MINUTE_MS + 1);
    expect(failureOf(await ask(WINDOW))).toMatchObject({ retryAfterSeconds: 60 });
  });

  it('is not prompted before a Retry-After that is longer', async () => {
    const failed = {
      code: 'OPERATOR_RATE_LIMITED',
      reach: 'number',
      retryAfterSeconds: 90,
    } as const;
    service.operator.looked = [failed];
    expect(failureOf(await ask(WINDOW))).toEqual(failed);
    await service.clock.advance(89 * SECOND_MS);
    expect(failureOf(await ask(WINDOW))).toEqual({ ...failed, retryAfterSeconds: 1 });
    expect(prompts()).toBe(1);
  });
});

describe('another caller, while the lookups of one fail in a row', () => {
  it.each([
    ['is barred as long as the first failure bars, by what the operator refuses it', REFUSED_LINE],
    ['is barred as long as it is, by an operator that is away', UNAVAILABLE],
  ])('%s', async (_, failure) => {
    const { clock, operator } = service;
    operator.looked = [failure];
    for (const minutes of [1, 2, 4]) {
      await ask(WINDOW);
      await clock.advance(minutes * MINUTE_MS);
    }
    await ask(WINDOW);
    const barredMinutes = failure === UNAVAILABLE ? 8 : 1;
    await clock.advance(barredMinutes * MINUTE_MS - SECOND_MS);
    expect(failureOf(await ask(WINDOW, { caller: 'bert' }))).toEqual(ANOTHERS);
    expect(prompts()).toBe(4);
    await clock.advance(SECOND_MS);
    expect(failureOf(await ask(WINDOW, { caller: 'bert' }))?.code).toBe(failure.code);
    expect(prompts()).toBe(5);
    // Its own row begins here, unless all callers are in the same one.
    await clock.advance(MINUTE_MS);
    expect(failureOf(await ask(WINDOW, { caller: 'bert' }))?.code).toBe(failure.code);
    expect(prompts()).toBe(failure === UNAVAILABLE ? 5 : 6);
  });
});

/** Asks once, and refuses what follows the prompt. */
async function refuse(refusal: () => void) {
  const asked = service.ask(WINDOW);
  await service.clock.advance(150);
  refusal();
  return failureOf(await service.after(SECOND_MS, asked));
}

describe.each([1, 2])('a consent whose lookup has not left, in %d replicas', (replicas) => {
  const other = replicas - 1;
  const AUDIT: LookupFailure = { code: 'AUDIT_UNAVAILABLE', reach: 'number' };

  beforeEach(() => {
    service = new AskedConsents({ replicas });
    service.operator.latencyMs = 100;
    service.operator.tokenSeconds = 120;
  });

  it.each<[string, LookupFailure, (failure: LookupFailure | undefined) => void]>([
    ['the audit log', AUDIT, (failure) => (service.admission.failure = failure)],
    ['the circuit', UNAVAILABLE, (failure) => (service.operator.unsent = failure)],
    [
      'a lack of descriptors',
      { code: 'UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 },
      (failure) => (service.operator.unsent = failure),
    ],
    [
      'a profile that writes no request',
      { code: 'OPERATOR_INVALID_REPLY', reach: 'question' },
      (failure) => (service.operator.unsent = failure),
    ],
  ])('is spent by a later request, refused by %s for 8 s and for a minute', async (_, why, set) => {
    const refused = { ...why, reach: 'number', retryAfterSeconds: 1 };
    expect(await refuse(() => set(why))).toEqual(refused);
    for (const seconds of [8, 52]) {
      await service.clock.advance(seconds * SECOND_MS);
      expect(failureOf(await service.heard(SECOND_MS, WINDOW, {}, other))).toEqual(refused);
    }
    set(undefined);
    expect(await service.heard(SECOND_MS, WINDOW, {}, other)).toEqual(FALSE);
    expect([prompts(), service.operator.polls.length]).toEqual([1, 1]);
    expect(service.operator.lookups).toHaveLength(1);
  });

  it('is PENDING until the end of its token, also to another caller, and then expires', async () => {
    await refuse(() => (service.operator.unsent = UNAVAILABLE));
    const status = await service.replica().consent(ALICE, requestAt(service.clock));
    // The life of the token, less the time of an exchange.
    const expiresAtMs = expect.closeTo(service.clock.nowMs() + 109 * SECOND_MS, -3) as number;
    expect(status).toMatchObject({
      status: { state: 'PENDING', retryAfterSeconds: 1, expiresAtMs },
    });
    expect(failureOf(await service.heard(0, WINDOW, { caller: 'bert' }))).toEqual(ANOTHERS);
    await service.clock.advance(110 * SECOND_MS);
    service.operator.unsent = undefined;
    const expired = { code: 'CONSENT_EXPIRED', reach: 'number', retryAfterSeconds: 60 };
    expect(failureOf(await service.heard(0, WINDOW))).toEqual(expired);
    await service.clock.advance(60 * SECOND_MS);
    expect(await service.heard(SECOND_MS, WINDOW)).toEqual(FALSE);
    expect([prompts(), service.operator.lookups.length]).toEqual([2, 1]);
  });

  it('prompts after 1, 2 and 4 minutes at the soonest where no token of its owner is spent', async () => {
    service.operator.unsent = UNAVAILABLE;
    service.operator.tokenSeconds = 60;
    const { clock } = service;
    while (clock.monotonicMs() < 10 * MINUTE_MS) {
      await service.heard(5 * SECOND_MS, WINDOW, {}, other);
    }
    // The lives of their tokens, less the time of an exchange.
    const minutes = service.operator.prompts.map(({ at }) => Math.floor(at / MINUTE_MS));
    expect(minutes).toEqual([0, 1, 4, 9]);
    expect(service.operator.lookups).toEqual([]);
  });

  it('is spent once, where requests come at once to all replicas', async () => {
    await refuse(() => (service.operator.unsent = UNAVAILABLE));
    service.operator.unsent = undefined;
    const asked = [0, other, 0, other].map((replica) => service.ask(WINDOW, {}, replica));
    for (const one of asked) expect(await service.after(SECOND_MS, one)).toEqual(FALSE);
    expect([prompts(), service.operator.lookups.length]).toEqual([1, 1]);
  });

  it('waits ten minutes for its lookup where its token names no end', async () => {
    service.operator.tokenSeconds = undefined;
    await refuse(() => (service.operator.unsent = UNAVAILABLE));
    await service.clock.advance(10 * MINUTE_MS - 10 * SECOND_MS);
    service.operator.unsent = undefined;
    expect(await service.heard(SECOND_MS, WINDOW, {}, other)).toEqual(FALSE);
    expect([prompts(), service.operator.lookups.length]).toEqual([1, 1]);
  });

  it("keeps its token, although another caller's expiry is reported while it is refused", async () => {
    const { clock, operator } = service;
    operator.polled = [PENDING];
    await service.heard(4 * SECOND_MS, WINDOW, { caller: 'bert' });
    await clock.advance(121 * SECOND_MS);
    operator.polled = ['granted'];
    const before = prompts();
    const lookUp = operator.lookUp.bind(operator);
    let bert: ReturnType<typeof ask> | undefined;
    operator.lookUp = async (order) => {
      operator.unsent = UNAVAILABLE;
      bert = service.ask(WINDOW, { caller: 'bert' }, other);
      await clock.sleep(SECOND_MS);
      return lookUp(order);
    };
    expect(failureOf(await service.heard(5 * SECOND_MS, WINDOW))?.code).toBe(UNAVAILABLE.code);
    expect(failureOf((await bert) ?? [])?.code).toBe('CONSENT_EXPIRED');
    Object.assign(operator, { lookUp, unsent: undefined });
    expect(await service.heard(5 * SECOND_MS, WINDOW)).toEqual(FALSE);
    expect([prompts() - before, operator.lookups.length]).toEqual([1, 1]);
  });

  it('waits for the process whose key its token is bound to', async () => {
    await refuse(() => (service.operator.unsent = UNAVAILABLE));
    service.operator.unsent = undefined;
    service.operator.isHolder = false;
    expect(failureOf(await service.heard(SECOND_MS, WINDOW, {}, other))).toMatchObject({
      code: 'CONSENT_PENDING',
    });
    service.operator.isHolder = true;
    expect(await service.heard(SECOND_MS, WINDOW)).toEqual(FALSE);
    expect(prompts()).toBe(1);
  });
});

describe('a process that ends after the token', () => {
  beforeEach(() => {
    service = new AskedConsents({ replicas: 2 });
    service.operator.latencyMs = 100;
  });

  it('and before the lookup leaves it to another one, and makes none if it was only held up', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    service.admission.lookupsWait = promise;
    const asked = service.ask(WINDOW);
    expect(await service.after(4 * SECOND_MS, asked)).toEqual([failing('CONSENT_PENDING')]);
    service.admission.lookupsWait = undefined;
    expect(await service.heard(4 * SECOND_MS, WINDOW, {}, 1)).toEqual([failing('CONSENT_PENDING')]);
    await service.clock.advance(6 * SECOND_MS);
    expect(await service.heard(SECOND_MS, WINDOW, {}, 1)).toEqual(FALSE);
    resolve();
    await service.clock.advance(20 * SECOND_MS);
    expect([prompts(), service.operator.lookups.length]).toEqual([1, 1]);
  });

  it.each([
    ['the lease', 120, 12],
    ['the token', 1, 11],
  ])('makes no lookup where %s would end before it', async (_, seconds, lostSeconds) => {
    const { operator, admission, store, clock } = service;
    const { promise, resolve } = Promise.withResolvers<void>();
    admission.lookupsWait = promise;
    operator.tokenSeconds = seconds;
    void service.ask(WINDOW);
    await clock.advance(500);
    store.isLost = true;
    resolve();
    admission.lookupsWait = undefined;
    await clock.advance(lostSeconds * SECOND_MS);
    store.isLost = false;
    operator.latencyMs = 8 * SECOND_MS;
    const others = { caller: 'bert', waitMs: 0 } as const;
    for (let second = 0; second < 4; second += 1) await service.heard(SECOND_MS, WINDOW, others, 1);
    // Nobody else prompts its owner.
    expect([prompts(), operator.lookups.length]).toEqual([1, 0]);
  });

  it('and after its lookup could not leave leaves the token to another one', async () => {
    service.admission.endsWait = new Promise(() => undefined);
    service.operator.unsent = UNAVAILABLE;
    void service.ask(WINDOW);
    await service.clock.advance(20 * SECOND_MS);
    service.admission.endsWait = undefined;
    service.operator.unsent = undefined;
    expect(await service.heard(SECOND_MS, WINDOW, {}, 1)).toEqual(FALSE);
    expect([prompts(), service.operator.lookups.length]).toEqual([1, 1]);
  });

  it('has the line of a lookup that could not leave in time, although the store is lost', async () => {
    const { operator, admission, store, clock } = service;
    const lookUp = operator.lookUp.bind(operator);
    operator.unsent = UNAVAILABLE;
    operator.lookUp = (order) => {
      store.isLost = true;
      return lookUp(order);
    };
    void service.ask(WINDOW);
    await clock.advance(3 * SECOND_MS);
    expect(admission.ended).toHaveLength(1);
  });

  it('and after the reply to its lookup leaves the answer to another one', async () => {
    // Its line in the audit log takes long.
    service.admission.endsWait = new Promise(() => undefined);
    service.operator.looked = [checked(240, true)];
    void service.ask(WINDOW);
    await service.clock.advance(20 * SECOND_MS);
    service.admission.endsWait = undefined;
    expect(await service.heard(SECOND_MS, WINDOW, {}, 1)).toEqual([{ swapped: true }]);
    expect([prompts(), service.operator.lookups.length]).toEqual([1, 1]);
  });
});

describe('an owner who has answered, in a store that has gone back to a snapshot and has noticed it', () => {
  it.each(['requested', 'pending', 'granted', 'redeemed', 'none'] as const)(
    'is not prompted within the doubt, where the snapshot has the consent as %s',
    async (state) => {
      service = new AskedConsents({ replicas: 2, isShared: true, keepMs: 0 });
      const { operator, store, clock } = service;
      operator.latencyMs = 100;
      const expired = { code: 'CONSENT_EXPIRED', reach: 'number' } as const;
      operator.polled = ['granted', { kind: 'failed', failure: expired }];
      const snapshots = new Map<string, ConsentRecord>();
      const write = store.write.bind(store);
      store.write = (number, version, record, ...rest) => {
        snapshots.set(record.consent?.state ?? 'none', record);
        return write(number, version, record, ...rest);
      };
      expect(await service.heard(SECOND_MS, WINDOW)).toEqual(FALSE);

      const { version } = await store.read(ALICE);
      const snapshot = snapshots.get(state) ?? { ends: [] };
      await write(ALICE, version, snapshot, 10 * MINUTE_MS);
      store.doubtUntilMs = clock.monotonicMs() + 5 * MINUTE_MS;
      for (let seconds = 1; seconds < 270; seconds += 20) {
        const told = failureOf(await service.heard(20 * SECOND_MS, WINDOW, {}, seconds % 2));
        // A lookup whose process died reads as expired once.
        const { code, expiresAtMs } = told ?? {};
        const isPending = code === 'CONSENT_PENDING' && expiresAtMs !== undefined;
        expect(isPending || (state === 'redeemed' && code === 'CONSENT_EXPIRED')).toBe(true);
      }
      expect([prompts(), operator.lookups.length]).toEqual([1, 1]);
      // Nor is the token spent again after it.
      await clock.advance(40 * SECOND_MS);
      const isGranted = state === 'granted';
      const after = isGranted ? await service.heard(SECOND_MS, WINDOW) : [];
      expect(after).toEqual(isGranted ? [failing('CONSENT_EXPIRED')] : []);
      expect([prompts(), operator.lookups.length]).toEqual([1, 1]);
    },
  );
});

describe('OPERATOR_REFUSED at a lookup', () => {
  it('about two numbers bars prompts for that operation for a minute', async () => {
    service.operator.looked = [REFUSED_US, REFUSED_US];
    await ask([DATE]);
    await ask([DATE], { number: BOB });
    const others = [{ number: CAROL }, { number: CAROL, caller: 'bert' }] as const;
    for (const other of others) expect(failureOf(await ask([DATE], other))).toEqual(REFUSED);
    expect(prompts()).toBe(2);

    await ask(WINDOW, { number: CAROL });
    expect(service.operator.prompted).toEqual(['retrieve-date', 'retrieve-date', 'check']);
    await service.clock.advance(MINUTE_MS);
    await ask([DATE], { number: CAROL });
    expect(prompts()).toBe(4);
  });

  it('of one question bars no prompt of another owner', async () => {
    service.operator.looked = [{ code: 'OPERATOR_REFUSED', reach: 'question' }];
    expect(failureOf(await ask(WINDOW))?.code).toBe('OPERATOR_REFUSED');
    await ask(WINDOW, { number: BOB, caller: 'bert' });
    await ask(WINDOW);
    // One for each owner: the first caller gets its failure again.
    expect(prompts()).toBe(2);
  });

  it('lets a live consent reach its lookup, in every replica', async () => {
    service = new AskedConsents({ replicas: 2 });
    service.operator.looked = [{ ...REFUSED, barsAfterNumbers: 1 }, withheld()];
    service.operator.polled = [PENDING, 'granted', 'granted'];
    await service.heard(SECOND_MS, [DATE], { number: BOB, waitMs: SECOND_MS });
    await ask([DATE]);
    expect(failureOf(await ask([DATE], { number: CAROL }))).toEqual(REFUSED);
    const bob = service.ask([DATE], { number: BOB }, 1);
    expect(await service.after(SECOND_MS, bob)).toEqual([{ latestSimChange: null }]);
  });
});

describe('a prompt that had to wait for a permit', () => {
  it.each([
    ['first', 0],
    ['last', 1],
  ])('waits as long as any request that has joined, here the %s one', async (_, at) => {
    service = new AskedConsents({ permits: 1 });
    service.operator.latencyMs = 5 * SECOND_MS;
    const ahead = service.ask(WINDOW, { number: BOB, waitMs: 20 * SECOND_MS });
    await settled();
    const joined = [];
    for (const one of [0, 1]) {
      const hasty = { waitMs: 500, timeLeftMs: SECOND_MS };
      joined.push(service.ask(WINDOW, one === at ? { waitMs: 30 * SECOND_MS } : hasty));
      await settled();
    }
    await service.clock.advance(30 * SECOND_MS);
    expect(await joined[at]).toEqual(FALSE);
    expect(await joined[1 - at]).toEqual([failing('CONSENT_PENDING')]);
    await ahead;
  });

  it('is not made, and its request refused, at once or in its turn, where it would leave too late', async () => {
    service = new AskedConsents({ permits: 1 });
    service.operator.latencyMs = 2 * SECOND_MS;
    const hasty = { waitMs: 20 * SECOND_MS, timeLeftMs: 2.4 * SECOND_MS };
    await service.heard(20 * SECOND_MS, WINDOW, { number: BOB });
    const crowd = [4, 5].map((last) =>
      service.ask(WINDOW, { ...hasty, number: `+44770090000${last}` as PhoneNumber }),
    );
    const beyond = service.ask(WINDOW, hasty);
    await settled();
    const unavailable = { code: 'UNAVAILABLE', reach: 'number' };
    expect(failureOf(await beyond)).toEqual({ ...unavailable, retryAfterSeconds: 1 });
    await service.clock.advance(20 * SECOND_MS);
    const [, second = []] = await Promise.all(crowd);
    expect(failureOf(second)).toEqual({ ...unavailable, retryAfterSeconds: 2 });
    expect(service.operator.prompts).toHaveLength(2);
  });

  it('is refused before anything is read, but where its caller was told of a consent', async () => {
    service = new AskedConsents({ permits: 1 });
    service.operator.latencyMs = 2 * SECOND_MS;
    expect(await service.heard(5 * SECOND_MS, WINDOW, { waitMs: 0 })).toEqual([
      failing('CONSENT_PENDING'),
    ]);
    const hasty = { waitMs: 20 * SECOND_MS, timeLeftMs: 2.4 * SECOND_MS };
    await service.heard(20 * SECOND_MS, WINDOW, { number: BOB });
    const ahead = [4, 5].map((last) =>
      service.ask(WINDOW, { ...hasty, number: `+44770090000${last}` as PhoneNumber }),
    );
    await settled();
    const reads = vi.spyOn(service.store, 'read');
    const recalls = vi.spyOn(service.factCache, 'recall');
    const beyond = service.ask(WINDOW, { ...hasty, number: CAROL });
    await settled();
    expect([reads.mock.calls, recalls.mock.calls]).toEqual([[], []]);
    const polled = service.ask(WINDOW, { waitMs: 20 * SECOND_MS });
    await service.clock.advance(20 * SECOND_MS);
    expect(failureOf(await beyond)?.code).toBe('UNAVAILABLE');
    expect(await polled).toEqual(FALSE);
    await Promise.all(ahead);
  });

  it('is work, and so are its polls: a number only waits for its owner in between', async () => {
    service = new AskedConsents();
    service.operator.latencyMs = SECOND_MS;
    service.operator.polled = [PENDING, 'granted'];
    const waits: boolean[] = [];
    const onOwnerWait = (_number: PhoneNumber, isWaiting: boolean) => waits.push(isWaiting);
    const answered = service.ask(WINDOW, { waitMs: 20 * SECOND_MS, onOwnerWait });
    await service.clock.advance(500);
    expect(waits).toEqual([]);
    await service.clock.advance(20 * SECOND_MS);
    expect(await answered).toEqual(FALSE);
    expect(waits.at(0)).toBe(true);
    expect(waits.at(-1)).toBe(false);
  });

  it('is not made when the operator has refused us meanwhile', async () => {
    service = new AskedConsents({ permits: 1 });
    service.operator.latencyMs = SECOND_MS;
    service.operator.looked = [REFUSED_US, REFUSED_US];
    const waitMs = 20 * SECOND_MS;
    await service.heard(waitMs, [DATE], { waitMs, number: CAROL });
    const refused = service.ask([DATE], { waitMs });
    await settled();
    const ahead = [4, 5, 6].map((last) =>
      service.ask(WINDOW, { waitMs, number: `+44770090000${last}` as PhoneNumber }),
    );
    const waiting = service.ask([DATE], { waitMs, number: BOB });
    await service.clock.advance(waitMs);
    expect(failureOf(await refused)?.code).toBe('OPERATOR_REFUSED');
    expect(failureOf(await waiting)).toEqual(REFUSED);
    await Promise.all(ahead);
    const asked = service.operator.prompted;
    expect(asked.filter((operation) => operation === 'retrieve-date')).toHaveLength(2);
  });
});

it('is pending, not unavailable, where the owner was prompted and there is no time for the poll', async () => {
  service = new AskedConsents({ permits: 1 });
  service.operator.latencyMs = 5 * SECOND_MS;
  await service.heard(20 * SECOND_MS, WINDOW, { number: BOB, waitMs: 20 * SECOND_MS });
  service.operator.latencyMs = 100;
  const ahead = service.ask(WINDOW, { number: CAROL, waitMs: 20 * SECOND_MS });
  const prompted = service.ask(WINDOW, { waitMs: 20 * SECOND_MS, timeLeftMs: 9 * SECOND_MS });
  await service.clock.advance(SECOND_MS);
  expect(service.operator.prompts).toHaveLength(3);
  service.operator.latencyMs = 5 * SECOND_MS;
  await service.clock.advance(5 * SECOND_MS);
  expect(await prompted).toEqual([failing('CONSENT_PENDING')]);
  await service.clock.advance(20 * SECOND_MS);
  await ahead;
});

describe('a prompt that had to wait for a permit while another replica was answered', () => {
  // The second is longer than an answered consent is on record.
  it.each([5, 15])('is not made after %d s', async (seconds) => {
    service = new AskedConsents({ permits: 1, replicas: 2 });
    service.operator.latencyMs = seconds * SECOND_MS;
    const ahead = service.ask(WINDOW, { number: BOB, waitMs: 60 * SECOND_MS });
    await settled();
    const waiting = service.ask(WINDOW, { waitMs: 30 * SECOND_MS });
    await settled();
    service.operator.latencyMs = 100;
    const elsewhere = service.ask(WINDOW, { waitMs: 3 * SECOND_MS }, 1);
    await service.clock.advance(60 * SECOND_MS);
    await ahead;
    expect([await elsewhere, await waiting]).toEqual([FALSE, FALSE]);
    expect(service.operator.prompts).toHaveLength(2);
  });
});

describe('a request that waits in another replica', () => {
  beforeEach(() => {
    service = new AskedConsents({ replicas: 2 });
  });

  it('gets the expiry, without a prompt', async () => {
    const failure = { code: 'CONSENT_EXPIRED', reach: 'number' } as const;
    service.operator.polled = [PENDING, { kind: 'failed', failure }];
    const asked = Promise.all([service.ask(WINDOW), service.ask(WINDOW, {}, 1)]);
    expect(await service.after(3 * SECOND_MS, asked)).toEqual([[{ failure }], [{ failure }]]);
    expect(prompts()).toBe(1);
  });

  it('gets a fact, whatever the next question', async () => {
    service.operator.looked = [checked(240, true)];
    service.operator.polled = [PENDING, 'granted', PENDING];
    const next = service.ask([window(72), window(240)]);
    const other = service.ask(WINDOW, {}, 1);
    expect(await service.after(3 * SECOND_MS, other)).toEqual([{ swapped: true }]);
    expect(await next).toEqual([failing('CONSENT_PENDING'), { swapped: true }]);
    expect(service.operator.lookups).toHaveLength(1);
  });
});

describe('each request that gets an answer', () => {
  it('has an audit line of its own before it returns, except the one whose lookup it was', async () => {
    service.operator.polled = [PENDING, 'granted'];
    const asked = [1, 2, 3].map(() => service.ask(WINDOW));
    await service.clock.advance(2 * SECOND_MS);
    await Promise.all(asked);
    await ask(WINDOW);

    const { asked: admitted, heardBy } = service.admission;
    const lookup = { operation: 'check', maxAgeHours: 240 };
    expect(admitted.map(({ event }) => event)).toEqual(['consent-request', 'lookup']);
    expect(heardBy).toMatchObject(['shared', 'shared', 'kept'].map((how) => ({ how, lookup })));
    const requests = [...admitted, ...heardBy].map(({ request }) => request);
    expect(new Set(requests.slice(1)).size).toBe(4);
  });

  it('gets none that cannot be audited', async () => {
    const failure = { code: 'AUDIT_UNAVAILABLE', reach: 'number' } as const;
    service.admission.delivered = () => Promise.resolve(failure);
    service.operator.polled = [PENDING, 'granted'];
    const asked = Promise.all([service.ask(WINDOW), service.ask(WINDOW)]);
    const answers = await service.after(2 * SECOND_MS, asked);
    expect(answers).toEqual(expect.arrayContaining([FALSE, [{ failure }]]));
  });

  it('has an audit line for a failure of the number as well', async () => {
    service.operator.looked = [UNAVAILABLE];
    await ask(WINDOW);
    await ask(WINDOW);
    expect(service.admission.heardBy).toMatchObject([{ how: 'kept' }]);
  });
});

describe('the state of a consent', () => {
  it('is counted and audited each time it is read, and not read when that is denied', async () => {
    const request = requestAt(service.clock);
    const lookups = service.replica();
    expect(await lookups.consent(BOB, request)).toEqual({
      kind: 'read',
      status: { state: 'NOT_ASKED' },
    });
    expect(service.admission.asked).toEqual([{ event: 'consent-status', number: BOB, request }]);
    const denied: LookupFailure = { code: 'RATE_LIMITED', reach: 'number', retryAfterSeconds: 9 };
    service.admission.failure = denied;
    expect(await lookups.consent(BOB, request)).toEqual({ kind: 'failed', failure: denied });
  });
});

describe('the permit of a step that throws', () => {
  it.each([
    ['requestConsent', [{ outcome: 'broken', attempts: 1 }]],
    ['poll', [{ outcome: 'asked', attempts: 1 }]],
    [
      'lookUp',
      [
        { outcome: 'asked', attempts: 1 },
        { outcome: 'broken', attempts: 1 },
      ],
    ],
  ] as const)(
    'is returned after a %s, whose audit line says that it broke',
    async (method, endings) => {
      const consents = new AskedConsents({ permits: 1 });
      const ended: Ending[] = [];
      consents.admission.admit = () => ({
        kind: 'admitted',
        ended: (ending) => void ended.push(ending),
      });
      const broken = vi
        .spyOn(consents.operator, method)
        .mockRejectedValueOnce(new Error('a defect'));
      expect(await consents.ask([window(24)])).toEqual([new Error('a defect')]);
      expect(ended).toEqual(endings);
      broken.mockRestore();
      expect(await consents.ask([window(24)], { number: BOB })).toEqual(FALSE);
    },
  );
});

describe('an answer that another replica had between the recall of kept facts and the read of the record', () => {
  beforeEach(() => {
    service = new AskedConsents({ replicas: 2 });
  });

  // How long the process was held up before it read the record; an answered consent is on record for ten seconds.
  it.each([
    [0, 0],
    [1, 0],
    [11 * SECOND_MS, 0],
    // Another server has the record by then.
    [0, SECOND_MS],
  ])('is returned, without a prompt (held up %d ms, clock ahead %d ms)', async (ms, aheadMs) => {
    const { store, clock } = service;
    store.beforeRead = async () => {
      expect(await service.ask(WINDOW, {}, 1)).toEqual(FALSE);
      // The end of its consent is written by then.
      await (ms > 0 ? clock.sleep(ms) : settled());
      store.aheadMs = aheadMs;
    };
    const asked = service.ask(WINDOW, { waitMs: 60_000 });
    await clock.advance(ms);
    expect(await asked).toEqual(FALSE);
    expect(prompts()).toBe(1);
  });

  it('is returned, without a prompt, where the consent was reported as expired and its end is not yet written', async () => {
    const { store, clock, operator } = service;
    const lookUp = operator.lookUp.bind(operator);
    // A process that was held up for longer than its lease.
    operator.lookUp = async (...asked) => {
      await clock.sleep(30 * SECOND_MS);
      operator.lookUp = lookUp;
      return lookUp(...asked);
    };
    void service.ask(WINDOW, {}, 1);
    await clock.advance(29 * SECOND_MS);
    expect(failureOf(await ask(WINDOW))).toMatchObject({ code: 'CONSENT_EXPIRED' });
    await clock.advance(500);
    const write = store.write.bind(store);
    const written = Promise.withResolvers<void>();
    store.write = async (...values) => {
      if (values[2].ends.some(({ kind }) => kind === 'answered')) await written.promise;
      return write(...values);
    };
    store.beforeRead = () => clock.sleep(500);
    expect(await service.heard(SECOND_MS, WINDOW)).toEqual(FALSE);
    expect(prompts()).toBe(1);
    written.resolve();
  });
});
