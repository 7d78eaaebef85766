import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { number } from '../values.ts';
import { ASKED, DOCUMENTS, entityField, JSON_BODY } from './manyNumbers.ts';

const SCOPE = 'sim-swap:batch';

/** With a token for one number an operation, asks about many in every way that hides how many they are. */
export const batchScope: Attack = {
  name: 'batch-scope',
  tries: `to have ${ASKED} numbers looked up by one operation, without the scope that several take`,
  holds:
    'without the scope of BATCH_SCOPE no more than one number is looked up, and with it all are',
  async run(stage) {
    const issuer = await stage.issuer();
    const operator = await stage.operator({});
    const target = await stage.serve(operator, {
      ...issuer.settings,
      AUDIT_KEY,
      ROLE: 'subgraph',
      BATCH_SCOPE: SCOPE,
    });
    const token = await issuer.token({ scope: 'sim-swap:read' });
    const lookupsOf = async (ask: () => Promise<unknown>): Promise<number> => {
      const before = operator.count('lookups');
      await ask();
      return operator.count('lookups') - before;
    };
    const one = `{ ${entityField(`__typename: "PhoneNumber", e164: "${number(900)}"`)} }`;
    stage.equals('lookups of one', await lookupsOf(() => target.ask(one, { token })), 1);
    for (const [way, document] of Object.entries(DOCUMENTS)) {
      stage.atMost(`lookups by ${way}`, await lookupsOf(() => target.ask(document, { token })), 1);
    }
    stage.atMost(
      'lookups by variables',
      await lookupsOf(() => target.post(JSON_BODY, { token })),
      1,
    );
    const allowed = await issuer.token({ scope: `sim-swap:read ${SCOPE}` });
    const all = await lookupsOf(() => target.post(JSON_BODY, { token: allowed }));
    stage.equals('lookups with the scope', all, ASKED);
  },
};
