/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type MySimSwapQueryVariables = Exact<{
  maxAgeHours: number;
}>;


export type MySimSwapQuery = { __typename: 'Query', myPhoneNumber: { __typename: 'PhoneNumber', e164: string, simSwappedWithin: boolean | null, simSwapConsent: { __typename: 'SimSwapConsent', retryAfterSeconds: number | null, expiresAt: string | null } | null } | null };


export const MySimSwapDocument = {"__meta__":{"hash":"sha256:444b9a12b65982558889ca431d1ed6edd81acf144b2b8a6a8024cc1bfca92700"},"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MySimSwap"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"maxAgeHours"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"myPhoneNumber"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"e164"}},{"kind":"Field","name":{"kind":"Name","value":"simSwappedWithin"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"maxAgeHours"},"value":{"kind":"Variable","name":{"kind":"Name","value":"maxAgeHours"}}}]},{"kind":"Field","name":{"kind":"Name","value":"simSwapConsent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}}]} as unknown as DocumentNode<MySimSwapQuery, MySimSwapQueryVariables>;