import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { answerIn, inTurn, number, within } from '../values.ts';

const ASKED = 40;
const REQUEST_TIMEOUT_MS = 3000;
/** libuv has four threads; whatever else, the audit log may take one of them. */
const DRAINED_WITHIN_MS = REQUEST_TIMEOUT_MS + 9000;

/** A pipe that nothing reads from is a disk that does not come back. */
export const auditDisk: Attack = {
  name: 'audit-disk',
  tries: 'to hang authentication and the drain by an audit disk that does not answer',
  holds: 'AUDIT_UNAVAILABLE in time, tokens are judged on, no thread more, SIGTERM ends it (not 0)',
  async run(stage) {
    const pipe = join(await stage.directory(), 'audit');
    execFileSync('mkfifo', [pipe]);
    const timeout = { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) };
    const scene = await stage.callers({ AUDIT_LOG: pipe, ...timeout });
    const { issuer, operator, target, token: good } = scene;
    target.end = 'judged by the attack';
    const threadsBefore = await target.threads();
    const heard = new Set<unknown>();
    let latestMs = 0;
    await inTurn(Array(ASKED).keys(), 4, async (index) => {
      const reply = await target.ask(within(number(index)), { token: good });
      heard.add(answerIn(reply));
      latestMs = Math.max(latestMs, reply.tookMs);
    });
    stage.equals('heard', [...heard], ['AUDIT_UNAVAILABLE']);
    stage.equals('lookups off the record', operator.count('lookups'), 0);
    stage.atMost('ms for the slowest', latestMs, REQUEST_TIMEOUT_MS + 1000);
    stage.atMost('threads more', (await target.threads()) - threadsBefore, 4);

    const another = await issuer.token({ scope: 'sim-swap:read', sub: 'bob' });
    const { status, tookMs } = await target.ask('{ __typename }', { token: another });
    stage.equals('a token not seen before', status, 200);
    stage.atMost('ms for it', tookMs, 2000);
    await sleep(50);
    const exit = await target.terminate(DRAINED_WITHIN_MS);
    stage.holds('ends on SIGTERM', exit !== undefined, exit ?? 'did not end');
  },
};

export const fullDisk: Attack = {
  name: 'full-disk',
  tries: 'to ask without a trace where the audit disk is full',
  holds: 'AUDIT_UNAVAILABLE, and nothing is asked',
  async run(stage) {
    const { operator, target, token } = await stage.callers({ AUDIT_LOG: '/dev/full' });
    const heard = new Set<unknown>();
    for (let index = 0; index < 10; index += 1) {
      heard.add(answerIn(await target.ask(within(number(index)), { token })));
    }
    stage.equals('heard', [...heard], ['AUDIT_UNAVAILABLE']);
    stage.equals('lookups', operator.count('lookups'), 0);
  },
};
