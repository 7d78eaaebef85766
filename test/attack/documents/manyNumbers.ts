import { number, numbers, times } from '../values.ts';

/** So many numbers. */
export const ASKED = 55;

/** Ways to ask about many numbers of which the count before execution may not see one. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
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
export const JSON_BODY = `{"query":${JSON.stringify(
  'query ($r: [_Any!]!) { _entities(representations: $r) { ... on PhoneNumber { simSwappedWithin } } }',
)},"variables":{"r":[${numbers(ASKED)
  .map((e164) => `{"__typename":"PhoneNumber","__proto__":{"e164":"${e164}"},"e164":"${e164}"}`)
  .join()}]}}`;

export function entityField(members: string): string {
  return `_entities(representations: [{ ${members} }]) { ... on PhoneNumber { simSwappedWithin } }`;
}

function entities(members: (e164: string) => string): string {
  const list = times(ASKED, (index) => `{ ${members(number(index))} }`);
  return `{ _entities(representations: [${list}]) { ... on PhoneNumber { simSwappedWithin } } }`;
}
