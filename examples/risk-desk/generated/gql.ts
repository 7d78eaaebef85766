/* eslint-disable */
import * as types from './graphql.js';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "query Consents($e164s: [ID!]!) {\n  customersByPhone(e164s: $e164s) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      simSwapConsent {\n        state\n        retryAfterSeconds\n      }\n    }\n  }\n}\n\nquery SimSwaps($e164s: [ID!]!) {\n  customersByPhone(e164s: $e164s) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      lastSimSwap\n      within24h: simSwapCheck(maxAgeHours: 24) {\n        ...Check\n      }\n      within72h: simSwapCheck(maxAgeHours: 72) {\n        ...Check\n      }\n      within7d: simSwapCheck(maxAgeHours: 168) {\n        ...Check\n      }\n      within30d: simSwapCheck(maxAgeHours: 720) {\n        ...Check\n      }\n    }\n  }\n}\n\nquery SimSwapWithConsent($e164: ID!, $maxAgeHours: Int!) {\n  customersByPhone(e164s: [$e164]) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      check: simSwapCheck(maxAgeHours: $maxAgeHours) {\n        ...Check\n      }\n    }\n  }\n}\n\nfragment Check on SimSwapCheck {\n  result\n  windowHours\n  reason\n  retryAfterSeconds\n  expiresAt\n  maxAgeHours\n  asOf\n}": typeof types.ConsentsDocument,
};
const documents: Documents = {
    "query Consents($e164s: [ID!]!) {\n  customersByPhone(e164s: $e164s) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      simSwapConsent {\n        state\n        retryAfterSeconds\n      }\n    }\n  }\n}\n\nquery SimSwaps($e164s: [ID!]!) {\n  customersByPhone(e164s: $e164s) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      lastSimSwap\n      within24h: simSwapCheck(maxAgeHours: 24) {\n        ...Check\n      }\n      within72h: simSwapCheck(maxAgeHours: 72) {\n        ...Check\n      }\n      within7d: simSwapCheck(maxAgeHours: 168) {\n        ...Check\n      }\n      within30d: simSwapCheck(maxAgeHours: 720) {\n        ...Check\n      }\n    }\n  }\n}\n\nquery SimSwapWithConsent($e164: ID!, $maxAgeHours: Int!) {\n  customersByPhone(e164s: [$e164]) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      check: simSwapCheck(maxAgeHours: $maxAgeHours) {\n        ...Check\n      }\n    }\n  }\n}\n\nfragment Check on SimSwapCheck {\n  result\n  windowHours\n  reason\n  retryAfterSeconds\n  expiresAt\n  maxAgeHours\n  asOf\n}": types.ConsentsDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query Consents($e164s: [ID!]!) {\n  customersByPhone(e164s: $e164s) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      simSwapConsent {\n        state\n        retryAfterSeconds\n      }\n    }\n  }\n}\n\nquery SimSwaps($e164s: [ID!]!) {\n  customersByPhone(e164s: $e164s) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      lastSimSwap\n      within24h: simSwapCheck(maxAgeHours: 24) {\n        ...Check\n      }\n      within72h: simSwapCheck(maxAgeHours: 72) {\n        ...Check\n      }\n      within7d: simSwapCheck(maxAgeHours: 168) {\n        ...Check\n      }\n      within30d: simSwapCheck(maxAgeHours: 720) {\n        ...Check\n      }\n    }\n  }\n}\n\nquery SimSwapWithConsent($e164: ID!, $maxAgeHours: Int!) {\n  customersByPhone(e164s: [$e164]) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      check: simSwapCheck(maxAgeHours: $maxAgeHours) {\n        ...Check\n      }\n    }\n  }\n}\n\nfragment Check on SimSwapCheck {\n  result\n  windowHours\n  reason\n  retryAfterSeconds\n  expiresAt\n  maxAgeHours\n  asOf\n}"): (typeof documents)["query Consents($e164s: [ID!]!) {\n  customersByPhone(e164s: $e164s) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      simSwapConsent {\n        state\n        retryAfterSeconds\n      }\n    }\n  }\n}\n\nquery SimSwaps($e164s: [ID!]!) {\n  customersByPhone(e164s: $e164s) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      lastSimSwap\n      within24h: simSwapCheck(maxAgeHours: 24) {\n        ...Check\n      }\n      within72h: simSwapCheck(maxAgeHours: 72) {\n        ...Check\n      }\n      within7d: simSwapCheck(maxAgeHours: 168) {\n        ...Check\n      }\n      within30d: simSwapCheck(maxAgeHours: 720) {\n        ...Check\n      }\n    }\n  }\n}\n\nquery SimSwapWithConsent($e164: ID!, $maxAgeHours: Int!) {\n  customersByPhone(e164s: [$e164]) {\n    customer {\n      id\n      name\n    }\n    phoneNumber {\n      e164\n      check: simSwapCheck(maxAgeHours: $maxAgeHours) {\n        ...Check\n      }\n    }\n  }\n}\n\nfragment Check on SimSwapCheck {\n  result\n  windowHours\n  reason\n  retryAfterSeconds\n  expiresAt\n  maxAgeHours\n  asOf\n}"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;