import { parseArgs } from 'node:util';
import { NotInTime } from '../redisCluster.ts';
import { NO_REDIS } from '../redisServer.ts';
import {
  GUARDS,
  runConsentChaos,
  STORES,
  WIRES,
  type Findings,
  type Store,
} from './consentChaos.ts';

const USAGE = `npm run consent-chaos -- [--store STORE] [--consents N] [--runs N] [--seed N] [--without GUARD] [--wire WIRE]
  --store     one of ${STORES.join(', ')}, all (all)
  --consents  how many consents are asked for in a run over a store (1000)
  --runs      how many runs there are (1)
  --seed      the same seed makes the same apps, replies and troubles (a new one each time)
  --without   one of ${GUARDS.join(', ')}
  --wire      one of ${WIRES.join(', ')}: what the wire to Redis does to scripts

Ends with 0 when nothing is wrong, 1 when something is, and 2 when a cluster did not heal in time.
`;

const TITLES: Readonly<Record<Store, string>> = {
  memory: 'one process, in memory',
  redis: 'three replicas on one Redis',
  cluster: 'three replicas on a cluster of three masters and three replicas',
};

/** There are so many test numbers, and one consent a number at a time. */
const CONSENTS_A_ROUND = 1000;

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'all' },
    consents: { type: 'string', default: '1000' },
    runs: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    without: { type: 'string' },
    wire: { type: 'string' },
  },
});
const stores = STORES.filter((store) => values.store === 'all' || values.store === store);
const [consents = 0, runs = 0] = [values.consents, values.runs].map(Number);
const without = GUARDS.find((guard) => guard === values.without);
const wire = WIRES.find((one) => one === values.wire);
const areCounts = [consents, runs].every((count) => Number.isInteger(count) && count > 0);
let seed = Number(values.seed);
const isUnknown = without !== values.without || wire !== values.wire;
if (!areCounts || !Number.isInteger(seed) || stores.length === 0 || isUnknown) {
  process.stderr.write(USAGE);
  process.exit(1);
}

/** What cannot be told, since the cluster itself did not come back in time. */
const INCONCLUSIVE = 2;

let isWrong = false;
try {
  for (let run = 0; run < runs; run += 1) {
    for (const store of stores) isWrong = (await isRunWrong(store)) || isWrong;
  }
  process.stdout.write(isWrong ? 'WRONG\n' : 'nothing wrong\n');
  process.exitCode = isWrong ? 1 : 0;
} catch (error) {
  if (!(error instanceof NotInTime)) throw error;
  process.stdout.write(`${error.message} The machine is too busy for a cluster: INCONCLUSIVE\n`);
  process.exitCode = isWrong ? 1 : INCONCLUSIVE;
}

async function isRunWrong(store: Store): Promise<boolean> {
  if (store !== 'memory' && NO_REDIS !== undefined) {
    process.stdout.write(`consent-chaos over Redis: ${NO_REDIS}\n`);
    return false;
  }
  let isAnyWrong = false;
  for (let left = consents; left > 0; left -= CONSENTS_A_ROUND) {
    const startedAtMs = performance.now();
    const part = Math.min(left, CONSENTS_A_ROUND);
    const findings = await runConsentChaos({ store, consents: part, seed, without, wire });
    process.stdout.write(`seed ${seed}\n`);
    seed += 1;
    process.stdout.write(report(store, findings, (performance.now() - startedAtMs) / 1000));
    isAnyWrong ||= Object.values<number>({ ...findings.wrong }).some((count) => count > 0);
  }
  return isAnyWrong;
}

function report(store: Store, findings: Findings, seconds: number): string {
  const { heard, ends, wrong, unavoidable, store: befell, notes, ...counts } = findings;
  return [
    `${TITLES[store]} (${seconds.toFixed(0)} s)\n`,
    ...rows(Object.entries(counts)),
    '  what befell the store\n',
    ...rows(Object.entries(befell)),
    '  replies\n',
    ...rows([...heard]),
    '  ends\n',
    ...rows([...ends]),
    '  wrong\n',
    ...rows(Object.entries<number>({ ...wrong })),
    '  unavoidable: a cluster lost what it had acknowledged (docs/reliability.md)\n',
    ...rows(Object.entries<number>({ ...unavoidable })),
    ...notes.map((note) => `      ${note}\n`),
  ].join('');
}

function rows(counts: readonly (readonly [string, number])[]): string[] {
  return counts.map(([name, count]) => `    ${name.padEnd(38)} ${count}\n`);
}
