import type { Attack } from '../attack.ts';
import type { Stage } from '../stage.ts';
import type { Target } from '../target.ts';
import { number, numbers, times } from '../values.ts';
import type { WiredOperator } from '../../wiredOperator.ts';

/** So many numbers. */
const ASKED = 55;

const LIMIT = 20;
const BATCH_SCOPE = 'sim-swap:batch';

export const limits: Attack = {
  name: 'limits',
  tries: `to have ${ASKED} numbers looked up by one operation that may ask about ${LIMIT}`,
  holds: 'no more lookups leave than one operation may ask for',
  async run(stage) {
    const operator = await stage.operator({});
    const settings = { ROLE: 'subgraph', MAX_NUMBERS_PER_OPERATION: String(LIMIT) };
    await askForMany(stage, operator, await stage.serve(operator, settings), LIMIT);
  },
};

/** With a token for one number an operation, asks about many in every way that hides how many they are. */
export const batchScope: Attack = {
  name: 'batch-scope',
  tries: `to have ${ASKED} numbers looked up by one operation, without the scope that several take`,
  holds:
    'without the scope of BATCH_SCOPE no more than one number is looked up, and with it all are',
  async run(stage) {
    const scene = await stage.callers({ ROLE: 'subgraph', BATCH_SCOPE });
    const { issuer, operator, target, token } = scene;
    await askForMany(stage, operator, target, 1, token);
    const allowed = await issuer.token({ scope: `sim-swap:read ${BATCH_SCOPE}` });
    const before = operator.count('lookups');
    await target.post(JSON_BODY, { token: allowed });
    stage.equals('lookups with the scope', operator.count('lookups') - before, ASKED);
  },
};

/** Asks about as many as it may, then about more in every way. */
async function askForMany(
  stage: Stage,
  operator: WiredOperator,
  target: Target,
  limit: number,
  token?: string,
): Promise<void> {
  const lookupsOf = async (asking: Promise<unknown>): Promise<number> => {
    const before = operator.count('lookups');
    await asking;
    return operator.count('lookups') - before;
  };
  const ok = `{ ${times(limit, (index) => `a${index}: ${entityField(`__typename: "PhoneNumber", e164: "${number(900 + index)}"`)}`)} }`;
  stage.equals('lookups inside the limit', await lookupsOf(target.ask(ok, { token })), limit);
  for (const [way, document] of Object.entries(DOCUMENTS)) {
    stage.atMost(`lookups by ${way}`, await lookupsOf(target.ask(document, { token })), limit);
  }
  stage.atMost('lookups by variables', await lookupsOf(target.post(JSON_BODY, { token })), limit);
}

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

/** The same in variables. What JSON.parse makes of `__proto__` is a member like any other. */
const JSON_BODY = `{"query":${JSON.stringify(
  'query ($r: [_Any!]!) { _entities(representations: $r) { ... on PhoneNumber { simSwappedWithin } } }',
)},"variables":{"r":[${numbers(ASKED)
  .map((e164) => `{"__typename":"PhoneNumber","__proto__":{"e164":"${e164}"},"e164":"${e164}"}`)
  .join()}]}}`;

function entityField(members: string): string {
  return `_entities(representations: [{ ${members} }]) { ... on PhoneNumber { simSwappedWithin } }`;
}

function entities(members: (e164: string) => string): string {
  const list = times(ASKED, (index) => `{ ${members(number(index))} }`);
  return `{ _entities(representations: [${list}]) { ... on PhoneNumber { simSwappedWithin } } }`;
}
