import { setTimeout as sleep } from 'node:timers/promises';
import { claimsAt, createKey, sign, TestIssuer } from '../../caller/testIssuer.ts';
import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { inTurn, number, within } from '../values.ts';

/** Keys are fetched at most so often, whatever tokens say. */
const COOLDOWN_MS = 30_500;
const TOKENS = 1000;

export const withdrawnKey: Attack = {
  name: 'withdrawn-key',
  tries: 'to be let in by tokens of a withdrawn key that are under way while the keys are fetched',
  holds: 'once the new keys are there, none of them is let in',
  async run(stage) {
    const issuer: TestIssuer = await stage.issuer();
    const target = await stage.serve(await stage.operator({}), { ...issuer.settings, AUDIT_KEY });
    const old = issuer.key('RS256');
    await target.ask(within(number(4)), { token: await issuer.token() });
    const tokens = await Promise.all(
      Array.from({ length: TOKENS }, (_, index) =>
        sign(old, claimsAt(Date.now(), { jti: String(index) })),
      ),
    );
    const fresh = await createKey('RS256', 'fresh');
    const withFresh = await sign(fresh, claimsAt(Date.now()));
    issuer.keys.splice(issuer.keys.indexOf(old), 1, fresh);
    await sleep(COOLDOWN_MS);

    const [{ status }] = await Promise.all([
      target.ask('{ __typename }', { token: withFresh }),
      inTurn(tokens, 100, (token) => target.ask('{ __typename }', { token })),
    ]);
    stage.equals('a token of the new key', status, 200);
    const fetches = issuer.fetches;
    let letIn = 0;
    await inTurn(tokens, 16, async (token) => {
      if ((await target.ask('{ __typename }', { token })).status !== 401) letIn += 1;
    });
    stage.equals('tokens of the withdrawn key let in', letIn, 0);
    stage.atMost('fetches of the keys', fetches, 2);
  },
};
