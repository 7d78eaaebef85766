import type { Attack } from '../attack.ts';
import { answerIn, number, within } from '../values.ts';

/** One second for commands to Redis, and the lookup itself. */
const MAX_MS = 2500;

export const frozenRedis: Attack = {
  name: 'frozen-redis',
  tries: 'to hang 2-legged lookups, and to have the operator blamed, by a Redis that is silent',
  holds: `each is answered within ${MAX_MS} ms; no code blames the operator`,
  needsRedis: true,
  async run(stage) {
    const { redis, settings } = await stage.redis();
    const { known, operator, target, token } = await stage.callers(settings);
    stage.equals('before', answerIn(await target.ask(within(number(1)), { token })), false);
    redis.freeze();
    try {
      for (let index = 2; index < 7; index += 1) {
        const reply = await target.ask(within(number(index)), { token });
        stage.atMost('ms', reply.tookMs, MAX_MS);
        const answer = answerIn(reply);
        stage.holds('heard', !String(answer).startsWith('OPERATOR'), answer);
      }
      const common = { ...known, ...settings };
      const threeLegged = await stage.serve(operator, { ...common, OPERATOR_FLOW: '3-legged' });
      const { tookMs, codes } = await threeLegged.ask(within(number(8)), { token });
      stage.atMost('3-legged, ms', tookMs, 4500);
      stage.holds('3-legged, no answer', codes.length > 0, codes);
    } finally {
      redis.thaw();
    }
  },
};
