import {
  FAULTS,
  Scene,
  type FaultName,
  type Findings,
  type SceneSettings,
} from '../onePrompt/scene.ts';
import { NO_REDIS, startRedis } from '../support/redisServer.ts';
import { longRun, report, someOf, wrongIf, type Row, type Verdict } from './longRun.ts';

const PLACES = {
  memory: { isShared: false, replicas: 1 },
  redis: { isShared: true, replicas: 1 },
  replicas: { isShared: true, replicas: 2 },
} as const;

type Place = keyof typeof PLACES;

// oxlint-disable typescript/no-unsafe-type-assertion -- the names of the tables
const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];
const PLACE_NAMES = Object.keys(PLACES) as Place[];
// oxlint-enable typescript/no-unsafe-type-assertion

const SECONDS = ['8', '60'] as const;

/** Scenes: their processes share the cores. */
const AT_ONCE = 5;

export const onePrompt = longRun({
  about:
    'prompts of owners who consent each time, while their lookups fail: 20 owners, real processes',
  options: {
    faults: someOf('the faults', FAULT_NAMES),
    seconds: someOf('how long each lasts', SECONDS),
    places: someOf('the store, with two replicas in the last', PLACE_NAMES),
  },
  async *run({ faults, seconds, places }) {
    for (const place of places) {
      const { isShared, replicas } = PLACES[place];
      if (isShared && NO_REDIS !== undefined) {
        process.stdout.write(`one-prompt over Redis: ${NO_REDIS}\n`);
        continue;
      }
      const redis = isShared ? await startRedis() : undefined;
      const redisUrl = redis?.url;
      const all = seconds.flatMap((lasts) =>
        faults
          .filter((fault) => isShared || !('needsRedis' in FAULTS[fault]))
          .map((fault) => ({ fault, seconds: Number(lasts), replicas, redisUrl })),
      );
      try {
        for (let from = 0; from < all.length; from += AT_ONCE) {
          yield await played(`${place} (${HEADINGS})`, all.slice(from, from + AT_ONCE));
        }
      } finally {
        await redis?.kill();
      }
    }
  },
});

async function played(title: string, settings: readonly SceneSettings[]): Promise<Verdict> {
  const scenes = settings.map((one) => new Scene(one));
  try {
    for (const scene of scenes) {
      await scene.open();
      await scene.prompt();
    }
    const findings = await Promise.all(scenes.map((scene) => scene.play()));
    report(
      title,
      findings.flatMap((found, n) => rowsOf(settings[n], found)),
    );
    const wrong = findings.flatMap((found) => Object.values(found.wrong));
    return wrongIf(wrong.some((times) => times > 0));
  } finally {
    for (const scene of scenes) await scene.close();
  }
}

const HEADINGS =
  'most prompts of an owner in the fault, in all; lookups; with which a process died; owners answered; seconds to the last answer';

function rowsOf(settings: SceneSettings | undefined, findings: Findings): Row[] {
  const { promptsInFault, prompts, lookups, brokenLookups, answered, secondsToLast, wrong } =
    findings;
  const name = `${settings?.fault}, ${settings?.seconds} s`;
  const wrongs = Object.entries(wrong).filter(([, times]) => times > 0);
  return [
    [name, promptsInFault, prompts, lookups, brokenLookups, answered, secondsToLast.toFixed(1)],
    ...wrongs.map(([what, times]): Row => [`  WRONG: ${what}`, times]),
  ];
}
