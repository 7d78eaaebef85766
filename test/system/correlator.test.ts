import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCorrelator } from '../../src/system/correlator.ts';
import { anyText } from '../support/anyText.ts';

describe('createCorrelator', () => {
  it.each<[string, string | undefined, RegExp]>([
    ['none', undefined, /^[A-Za-z0-9]{12}-1$/],
    ['an empty one', '', /^[A-Za-z0-9]{12}-1$/],
    ['no character that is allowed', '+() é\r\n', /^[A-Za-z0-9]{12}-1$/],
    [
      'a UUID, cut to 24 characters',
      '0b9ad6f2-2d5c-4a0e-9e61-52d4f0a1c001',
      /^0b9ad6f2-2d5c-4a0e-9e61--[A-Za-z0-9]{12}-1$/,
    ],
    ['a line break', 'a\r\nx-evil: 1', /^ax-evil1-[A-Za-z0-9]{12}-1$/],
    ['a phone number', '+447700900001', /^number-[A-Za-z0-9]{12}-1$/],
    ['a phone number in pieces', '4477;009;000;01', /^number-[A-Za-z0-9]{12}-1$/],
    ['letters of other scripts', 'año', /^ao-[A-Za-z0-9]{12}-1$/],
  ])("is made from the caller's: %s", (_, callers, shape) => {
    expect(createCorrelator(callers).next()).toMatch(shape);
  });

  it.each<[string, string | undefined, boolean]>([
    ['a UUID', '0b9ad6f2-2d5c-4a0e-9e61-52d4f0a1c001', true],
    ["a trace's id", '4bf92f3577b34da6a3ce929d0e0e4736', true],
    ['a traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', true],
    ['a phone number in the shape of a UUID', '00000000-0000-0000-0000-447700900001', false],
    ['a phone number beyond the cut', `${'x'.repeat(30)}447700900001`, false],
    ['a character that CAMARA does not allow', 'a b', false],
    ['257 characters', 'x'.repeat(257), false],
    ['nothing', undefined, false],
  ])("returns the caller's, or its own name: %s", (_, sent, isReturned) => {
    const { name, returned } = createCorrelator(sent);
    expect(returned).toBe(isReturned ? sent : name);
  });

  it('is unique, and at most 55 letters, digits and hyphens, whatever callers send', () => {
    const seen = new Set<string>();
    let made = 0;
    fc.assert(
      fc.property(
        fc.oneof(anyText(300), fc.stringMatching(/^[A-Za-z0-9-]{0,60}$/)),
        fc.integer({ min: 1, max: 5 }),
        (callers, exchanges) => {
          const correlator = createCorrelator(callers);
          for (let exchange = 0; exchange < exchanges; exchange += 1) {
            const name = correlator.next();
            expect(name).toMatch(/^[A-Za-z0-9-]{1,55}$/);
            seen.add(name);
            made += 1;
          }
        },
      ),
      { numRuns: 1_000 },
    );
    expect(seen.size).toBe(made);
  });

  it('counts the exchanges of one request, and stays within 55 characters after a million', () => {
    const correlator = createCorrelator('x'.repeat(300));
    expect(correlator.next()).toMatch(/-1$/);
    for (let exchange = 2; exchange < 1_000_000; exchange += 1) correlator.next();
    expect(correlator.next()).toMatch(/^x{24}-[A-Za-z0-9]{12}-1000000$/);
  });
});
