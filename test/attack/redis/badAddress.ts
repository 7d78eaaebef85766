import type { Attack } from '../attack.ts';
import { SECRET_MARK } from '../stage.ts';
import { Target } from '../target.ts';

export const badAddress: Attack = {
  name: 'bad-redis-address',
  tries: 'to have a mistake in REDIS_URL taken for another, and its password printed',
  holds: 'the message names REDIS_URL and no password',
  async run(stage) {
    const operator = await stage.operator({});
    for (const path of ['/zero', '/-1', '/0/1', '/%zz']) {
      const why = await Target.start({
        ...operator.settings,
        OPERATOR_FLOW: '3-legged',
        REDIS_URL: `redis://user:${SECRET_MARK}@127.0.0.1:1${path}`,
        STATE_KEY: 'a'.repeat(64),
      }).then(
        async (target) => {
          await target.kill();
          return 'it started';
        },
        (error: unknown) => String(error),
      );
      stage.holds(`${path}: names REDIS_URL`, why.includes('REDIS_URL'), why.slice(0, 160));
      stage.holds(`${path}: names no password`, !why.includes(SECRET_MARK));
    }
  },
};
