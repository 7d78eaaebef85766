import { beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import { changed, checked } from '../support/values.ts';
import { AskedConsents, failing, PENDING, SECOND_MS } from './askedConsents.ts';
import { DATE, window } from './requests.ts';

const MINUTE_MS = 60 * SECOND_MS;
let service: AskedConsents;

beforeEach(() => {
  service = new AskedConsents({ keepMs: 2 * SECOND_MS, resultMs: 60 * MINUTE_MS });
});

function ask(questions: readonly Question[]) {
  return service.heard(3 * SECOND_MS, questions);
}

it('a kept swap that answers nothing bars the `false` of a late date', async () => {
  service = new AskedConsents();
  service.operator.looked = [checked(48, true), changed(2400), checked(24, true)];
  await ask([window(48)]);
  expect(await ask([DATE, window(24)])).toMatchObject([{}, { swapped: true }]);
  expect(service.operator.prompted).toEqual(['check', 'retrieve-date', 'check']);
});

describe('a fact that was heard', () => {
  it.each([
    ['in the reply to its own request', [DATE]],
    ['beside a pending consent', [DATE, window(2400)]],
  ])('%s, is not returned after KEEP_FACTS_SECONDS', async (_, questions) => {
    service.operator.looked = [changed(2400), checked(240, true)];
    service.operator.polled = ['granted', PENDING];
    const [date] = await service.heard(3 * SECOND_MS, questions, { waitMs: 1500 });
    expect(date).toMatchObject({ latestSimChange: {} });
    await service.clock.advance(5 * MINUTE_MS);
    service.operator.polled = [PENDING];
    expect(await ask([DATE])).toEqual([failing('CONSENT_PENDING')]);
  });

  it('among kept facts, is not returned after KEEP_FACTS_SECONDS', async () => {
    service.operator.looked = [checked(240, false)];
    await service.heard(3 * SECOND_MS, [window(240)], { isGone: true });
    await service.clock.advance(MINUTE_MS);
    // An app that died gets it when it returns.
    expect(await ask([window(240)])).toEqual([{ swapped: false }]);
    service.operator.polled = [PENDING];
    expect(await ask([window(240)])).toEqual([failing('CONSENT_PENDING')]);
  });

  it('outdates a `false` that was not heard, even when it is no longer returned itself', async () => {
    service.operator.looked = [checked(240, false), changed(0)];
    await service.heard(3 * SECOND_MS, [window(240)], { isGone: true });
    expect(await ask([DATE])).toMatchObject([{ latestSimChange: {} }]);
    await service.clock.advance(MINUTE_MS);
    service.operator.polled = [PENDING];
    expect(await ask([window(240)])).toEqual([failing('CONSENT_PENDING')]);
  });
});
