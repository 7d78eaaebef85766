import { deadUrl } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { answerIn, number, within } from '../values.ts';

const QUOTA = 5;

export const outageQuota: Attack = {
  name: 'outage-quota',
  tries: "to use a caller's quota up by an operator that cannot be reached",
  holds: 'what never left is given back: no caller hears RATE_LIMITED for it',
  async run(stage) {
    const gone = await deadUrl();
    const { target, token } = await stage.callers({
      OPERATOR_AUTH_URL: gone,
      OPERATOR_SIM_SWAP_URL: gone,
      QUOTA_NUMBERS_PER_HOUR: String(QUOTA),
      QUOTA_LOOKUPS_PER_HOUR: String(QUOTA),
    });
    const codes = new Set<string>();
    for (let index = 0; index < 3 * QUOTA; index += 1) {
      const reply = await target.ask(within(number(500 + index)), { token });
      for (const code of reply.codes) codes.add(code);
    }
    stage.equals('codes', [...codes], ['OPERATOR_UNAVAILABLE']);
  },
};

const AT_ONCE = 30;

export const overcount: Attack = {
  name: 'overcount',
  tries: "to use a caller's quota of numbers up by asking about one number at once",
  holds: 'one number counts once, however many ask at once; the quota holds beyond',
  needsRedis: true,
  async run(stage) {
    const { settings } = await stage.redis();
    const common = { ...settings, QUOTA_NUMBERS_PER_HOUR: '3' };
    const { known, operator, target: one, token } = await stage.callers(common);
    const replicas = [one, await stage.serve(operator, { ...known, ...common })];
    const ask = async (index: number, replica: number): Promise<unknown> => {
      const target = replicas[replica % replicas.length];
      return target && answerIn(await target.ask(within(number(index)), { token }));
    };
    for (const index of [1, 2]) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, replica) => ask(index, replica)));
    }
    stage.equals('the third number', await ask(3, 0), false);
    stage.equals('the fourth number', await ask(4, 1), 'RATE_LIMITED');
  },
};
