import { readFileSync } from 'node:fs';
import { parse, type DocumentNode } from 'graphql';

/** `bff`: root fields for apps; `subgraph`: the entity, for a router. */
export type Role = 'bff' | 'subgraph';

/** The schema of a role, as its file has it. */
export function typeDefsOf(role: Role): DocumentNode {
  return parse(readFileSync(new URL(`../../schema/${role}.graphql`, import.meta.url), 'utf8'));
}
