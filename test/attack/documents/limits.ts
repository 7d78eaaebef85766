import type { Attack } from '../attack.ts';
import { number, times } from '../values.ts';
import { ASKED, DOCUMENTS, entityField, JSON_BODY } from './manyNumbers.ts';

const LIMIT = 20;

export const limits: Attack = {
  name: 'limits',
  tries: `to have ${ASKED} numbers looked up by one operation that may ask about ${LIMIT}`,
  holds: 'no more lookups leave than one operation may ask for',
  async run(stage) {
    const operator = await stage.operator({});
    const target = await stage.serve(operator, {
      ROLE: 'subgraph',
      MAX_NUMBERS_PER_OPERATION: String(LIMIT),
    });
    const lookupsOf = async (ask: () => Promise<unknown>): Promise<number> => {
      const before = operator.count('lookups');
      await ask();
      return operator.count('lookups') - before;
    };
    const ok = `{ ${times(LIMIT, (index) => `a${index}: ${entityField(`__typename: "PhoneNumber", e164: "${number(900 + index)}"`)}`)} }`;
    stage.equals('lookups inside the limit', await lookupsOf(() => target.ask(ok)), LIMIT);
    for (const [way, document] of Object.entries(DOCUMENTS)) {
      stage.atMost(`lookups by ${way}`, await lookupsOf(() => target.ask(document)), LIMIT);
    }
    stage.atMost('lookups by variables', await lookupsOf(() => target.post(JSON_BODY)), LIMIT);
  },
};
