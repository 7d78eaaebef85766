import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Role } from '../src/graphql/typeDefs.ts';
import { pretty, type MadeFile } from './madeFile.ts';

/** Added before the types of a subgraph. */
const FOR_ROUTERS = `# PhoneNumber as an entity, to which other subgraphs add fields of their own (ROLE=subgraph). The router names
# a number by \`e164\`, in any form that \`Query.phoneNumber\` of the BFF takes: \`+447700900001\`,
# \`+44 7700 900-001\`, \`tel:+447700900001\`.
extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
`;

/** What both roles have, in one piece with a role's own part: a router of Federation 1 accepts no `extend type`. */
const SDL: Readonly<Record<Role, () => string>> = {
  bff: () => `${read('phone-number')}\n${read('query')}`,
  subgraph: () =>
    `${FOR_ROUTERS}\n${read('phone-number').replace(/^type PhoneNumber \{$/m, 'type PhoneNumber @key(fields: "e164") {')}`,
};

/** The SDL of each role, one file each: schema/bff.graphql and schema/subgraph.graphql. */
export async function makeSchemaFiles(): Promise<readonly MadeFile[]> {
  return Promise.all(
    (['bff', 'subgraph'] as const).map(async (role) => {
      const path = fileURLToPath(new URL(`../schema/${role}.graphql`, import.meta.url));
      return { path, text: await pretty(SDL[role](), path) };
    }),
  );
}

function read(name: string): string {
  return readFileSync(new URL(`../schema/${name}.graphql`, import.meta.url), 'utf8');
}
