import { readFileSync } from 'node:fs';
import type { Role } from '../src/graphql/schema.ts';

/** Both ways in which clients meet the schema: apps, and routers. */
export const ROLES: readonly Role[] = ['bff', 'subgraph'];

/** The SDL that is published for a role: what it shares with the other one, and its own. */
export function publishedSdl(role: Role): string {
  return `${read('phone-number')}\n${read(role)}`;
}

/** Where the SDL of the last release is kept. */
export function releasedFile(role: Role): URL {
  return new URL(`../schema/released/${role}.graphql`, import.meta.url);
}

function read(name: string): string {
  return readFileSync(new URL(`../schema/${name}.graphql`, import.meta.url), 'utf8');
}
