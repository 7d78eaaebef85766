import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { problemsOf } from './problems.ts';

const JWT = {
  JWT_JWKS_URL: 'https://issuer.example/jwks',
  JWT_ISSUER: 'https://issuer.example',
  JWT_AUDIENCE: 'sim-swap',
};

describe('QUOTA_CLIENTS', () => {
  it('gives clients quotas of their own; what is not named is as for everyone', () => {
    const { quotas } = readConfig({
      ...JWT,
      QUOTA_NUMBERS_PER_HOUR: '7',
      QUOTA_CLIENTS:
        '{"risk-desk": {"numbersPerHour": 20000, "lookupsPerHour": 90000}, "__proto__": {"promptsPerHour": 1}}',
    });
    expect(quotas.numbersPerHour).toBe(7);
    expect(quotas.clients).toEqual(
      new Map([
        ['risk-desk', { numbersPerHour: 20_000, lookupsPerHour: 90_000 }],
        ['__proto__', { promptsPerHour: 1 }],
      ]),
    );
  });

  it.each([
    ['nonsense', 'must be a JSON object'],
    ['[]', 'must be a JSON object'],
    ['7', 'must be a JSON object'],
    ['{"a": 7}', 'must be a JSON object'],
    ['{"a": null}', 'must be a JSON object'],
    ['{"": {"numbersPerHour": 1}}', 'has a client without a name'],
    ['{"a": {}}', 'sets no quota for the client "a"'],
    ['{"a": {"numbersPerHour": 1}, "a": {"numbersPerHour": 2}}', 'has a member twice'],
    [
      '{"a": {"numbersPerHuor": 1}}',
      'has "numbersPerHuor" for the client "a", which is not one of numbersPerHour, lookupsPerHour, promptsPerHour',
    ],
    // The owner of a number is guarded against all callers together, whoever the client is.
    ['{"a": {"promptsPerHourAllCallers": 1}}', 'has "promptsPerHourAllCallers" for the client "a"'],
    ['{"a": {"numbersPerHour": "5"}}', 'must have whole numbers from 1 to 999999999'],
    ['{"a": {"numbersPerHour": 0}}', 'must have whole numbers from 1 to 999999999'],
    ['{"a": {"numbersPerHour": 1.5}}', 'must have whole numbers from 1 to 999999999'],
    ['{"a": {"numbersPerHour": 1e9}}', 'must have whole numbers from 1 to 999999999'],
  ])('%s is refused', (value, told) => {
    const problems = problemsOf({ ...JWT, QUOTA_CLIENTS: value });
    expect(problems).toEqual([expect.stringContaining(`QUOTA_CLIENTS ${told}`)]);
  });

  it('is for callers that are known', () => {
    expect(problemsOf({ QUOTA_CLIENTS: '{"a": {"numbersPerHour": 1}}' })).toEqual([
      'QUOTA_CLIENTS is for callers with a token: set JWT_JWKS_URL, JWT_ISSUER and JWT_AUDIENCE.',
    ]);
  });
});

describe('BATCH_SCOPE', () => {
  it('is none unless it is set', () => {
    expect(readConfig(JWT).callers.tokens?.batchScope).toBeUndefined();
    const set = readConfig({ ...JWT, BATCH_SCOPE: 'sim-swap:batch' });
    expect(set.callers.tokens?.batchScope).toBe('sim-swap:batch');
  });

  it.each(['two scopes', 'a"quote', 'ümlaut', 'back\\slash'])('is not %j', (scope) => {
    expect(problemsOf({ ...JWT, BATCH_SCOPE: scope })).toEqual([
      expect.stringContaining('BATCH_SCOPE must be one scope'),
    ]);
  });

  it('is for callers that are known', () => {
    expect(problemsOf({ BATCH_SCOPE: 'sim-swap:batch' })).toEqual([
      'BATCH_SCOPE is for callers with a token: set JWT_JWKS_URL, JWT_ISSUER and JWT_AUDIENCE.',
    ]);
  });
});
