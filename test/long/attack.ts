import { Random } from '../random.ts';
import { ATTACKS } from '../attack/all.ts';
import { isClean, outcomeOf, type Attack, type Outcome, type Report } from '../attack/attack.ts';
import { Stage } from '../attack/stage.ts';
import {
  duration,
  longRun,
  report,
  secondsSince,
  seed,
  someOf,
  tallied,
  wrongIf,
  type Row,
} from './longRun.ts';

/** Most of an attack is waiting; what it measures is the attacked process's own. */
const AT_ONCE = 3;
/** An attack that is not over by then hangs, which is a finding as well. */
const MAX_ATTACK_MS = 300_000;

export const attack = longRun({
  about: 'attacks on a running server, three at a time',
  options: {
    minutes: duration('no attack begins after so long; what waits for it is left out', 10),
    seed: seed('the same order, and so the same attacks beside each other'),
    only: someOf(
      'these attacks',
      ATTACKS.map(({ name }) => name),
    ),
  },
  short: ['--minutes', '1'],
  async *run({ minutes, only, seed: used }) {
    const endsAtMs = performance.now() + minutes * 60_000;
    const reports: Report[] = [];
    const waiting = new Random(used).shuffled(ATTACKS.filter(({ name }) => only.includes(name)));
    const carryOut = async (one: Attack, isAlone = false): Promise<Report> => {
      const startedAtMs = performance.now();
      const outcome = await outcomeFor(one, !isAlone && startedAtMs > endsAtMs);
      const title = `${one.name}: ${outcome.state} (${secondsSince(startedAtMs)})`;
      report(title, rowsOf(one, outcome));
      return { attack: one, outcome };
    };
    const again: Attack[] = [];
    const attacker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const one = await carryOut(next);
        if (isClean([one]) || only.length === 1) reports.push(one);
        else again.push(next);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, attacker));
    // Beside others the attacked is slow as well: what got through then is tried once more, alone, and that counts.
    for (const next of again) reports.push(await carryOut(next, true));
    report(`${reports.length} attacks`, summaryOf(reports));
    yield wrongIf(!isClean(reports));
  },
});

function rowsOf({ tries, holds }: Attack, { state, findings, why }: Outcome): readonly Row[] {
  const claims = state === 'held' ? [] : [`tries ${tries}`, `holds ${holds}`, why ?? ''];
  return [
    ...claims.map((claim): Row => [claim]),
    ...findings.map(({ what, isHeld, seen }): Row => [
      `${isHeld ? 'held' : 'NOT HELD'}: ${what}`,
      seen,
    ]),
  ];
}

function summaryOf(reports: readonly Report[]): readonly Row[] {
  const states = Map.groupBy(reports, ({ outcome }) => outcome.state);
  const notHeld = reports.filter(({ outcome }) => outcome.state !== 'held');
  return [
    ...tallied(
      'attacks',
      [...states].map(([state, { length }]) => [state, length] as const),
    ),
    ...notHeld.map(({ attack: { name }, outcome }): Row => [`  ${outcome.state}: ${name}`]),
  ];
}

async function outcomeFor(one: Attack, isTooLate: boolean): Promise<Outcome> {
  if (isTooLate) return { state: 'left out', findings: [], why: 'The time was over.' };
  const stage = new Stage();
  const { promise: hung, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`The attack was not over after ${MAX_ATTACK_MS / 1000} s.`)),
    MAX_ATTACK_MS,
  );
  try {
    const why = await Promise.race([one.run(stage), hung]).then(() => undefined, messageOf);
    await stage.judge();
    return outcomeOf(stage.findings, why);
  } finally {
    clearTimeout(timer);
    await stage.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
