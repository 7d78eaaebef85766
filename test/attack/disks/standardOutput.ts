import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Attack } from '../attack.ts';
import type { Stage } from '../stage.ts';
import type { Target } from '../target.ts';
import { answerIn, inTurn, number, within } from '../values.ts';

const REQUEST_TIMEOUT_MS = 3000;
const DRAINED_WITHIN_MS = REQUEST_TIMEOUT_MS + 9000;
/** More than a pipe holds. */
const STALLED_ASKS = 600;

interface Scene {
  readonly target: Target;
  readonly token: string;
  /** Our end of its standard output. */
  readonly reader: number;
  readonly lookups: () => number;
}

export const standardOutput: Attack = {
  name: 'standard-output',
  tries: 'to end the service, or to keep it from ending, by the reader of its standard output',
  holds: 'gone: AUDIT_UNAVAILABLE and nothing asked; stalled: answers in time; SIGTERM ends both',
  async run(stage) {
    await gone(stage, await open(stage));
    await stalled(stage, await open(stage));
  },
};

async function gone(stage: Stage, { target, token, reader, lookups }: Scene): Promise<void> {
  stage.equals('before', answerIn(await target.ask(within(number(1)), { token })), false);
  closeSync(reader);
  const before = lookups();
  const heard = new Set<unknown>();
  for (let index = 2; index < 8; index += 1) {
    heard.add(answerIn(await target.ask(within(number(index)), { token })));
  }
  stage.equals('reader gone, heard', [...heard], ['AUDIT_UNAVAILABLE']);
  stage.equals('reader gone, lookups', lookups() - before, 0);
  stage.equals('reader gone, serves', await target.statusOf('/livez'), 200);
  const exit = await target.terminate(DRAINED_WITHIN_MS);
  stage.holds(
    'reader gone, ends on SIGTERM',
    exit !== undefined && exit.signal !== 'SIGKILL',
    exit ?? 'did not end',
  );
}

async function stalled(stage: Stage, { target, token, reader }: Scene): Promise<void> {
  let without = 0;
  await inTurn(Array(STALLED_ASKS).keys(), 16, async (index) => {
    if (without > 0) return;
    if ((await target.ask(within(number(index)), { token })).status === 0) without += 1;
  });
  stage.equals('reader stalled, without an answer', without, 0);
  stage.equals('reader stalled, serves', await target.statusOf('/livez'), 200);
  const exit = await target.terminate(DRAINED_WITHIN_MS);
  stage.holds('reader stalled, ends on SIGTERM', exit !== undefined, exit ?? 'did not end');
  closeSync(reader);
}

/** A server whose standard output is a pipe, as a container's is. */
async function open(stage: Stage): Promise<Scene> {
  const pipe = join(await stage.directory(), 'stdout');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(pipe, constants.O_WRONLY);
  const timeout = { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) };
  const { operator, target, token } = await stage.callers(timeout, { stdout: writer });
  closeSync(writer);
  target.end = 'judged by the attack';
  return { target, token, reader, lookups: () => operator.count('lookups') };
}
