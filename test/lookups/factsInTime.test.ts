import { beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import { changed, checked } from '../values.ts';
import { AskedConsents, failing, PENDING, SECOND_MS } from './askedConsents.ts';
import { DATE, window } from './requests.ts';

let service: AskedConsents;

beforeEach(() => {
  service = new AskedConsents();
});

function ask(questions: readonly Question[]) {
  return service.heard(3 * SECOND_MS, questions);
}

function lookups(): readonly string[] {
  return service.operator.lookups.map(({ lookup }) =>
    lookup.operation === 'check' ? `check ${lookup.maxAgeHours}` : 'date',
  );
}

describe('what is kept, when the SIM changes meanwhile', () => {
  it('says no `false` beside a date of seconds ago', async () => {
    service.operator.looked = [checked(240, false), changed(0), checked(240, true)];
    expect(await ask([window(240)])).toEqual([{ swapped: false }]);
    const both = [{ latestSimChange: changed(0).latestSimChange }, { swapped: true }];
    expect(await ask([DATE, window(240)])).toEqual(both);
    expect(await ask([DATE, window(240)])).toEqual(both);
    expect(lookups()).toEqual(['check 240', 'date', 'check 240']);
  });

  it('asks nothing more of a line that changed long ago', async () => {
    service.operator.looked = [checked(240, false), changed(100)];
    await ask([window(240)]);
    expect(await ask([DATE, window(240)])).toMatchObject([{}, { swapped: false }]);
    expect(lookups()).toEqual(['check 240', 'date']);
  });
});

describe('a swap that is kept', () => {
  beforeEach(async () => {
    service.operator.looked = [checked(48, true), changed(2400), checked(24, true)];
    await ask([window(48)]);
  });

  it('lets no late date say `false`, though it answers nothing itself', async () => {
    expect(await ask([DATE, window(24)])).toMatchObject([{}, { swapped: true }]);
    expect(lookups()).toEqual(['check 48', 'date', 'check 24']);
  });

  it('is audited as heard only where an answer rests on it', async () => {
    await ask([DATE, window(24)]);
    expect(service.admission.heardBy).toEqual([]);
    expect(await ask([window(48)])).toEqual([{ swapped: true }]);
    expect(service.admission.heardBy).not.toEqual([]);
  });
});

describe('what was heard', () => {
  const MINUTE_MS = 60 * SECOND_MS;
  beforeEach(() => {
    service = new AskedConsents({ keepMs: 2 * SECOND_MS, resultMs: 60 * MINUTE_MS });
  });

  it.each([
    ['in the reply to the request that it was made for', [DATE]],
    ['beside a consent that is pending', [DATE, window(2400)]],
  ])('%s, is not returned after KEEP_FACTS_SECONDS', async (_, questions) => {
    service.operator.looked = [changed(2400), checked(240, true)];
    service.operator.polled = ['granted', PENDING];
    const [date] = await service.heard(3 * SECOND_MS, questions, { waitMs: 1500 });
    expect(date).toMatchObject({ latestSimChange: {} });
    await service.clock.advance(5 * MINUTE_MS);
    service.operator.polled = [PENDING];
    expect(await ask([DATE])).toEqual([failing('CONSENT_PENDING')]);
  });

  it('among what is kept, is not returned after KEEP_FACTS_SECONDS', async () => {
    service.operator.looked = [checked(240, false)];
    await service.heard(3 * SECOND_MS, [window(240)], { isGone: true });
    await service.clock.advance(MINUTE_MS);
    // An app that died hears it when it returns.
    expect(await ask([window(240)])).toEqual([{ swapped: false }]);
    service.operator.polled = [PENDING];
    expect(await ask([window(240)])).toEqual([failing('CONSENT_PENDING')]);
  });

  it('outdates a `false` that was not heard, also when it is no longer returned', async () => {
    service.operator.looked = [checked(240, false), changed(0)];
    await service.heard(3 * SECOND_MS, [window(240)], { isGone: true });
    expect(await ask([DATE])).toMatchObject([{ latestSimChange: {} }]);
    await service.clock.advance(MINUTE_MS);
    service.operator.polled = [PENDING];
    expect(await ask([window(240)])).toEqual([failing('CONSENT_PENDING')]);
  });
});
