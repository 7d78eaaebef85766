import { parseArgs } from 'node:util';
import { Random } from '../random.ts';
import { NO_REDIS } from '../redisServer.ts';
import { ATTACKS } from './all.ts';
import { isClean, outcomeOf, type Attack, type Outcome, type Report } from './attack.ts';
import { Stage } from './stage.ts';
import { rowsOf, summaryOf } from './table.ts';

const USAGE = `npm run attack -- [--minutes N] [--seed N] [--only NAME,NAME]
  --minutes  no attack begins after so long (10); the ones that wait for it are left out
  --seed     the same seed makes the same order, and so what runs beside what (a new one each time)
  --only     these alone: ${ATTACKS.map(({ name }) => name).join(', ')}
`;

/** Most of an attack is waiting; what it measures is the attacked process's own. */
const AT_ONCE = 3;
/** An attack that is not over by then hangs, which is a finding as well. */
const MAX_ATTACK_MS = 300_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const only = values.only?.split(',').map((name) => name.trim());
const unknown = only?.filter((name) => !ATTACKS.some((attack) => attack.name === name)) ?? [];
if (!(minutes > 0) || !Number.isInteger(seed) || unknown.length > 0) {
  process.stderr.write(USAGE);
  process.exit(1);
}

const chosen = ATTACKS.filter(({ name }) => only?.includes(name) ?? true);
const endsAtMs = performance.now() + minutes * 60_000;
const reports: Report[] = [];
const waiting = new Random(seed).shuffled(chosen);
process.stdout.write(`seed ${seed}\n`);
const attacker = async (): Promise<void> => {
  for (let attack = waiting.shift(); attack !== undefined; attack = waiting.shift()) {
    const report = await carriedOut(attack);
    reports.push(report);
    process.stdout.write(rowsOf(report));
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, attacker));
process.stdout.write(summaryOf(reports));
process.exitCode = isClean(reports) ? 0 : 1;

async function carriedOut(attack: Attack): Promise<Report> {
  const startedAtMs = performance.now();
  const outcome = await outcomeFor(attack, startedAtMs);
  return { attack, outcome, seconds: (performance.now() - startedAtMs) / 1000 };
}

async function outcomeFor(attack: Attack, nowMs: number): Promise<Outcome> {
  if (nowMs > endsAtMs) return { state: 'left out', findings: [], why: 'The time was over.' };
  if (attack.needsRedis === true && NO_REDIS !== undefined) {
    return { state: 'left out', findings: [], why: NO_REDIS };
  }
  const stage = new Stage();
  const { promise: hung, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`The attack was not over after ${MAX_ATTACK_MS / 1000} s.`)),
    MAX_ATTACK_MS,
  );
  try {
    const why = await Promise.race([attack.run(stage), hung]).then(() => undefined, messageOf);
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
