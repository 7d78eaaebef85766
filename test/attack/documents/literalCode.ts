import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Attack } from '../attack.ts';
import { number, within } from '../values.ts';

/** graphql-jit's own mark for a date: what stands behind it once became source code. */
const MAGIC_DATE = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';
/** A document was compiled when it came for the fourth time. */
const SENT_TIMES = 6;

export const literalCode: Attack = {
  name: 'literal-code',
  tries: 'to run code by a literal, in every place where one may stand, and to change all objects',
  holds: 'no file is written, a string cannot become code, and the next answer is the right one',
  async run(stage) {
    const directory = await stage.directory();
    const file = join(directory, 'written');
    const code = `process.getBuiltinModule('fs').writeFileSync('${file}','x')`;
    const literals = [
      `"${MAGIC_DATE}${code}"`,
      `"""${MAGIC_DATE}${code}"""`,
      `"\${${code}}"`,
      `"\\");${code};(\\""`,
      `"\\u2028${code}//"`,
    ];
    const operator = await stage.operator({});
    const bff = await stage.serve(operator);
    const subgraph = await stage.serve(operator, { ROLE: 'subgraph' });
    for (const literal of literals) {
      const documents = [
        `{ phoneNumber(e164: ${literal}) { e164 } }`,
        `{ phoneNumbers(e164s: [${literal}]) { e164 } }`,
        `query ($n: ID! = ${literal}) { phoneNumber(e164: $n) { e164 } }`,
        `{ phoneNumber(e164: "${number(4)}") { e164 @skip(if: ${literal}) simSwappedWithin(maxAgeHours: ${literal}) } }`,
      ];
      const entities = [
        entity(`__typename: "PhoneNumber", e164: ${literal}`),
        entity(`__typename: ${literal}, e164: "${number(4)}"`),
        entity(
          `__typename: "PhoneNumber", e164: "${number(4)}", __proto__: { polluted: ${literal} }`,
        ),
        entity(
          `__typename: "PhoneNumber", e164: "${number(4)}", constructor: { prototype: { polluted: ${literal} } }`,
        ),
      ];
      for (let time = 0; time < SENT_TIMES; time += 1) {
        for (const document of documents) await bff.ask(document);
        for (const document of entities) await subgraph.ask(document);
      }
    }
    stage.holds('files written', !existsSync(file), existsSync(file) ? 'one' : 'none');
    for (const target of [bff, subgraph]) {
      const { takesCode, polluted } = await target.figures();
      stage.equals('a string becomes code', takesCode, false);
      stage.equals('members of every object', polluted, []);
    }
    const { data } = await bff.ask(within(number(4)));
    stage.equals('the next answer', data, { phoneNumber: { simSwappedWithin: false } });
  },
};

function entity(members: string): string {
  return `{ _entities(representations: [{ ${members} }]) { ... on PhoneNumber { simSwappedWithin } } }`;
}
