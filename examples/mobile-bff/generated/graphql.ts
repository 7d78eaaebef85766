/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type SimSwappedQueryVariables = Exact<{
  e164: string | number;
  maxAgeHours: number;
}>;


export type SimSwappedQuery = { __typename: 'Query', phoneNumber: { __typename: 'PhoneNumber', e164: string, simSwappedWithin: boolean | null } | null };


export const SimSwappedDocument = {"__meta__":{"hash":"sha256:2ddc0e40eee671d6e11da30b5ec2c7cc105af12d7181a7edfde78b5afad783e2"},"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"SimSwapped"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"e164"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"maxAgeHours"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"phoneNumber"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"e164"},"value":{"kind":"Variable","name":{"kind":"Name","value":"e164"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"e164"}},{"kind":"Field","name":{"kind":"Name","value":"simSwappedWithin"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"maxAgeHours"},"value":{"kind":"Variable","name":{"kind":"Name","value":"maxAgeHours"}}}]}]}}]}}]} as unknown as DocumentNode<SimSwappedQuery, SimSwappedQueryVariables>;