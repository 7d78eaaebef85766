import { FAULTS, Scene, type FaultName, type Findings } from '../onePrompt/scene.ts';
import { NO_REDIS, startRedis } from '../support/redisServer.ts';
import { longRun, report, someOf, wrongIf, type Row } from './longRun.ts';

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
      const scenes = faults
        .filter((fault) => isShared || !('needsRedis' in FAULTS[fault]))
        .flatMap((fault) => seconds.map((lasts) => ({ fault, seconds: Number(lasts) })))
        .map((one) => ({ ...one, scene: new Scene({ ...one, replicas, redisUrl: redis?.url }) }));
      try {
        for (const { scene } of scenes) await scene.open();
        const played = await Promise.all(
          scenes.map(async ({ fault, seconds: lasts, scene }) => {
            const findings = await scene.play();
            return { name: `${fault}, ${lasts} s`, findings };
          }),
        );
        report(`${place} (${HEADINGS})`, played.flatMap(rowsOf));
        for (const { findings } of played) {
          yield wrongIf(Object.values(findings.wrong).some((times) => times > 0));
        }
      } finally {
        for (const { scene } of scenes) await scene.close();
        await redis?.kill();
      }
    }
  },
});

const HEADINGS =
  'most prompts of an owner in the fault, in all; lookups; owners answered; seconds to the last answer';

function rowsOf({ name, findings }: { readonly name: string; readonly findings: Findings }): Row[] {
  const { promptsInFault, prompts, lookups, answered, secondsToLast, wrong } = findings;
  const wrongs = Object.entries(wrong).filter(([, times]) => times > 0);
  return [
    [name, promptsInFault, prompts, lookups, answered, secondsToLast.toFixed(1)],
    ...wrongs.map(([what, times]): Row => [`  WRONG: ${what}`, times]),
  ];
}
