import { NotInTime } from '../redisCluster.ts';
import { FAULTS } from '../redisFaults/faults.ts';
import { MAX_HELD_UP_MS, Play, type Outcome } from '../redisFaults/play.ts';
import { NO_REDIS } from '../redisServer.ts';
import { longRun, report, secondsSince, seed, someOf, type Row } from './longRun.ts';

export const redisFaults = longRun({
  about: 'what befalls a real cluster, while consents and quotas are kept in it',
  options: {
    faults: someOf(
      'the faults',
      FAULTS.map(({ name }) => name),
    ),
    seed: seed('the same load'),
  },
  short: ['--faults', 'killed,moved,handed-over,silent'],
  async run({ faults, seed: used }) {
    if (NO_REDIS !== undefined) {
      process.stdout.write(`redis-faults: ${NO_REDIS}\n`);
      return 'nothing wrong';
    }
    let isWrong = false;
    let isHeldUp = false;
    let play: Play | undefined;
    try {
      play = await Play.begin(used);
      for (const fault of FAULTS.filter(({ name }) => faults.includes(name))) {
        const startedAtMs = performance.now();
        const outcome = await play.act(fault);
        report(`${fault.about} (${secondsSince(startedAtMs)})`, rowsOf(outcome));
        const isFlawed = outcome.flaws.length > 0;
        // A machine without time loses commands by itself; it counts no claim twice.
        if (isFlawed && outcome.heldUpMs > MAX_HELD_UP_MS && outcome.writtenTwice === 0)
          isHeldUp = true;
        else isWrong ||= isFlawed;
      }
    } catch (error) {
      if (!(error instanceof NotInTime)) throw error;
      process.stdout.write(`${error.message} The machine is too busy for a cluster.\n`);
      return isWrong ? 'WRONG' : 'INCONCLUSIVE';
    } finally {
      await play?.end();
    }
    if (isWrong) return 'WRONG';
    return isHeldUp ? 'INCONCLUSIVE' : 'nothing wrong';
  },
});

function rowsOf({ flaws, ...counted }: Outcome): Row[] {
  return [
    ...Object.entries(counted).map(([name, figure]): Row => [name, Math.round(figure)]),
    ...flaws.map((flaw): Row => [`  WRONG: ${flaw}`]),
  ];
}
