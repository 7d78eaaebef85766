import { expect, it } from 'vitest';
import { StateSeal } from '../../src/sharedState/stateSeals.ts';

it('finds the names and opens the records that an earlier release wrote', () => {
  const seal = new StateSeal(new Uint8Array(32).fill(7));
  expect(seal.name('counts', 'caller')).toBe('5F-1f1EYdjtD0IrbO_9xaftrNjbswTBJFPKMYhr0aQo');
  const sealed = 'De6gpliv9SCmz9cQO/7XwWrRYbgcEcHYlxbij8WDdKwZRODAujb2DVdZ4N8o2K38bCdjQmcGNw==';
  const place = 'sim-swap:{1}:consent-2:name';
  expect(seal.open(sealed, place)).toBe('{"of":"an earlier release"}');
  expect(() => seal.open(sealed, 'sim-swap:{1}:consent-2:another')).toThrow('authenticate');
});
