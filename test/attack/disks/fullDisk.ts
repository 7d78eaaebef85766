import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { answerIn, number, within } from '../values.ts';

export const fullDisk: Attack = {
  name: 'full-disk',
  tries: 'to ask without a trace where the audit disk is full',
  holds: 'AUDIT_UNAVAILABLE, and nothing is asked',
  async run(stage) {
    const issuer = await stage.issuer();
    const operator = await stage.operator({});
    const target = await stage.serve(operator, {
      ...issuer.settings,
      AUDIT_KEY,
      AUDIT_LOG: '/dev/full',
    });
    const token = await issuer.token({ scope: 'sim-swap:read' });
    const heard = new Set<unknown>();
    for (let index = 0; index < 10; index += 1) {
      heard.add(answerIn(await target.ask(within(number(index)), { token })));
    }
    stage.equals('heard', [...heard], ['AUDIT_UNAVAILABLE']);
    stage.equals('lookups', operator.count('lookups'), 0);
  },
};
