import { NO_REDIS } from '../support/redisServer.ts';
import { OPERATORS } from '../consentChaos/strictOperators.ts';
import {
  GUARDS,
  runConsentChaos,
  STORES,
  type Findings,
  type Store,
} from '../consentChaos/consentChaos.ts';
import {
  count,
  longRun,
  oneOf,
  seed,
  someOf,
  stretch,
  tallied,
  wrongIf,
  type Row,
} from './longRun.ts';

const TITLES: Readonly<Record<Store, string>> = {
  memory: 'one process, in memory',
  redis: 'three replicas on one Redis',
  cluster: 'three replicas on a cluster of three masters and three replicas',
  replica: 'three replicas on a Redis whose replica is promoted while it is behind',
};

/** One for each test number. */
const CONSENTS_A_ROUND = 1000;

export const consentChaos = longRun({
  about: 'consents at two operators, over processes and stores that are killed, frozen and cut off',
  options: {
    store: someOf('the store', STORES),
    consents: count('how many consents are requested in a run over a store', 1000),
    seed: seed('the same apps, replies and troubles'),
    nonces: oneOf('that one binds its tokens, and changes its nonces each half second', OPERATORS),
    without: oneOf('without one of these guards', GUARDS),
  },
  short: ['--store', 'memory,redis', '--consents', '60'],
  async *run({ store: stores, consents, nonces, without, seed: first }) {
    let used = first;
    for (const store of stores) {
      if (store !== 'memory' && NO_REDIS !== undefined) {
        process.stdout.write(`consent-chaos over Redis: ${NO_REDIS}\n`);
        continue;
      }
      for (let left = consents; left > 0; left -= CONSENTS_A_ROUND) {
        const part = Math.min(left, CONSENTS_A_ROUND);
        const run = { store, consents: part, seed: used, nonces, without };
        const title = `${TITLES[store]}, seed ${used}`;
        const { wrong } = await stretch(title, () => runConsentChaos(run), rowsOf);
        used += 1;
        yield wrongIf(Object.values<number>({ ...wrong }).some((times) => times > 0));
      }
    }
  },
});

function rowsOf(findings: Findings): Row[] {
  const { prompts, directory, proofs, excused, heard, ends, wrong, store, notes, ...counted } =
    findings;
  return [
    ...Object.entries(counted).map(([name, times]): Row => [name, times]),
    ...tallied('prompts at', Object.entries(prompts)),
    ...tallied('proofs', Object.entries(proofs)),
    ...tallied('number directory', Object.entries(directory)),
    ...tallied('what befell the store', Object.entries(store)),
    ...tallied('before a loss was noticed', excused),
    ...tallied('reply', heard),
    ...tallied('end', ends),
    ...tallied('wrong', Object.entries<number>({ ...wrong })),
    ...notes.map((note): Row => [`  ${note}`]),
  ];
}
