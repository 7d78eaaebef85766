import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { answerIn, number, within } from '../values.ts';

const AT_ONCE = 30;

export const overcount: Attack = {
  name: 'overcount',
  tries: "to use a caller's quota of numbers up by asking about one number at once",
  holds: 'one number counts once, however many ask at once; the quota holds beyond',
  needsRedis: true,
  async run(stage) {
    const issuer = await stage.issuer();
    const { settings } = await stage.redis();
    const common = {
      ...issuer.settings,
      AUDIT_KEY,
      ...settings,
      QUOTA_NUMBERS_PER_HOUR: '3',
    };
    const operator = await stage.operator({});
    const replicas = [await stage.serve(operator, common), await stage.serve(operator, common)];
    const token = await issuer.token({ scope: 'sim-swap:read' });
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
