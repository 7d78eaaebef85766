import type { Attack } from '../attack.ts';
import { number, numbers, times } from '../values.ts';

const LIMIT = 20;
const ASKED = 55;

/** Ways to ask about many numbers of which the count before execution may not see one. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  'a key of __proto__': entities(
    (e164) => `__typename: "PhoneNumber", __proto__: { e164: "${e164}" }`,
  ),
  '__proto__ beside the key': entities(
    (e164) => `__typename: "PhoneNumber", e164: "${e164}", __proto__: { e164: "${number(1)}" }`,
  ),
  'the key twice': entities(
    (e164) => `__typename: "PhoneNumber", e164: "${number(1)}", e164: "${e164}"`,
  ),
  'a root field each': `{ ${times(ASKED, (index) => `a${index}: ${entityField(`__typename: "PhoneNumber", e164: "${number(index)}"`)}`)} }`,
  'fragments on the root': `{ ${times(ASKED, (index) => `...F${index}`)} } ${times(ASKED, (index) => `fragment F${index} on Query { a${index}: ${entityField(`__typename: "PhoneNumber", e164: "${number(index)}"`)} }`)}`,
  'included by a variable': `query ($yes: Boolean = true) { ${times(ASKED, (index) => `a${index}: ${entityField(`__typename: "PhoneNumber", e164: "${number(index)}"`)} @include(if: $yes)`)} }`,
};

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
    // What JSON.parse makes of `__proto__` is a member like any other.
    const representations = numbers(ASKED)
      .map((e164) => `{"__typename":"PhoneNumber","__proto__":{"e164":"${e164}"},"e164":"${e164}"}`)
      .join();
    const query =
      'query ($r: [_Any!]!) { _entities(representations: $r) { ... on PhoneNumber { simSwappedWithin } } }';
    const body = `{"query":${JSON.stringify(query)},"variables":{"r":[${representations}]}}`;
    stage.atMost('lookups by variables', await lookupsOf(() => target.post(body)), LIMIT);
  },
};

function entityField(members: string): string {
  return `_entities(representations: [{ ${members} }]) { ... on PhoneNumber { simSwappedWithin } }`;
}

function entities(members: (e164: string) => string): string {
  const list = times(ASKED, (index) => `{ ${members(number(index))} }`);
  return `{ _entities(representations: [${list}]) { ... on PhoneNumber { simSwappedWithin } } }`;
}
