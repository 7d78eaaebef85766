import type { Attack } from '../attack.ts';
import { claimsAt, sign } from '../../caller/testIssuer.ts';
import { inTurn, number, within } from '../values.ts';

const TOKENS = 3000;
const MAX_GROWTH_MB = 48;

export const tokenFlood: Attack = {
  name: 'token-flood',
  tries: `to fill the heap by ${TOKENS} good tokens whose subjects have 5,000 characters`,
  holds: `what is kept of tokens, callers and quotas grows by ${MAX_GROWTH_MB} MB at most`,
  async run(stage) {
    const { issuer, target, token: first } = await stage.callers();
    await target.ask(within(number(4)), { token: first });
    const before = await target.figures();
    const statuses = new Set<number>();
    await inTurn(Array(TOKENS).keys(), 8, async (index) => {
      const sub = `${index}-${'s'.repeat(5000)}`;
      const claims = claimsAt(Date.now(), { scope: 'sim-swap:read', sub });
      const token = await sign(issuer.key('ES256'), claims);
      const { status } = await target.ask(within(number(index)), { token });
      statuses.add(status);
    });
    stage.atMost('MB kept', await target.grownMb(before), MAX_GROWTH_MB);
    const broken = [...statuses].filter((status) => status >= 500);
    stage.equals('statuses of 5xx', broken, []);
  },
};
