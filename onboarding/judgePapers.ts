import type { Paper } from '../src/domain/profile.ts';
import type { Finding } from './finding.ts';

const YEAR_MS = 365 * 86_400_000;

/** Whether the profile was compared with its papers within a year. Pure. */
export function judgePapers(papers: readonly Paper[], nowMs: number): readonly Finding[] {
  const old = papers.filter(({ readOn }) => nowMs - Date.parse(readOn) > YEAR_MS);
  if (old.length === 0) return [];
  const found = old
    .map(({ title, version, readOn }) => `${[title, version].join(' ').trim()}, read ${readOn}`)
    .join('; ');
  return [
    {
      step: 'papers',
      at: '',
      verdict: 'warning',
      found,
      advice:
        'The profile was compared with these papers more than a year ago. Compare it with what the operator publishes now, and write the day into `papers`.',
    },
  ];
}
