import { expect, test } from 'vitest';
import { judgePapers } from '../../onboarding/judgePapers.ts';
import { camara } from '../../profiles/camara.ts';
import { PROFILES } from '../../profiles/index.ts';

const paper = { title: 'SIM Swap', version: '2.1', readOn: '2026-11-28' };
const another = { title: 'Security Profile', readOn: '2024-01-31' };

test.each([
  ['a year to the day', [paper], '2027-11-28', undefined],
  ['a day more', [paper], '2027-11-29', 'SIM Swap 2.1, read 2026-11-28'],
  ['only the older of two', [paper, another], '2026-11-29', 'Security Profile, read 2024-01-31'],
  ['none', [], '2036-01-01', undefined],
])('papers of a profile: %s', (_, papers, today, found) => {
  const [finding] = judgePapers(papers, Date.parse(today));
  expect(finding?.found).toBe(found);
  expect(finding?.verdict).toBe(found === undefined ? undefined : 'warning');
});

test('each profile names its own papers', () => {
  for (const [name, make] of Object.entries(PROFILES)) {
    const { papers } = make(camara);
    expect([name, papers.length > 0 && papers !== camara.papers]).toEqual([name, true]);
  }
});
