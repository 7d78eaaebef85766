/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** What is known about a window. */
export type SimSwapResult =
  /** The operator vouches that it did not. */
  | 'NOT_SWAPPED'
  /** The SIM card changed within the window: do not trust an SMS code. */
  | 'SWAPPED'
  /** Not known. Treat it like `SWAPPED`, never like `NOT_SWAPPED`. */
  | 'UNKNOWN'
  | '%future added value';

/** Why a result is `UNKNOWN`: the error codes of the same names. */
export type SimSwapUnknownReason =
  /** Not looked up, because the audit log could not be written. The team that runs this service has to fix this. */
  | 'AUDIT_UNAVAILABLE'
  /** The owner declined. Use another way to authenticate. */
  | 'CONSENT_DENIED'
  /** The owner did not respond in time. The next query sends a new prompt. */
  | 'CONSENT_EXPIRED'
  /** The owner of the number has not responded yet. Retry after `retryAfterSeconds`, until `expiresAt`. */
  | 'CONSENT_PENDING'
  /** The operator does not know this number or does not serve it. */
  | 'NUMBER_NOT_SERVED'
  /** The operator does not offer this check. */
  | 'OPERATION_NOT_OFFERED'
  /** The operator sent a reply that cannot be trusted. The team that runs this service has to fix this. */
  | 'OPERATOR_INVALID_REPLY'
  /** Rate-limited by the operator. */
  | 'OPERATOR_RATE_LIMITED'
  /** The operator refused our request. The team that runs this service has to fix this. */
  | 'OPERATOR_REFUSED'
  /** The operator did not answer in time. */
  | 'OPERATOR_TIMEOUT'
  /** The operator is not available. */
  | 'OPERATOR_UNAVAILABLE'
  /** The operator cannot answer for a window this long. Query `maxAgeHours`, if given. */
  | 'PERIOD_NOT_SUPPORTED'
  /** The caller's quota is used up. */
  | 'RATE_LIMITED'
  /** The store of consents cannot be reached. Retry after `retryAfterSeconds`. */
  | 'STATE_UNAVAILABLE'
  /** This service is overloaded. Retry after `retryAfterSeconds`. */
  | 'UNAVAILABLE'
  | '%future added value';

export type MySimSwapQueryVariables = Exact<{
  maxAgeHours: number;
}>;


export type MySimSwapQuery = { __typename: 'Query', myPhoneNumber: { __typename: 'PhoneNumber', e164: string, simSwapCheck: { __typename: 'SimSwapCheck', result: SimSwapResult, reason: SimSwapUnknownReason | null, retryAfterSeconds: number | null, expiresAt: string | null } | null } | null };


export const MySimSwapDocument = {"__meta__":{"hash":"sha256:14771317376da2daab3861f6662c9c731e0849f94ebb81b6df0b553c93d63b9a"},"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MySimSwap"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"maxAgeHours"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"myPhoneNumber"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"e164"}},{"kind":"Field","name":{"kind":"Name","value":"simSwapCheck"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"maxAgeHours"},"value":{"kind":"Variable","name":{"kind":"Name","value":"maxAgeHours"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"result"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}}]} as unknown as DocumentNode<MySimSwapQuery, MySimSwapQueryVariables>;