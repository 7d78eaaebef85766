import { deadUrl } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { number, within } from '../values.ts';

const QUOTA = 5;

export const outageQuota: Attack = {
  name: 'outage-quota',
  tries: "to use a caller's quota up by an operator that cannot be reached",
  holds: 'what never left is given back: no caller hears RATE_LIMITED for it',
  async run(stage) {
    const issuer = await stage.issuer();
    const gone = await deadUrl();
    const target = await stage.serve(await stage.operator({}), {
      ...issuer.settings,
      AUDIT_KEY,
      OPERATOR_AUTH_URL: gone,
      OPERATOR_SIM_SWAP_URL: gone,
      QUOTA_NUMBERS_PER_HOUR: String(QUOTA),
      QUOTA_LOOKUPS_PER_HOUR: String(QUOTA),
    });
    const token = await issuer.token({ scope: 'sim-swap:read' });
    const codes = new Set<string>();
    for (let index = 0; index < 3 * QUOTA; index += 1) {
      const reply = await target.ask(within(number(500 + index)), { token });
      for (const code of reply.codes) codes.add(code);
    }
    stage.equals('codes', [...codes], ['OPERATOR_UNAVAILABLE']);
  },
};
