import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SlidingCount } from '../../../src/http/resilience/circuit.ts';

it('counts what was added in the last ten seconds, whenever it is asked', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 25 })), (steps) => {
      const count = new SlidingCount(10);
      const added: number[] = [];
      let nowSeconds = 0;
      for (const step of steps) {
        nowSeconds += step;
        count.add(nowSeconds);
        added.push(nowSeconds);
        expect(count.total(nowSeconds)).toBe(added.filter((one) => one > nowSeconds - 10).length);
      }
    }),
  );
});
