import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { claimsAt, sign } from '../../caller/testIssuer.ts';
import { inTurn, number, within } from '../values.ts';

const TOKENS = 3000;
const MAX_GROWTH_MB = 48;
const MEGABYTE = 1024 * 1024;

export const tokenFlood: Attack = {
  name: 'token-flood',
  tries: `to fill the heap by ${TOKENS} good tokens whose subjects have 5,000 characters`,
  holds: `what is kept of tokens, callers and quotas grows by ${MAX_GROWTH_MB} MB at most`,
  async run(stage) {
    const issuer = await stage.issuer();
    const target = await stage.serve(await stage.operator({}), { ...issuer.settings, AUDIT_KEY });
    await target.ask(within(number(4)), { token: await issuer.token({ scope: 'sim-swap:read' }) });
    const before = await target.figures();
    const statuses = new Map<number, number>();
    const indexes = Array.from({ length: TOKENS }, (_, index) => index);
    await inTurn(indexes, 8, async (index) => {
      const sub = `${index}-${'s'.repeat(5000)}`;
      const claims = claimsAt(Date.now(), { scope: 'sim-swap:read', sub });
      const token = await sign(issuer.key('ES256'), claims);
      const { status } = await target.ask(within(number(index)), { token });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
    const after = await target.figures();
    const grown = after.heapBytes + after.externalBytes - before.heapBytes - before.externalBytes;
    stage.atMost('MB kept', grown / MEGABYTE, MAX_GROWTH_MB);
    stage.equals(
      'statuses of 5xx',
      [...statuses.keys()].filter((status) => status >= 500),
      [],
    );
  },
};
