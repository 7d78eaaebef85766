import { readFileSync } from 'node:fs';
import type { Role } from '../src/graphql/typeDefs.ts';

/** The roles in which clients meet the schema: apps, and routers. */
export const ROLES: readonly Role[] = ['bff', 'subgraph'];

/** The SDL that is published for a role. */
export function publishedSdl(role: Role): string {
  return readFileSync(new URL(`../schema/${role}.graphql`, import.meta.url), 'utf8');
}

/** Where the SDL of the last release is kept. */
export function releasedFile(role: Role): URL {
  return new URL(`../schema/released/${role}.graphql`, import.meta.url);
}
