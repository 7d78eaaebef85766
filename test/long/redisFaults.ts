import { FAULTS } from '../redisFaults/faults.ts';
import { MAX_HELD_UP_MS, Play, type Outcome } from '../redisFaults/play.ts';
import { longRun, seed, someOf, stretch, wrongIf, type Row } from './longRun.ts';

export const redisFaults = longRun({
  about: 'faults of a real cluster that holds consents and quotas',
  options: {
    faults: someOf(
      'the faults',
      FAULTS.map(({ name }) => name),
    ),
    seed: seed('the same load'),
  },
  short: ['--faults', 'killed,flushed,moved,handed-over'],
  needsRedis: true,
  async *run({ faults, seed: used }) {
    const play = await Play.begin(used);
    try {
      for (const fault of FAULTS.filter(({ name }) => faults.includes(name))) {
        const outcome = await stretch(fault.about, () => play.act(fault), rowsOf);
        const { flaws, heldUpMs, writtenTwice } = outcome;
        // A busy machine loses commands by itself, and never counts a claim twice.
        const isHeldUp = heldUpMs > MAX_HELD_UP_MS && writtenTwice === 0;
        yield flaws.length > 0 && isHeldUp ? 'INCONCLUSIVE' : wrongIf(flaws.length > 0);
      }
    } finally {
      await play.end();
    }
  },
});

function rowsOf({ flaws, ...counted }: Outcome): Row[] {
  return [
    ...Object.entries(counted).map(([name, figure]): Row => [name, Math.round(figure)]),
    ...flaws.map((flaw): Row => [`  WRONG: ${flaw}`]),
  ];
}
