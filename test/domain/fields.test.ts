import { assertObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { FIELDS, isQuestionField } from '../../src/domain/fields.ts';
import { createSchema } from '../../src/graphql/schema.ts';

describe('the table of fields', () => {
  it.each([
    ['lastSimSwap', {}, { about: 'date' }],
    ['simSwappedWithin', { maxAgeHours: 1 }, { about: 'window', maxAgeHours: 1 }],
    ['simSwapCheck', { maxAgeHours: 2400 }, { about: 'window', maxAgeHours: 2400 }],
    ['simSwapConsent', {}, { about: 'consent' }],
  ] as const)('%s %o: the question %o', (field, args, value) => {
    expect(FIELDS[field](args)).toEqual({ kind: 'parsed', value });
  });

  it('has one object for equal questions of different fields', () => {
    const one = FIELDS.simSwappedWithin({ maxAgeHours: 240 });
    expect(FIELDS.simSwapCheck({ maxAgeHours: 240 })).toBe(one);
  });

  it.each(['simSwappedWithin', 'simSwapCheck'] as const)(
    '%s refuses an invalid window',
    (field) => {
      for (const maxAgeHours of [0, -1, 2401, 0.5, 2399.5, NaN, Infinity, '24', null, undefined]) {
        expect(FIELDS[field]({ maxAgeHours })).toEqual({
          kind: 'refused',
          reason: 'maxAgeHours is a whole number from 1 to 2400.',
        });
      }
    },
  );

  it.each(['bff', 'subgraph'] as const)('has every field of the %s but the number', (role) => {
    const fields = assertObjectType(createSchema(role).getType('PhoneNumber')).getFields();
    const asking = Object.keys(fields).filter((name) => name !== 'e164');
    expect(asking.toSorted()).toEqual(Object.keys(FIELDS).toSorted());
    for (const name of asking) expect(isQuestionField(name)).toBe(true);
    for (const name of ['e164', 'toString', '__proto__', '']) {
      expect(isQuestionField(name)).toBe(false);
    }
  });
});
