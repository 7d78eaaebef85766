import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairShares, Share, UNKNOWN_CALLER, UNKNOWN_KEY } from '../../src/graphql/fairShares.ts';

const ALL = 800;

describe('shares', () => {
  it('leave the last quarter to callers that hold less than an eighth', () => {
    const shares = new FairShares(ALL);
    const greedy = new Share(shares, 'greedy');
    expect(greedy.add(601)).toBe(false);
    expect(greedy.add(600)).toBe(true);
    expect(greedy.add(1)).toBe(false);
    const other = new Share(shares, 'other');
    expect(other.add(100)).toBe(true);
    expect(other.add(1)).toBe(false);
    expect(new Share(shares, 'third').add(100)).toBe(true);
    expect(new Share(shares, 'fourth').add(1)).toBe(false);
    greedy.release();
    expect(other.add(1)).toBe(true);
  });

  it('give an eighth to what is not verified yet, and keep nothing that moves to where there is no room', () => {
    const shares = new FairShares(ALL);
    expect(new Share(shares, UNKNOWN_CALLER).add(101)).toBe(false);
    const unknown = new Share(shares, UNKNOWN_CALLER);
    expect(unknown.add(100)).toBe(true);
    expect(new Share(shares, 'greedy').add(450)).toBe(true);
    expect(new Share(shares, 'other').add(100)).toBe(true);
    expect(unknown.moveTo('greedy')).toBe(false);
    expect(new Share(shares, UNKNOWN_CALLER).add(100)).toBe(true);
  });

  it('give another eighth to what waits for keys, and nothing of the last quarter', () => {
    const shares = new FairShares(ALL);
    const unknown = new Share(shares, UNKNOWN_KEY);
    expect(unknown.add(101)).toBe(false);
    expect(unknown.add(100)).toBe(true);
    expect(new Share(shares, UNKNOWN_CALLER).add(100)).toBe(true);
    expect(new Share(shares, 'greedy').add(400)).toBe(true);
    unknown.release();
    expect(new Share(shares, 'greedy').add(100)).toBe(true);
    expect(unknown.add(1)).toBe(false);
    expect(new Share(shares, 'other').add(100)).toBe(true);
  });

  it('are never over the limit, and all free once all are released', () => {
    const step = fc.record({
      caller: fc.constantFrom(UNKNOWN_CALLER, UNKNOWN_KEY, 'a', 'b', 'c'),
      bytes: fc.nat({ max: 300 }),
      moves: fc.option(fc.constantFrom('a', 'b', 'c')),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const shares = new FairShares(ALL);
        let held = 0;
        const open = steps.map(({ caller, bytes, moves }) => {
          const share = new Share(shares, caller);
          let isHeld = share.add(bytes);
          if (isHeld && moves !== null) isHeld = share.moveTo(moves);
          if (isHeld) held += bytes;
          expect(held).toBeLessThanOrEqual(ALL);
          return share;
        });
        for (const share of open) share.release();
        expect(new Share(shares, 'a').add(0.75 * ALL)).toBe(true);
      }),
    );
  });
});
