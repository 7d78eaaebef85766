import { describe, expect, it } from 'vitest';
import { refuseUnlike } from '../../bench/measure/answers.ts';

const WHOLE = '{"data":{"phoneNumbers":[{"date":"2026-01-01"},{"date":"2026-01-02"}]}}';
const error = (code: string) => ({ extensions: { code } });
const FAILED = JSON.stringify({
  data: { phoneNumbers: [{ date: null }, { date: null }] },
  errors: [error('NUMBER_NOT_SERVED'), error('NUMBER_NOT_SERVED')],
});
const BROKEN = JSON.stringify({
  data: { phoneNumbers: [{ date: null }, { date: null }] },
  errors: [error('OPERATOR_TIMEOUT'), error('NUMBER_NOT_SERVED')],
});
const TWO = { numbers: 2 };

describe('an answer counts', () => {
  it('when every field of every number is there', () => {
    expect(() => refuseUnlike('whole', 'ours', WHOLE, TWO)).not.toThrow();
    expect(() => refuseUnlike('whole', 'ours', WHOLE, { numbers: 3 })).toThrow(/^ours did not/);
    expect(() => refuseUnlike('whole', 'ours', FAILED, TWO)).toThrow(/^ours did not/);
    expect(() => refuseUnlike('whole', 'ours', '{"data":null}', TWO)).toThrow(/^ours did not/);
  });

  it('when every number failed as it should, where failures are what is measured', () => {
    expect(() => refuseUnlike('failed', 'ours', FAILED, TWO)).not.toThrow();
    expect(() => refuseUnlike('failed', 'ours', WHOLE, TWO)).toThrow(/^ours did not/);
    expect(() => refuseUnlike('failed', 'ours', BROKEN, TWO)).toThrow(/^ours did not/);
  });
});
