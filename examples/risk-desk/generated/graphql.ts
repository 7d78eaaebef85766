/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** The state of the owner's consent. */
export type SimSwapConsentState =
  /**
   * The owner consented; the other fields of this number have the answers. Within a minute the same query
   * returns them without another prompt.
   */
  | 'ANSWERED'
  /** The owner declined. They are not prompted again for `retryAfterSeconds`. */
  | 'DENIED'
  /**
   * The owner did not respond, or the prompt was lost. The next `lastSimSwap` or `simSwappedWithin` sends a
   * new one, after `retryAfterSeconds` if given.
   */
  | 'EXPIRED'
  /**
   * The owner has not been prompted. The next `lastSimSwap` or `simSwappedWithin` prompts them, after
   * `retryAfterSeconds` if given.
   */
  | 'NOT_ASKED'
  /** This operator answers without the owner's consent. */
  | 'NOT_NEEDED'
  /**
   * The owner has been prompted, or may have been, and has not responded. Retry after `retryAfterSeconds`.
   * Without `expiresAt` it may be the prompt of another caller or purpose: give up after ten minutes.
   */
  | 'PENDING';

/** What is known about a window. */
export type SimSwapResult =
  /** The operator vouches that it did not. */
  | 'NOT_SWAPPED'
  /** The SIM card changed within the window: do not trust an SMS code. */
  | 'SWAPPED'
  /** Not known. Treat it like `SWAPPED`, never like `NOT_SWAPPED`. */
  | 'UNKNOWN';

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
  | 'UNAVAILABLE';

export type ConsentsQueryVariables = Exact<{
  e164s: Array<string | number> | string | number;
}>;


export type ConsentsQuery = { customersByPhone: Array<{ customer: { id: string, name: string } | null, phoneNumber: { e164: string, simSwapConsent: { state: SimSwapConsentState, retryAfterSeconds: number | null } | null } }> };

export type SimSwapsQueryVariables = Exact<{
  e164s: Array<string | number> | string | number;
}>;


export type SimSwapsQuery = { customersByPhone: Array<{ customer: { id: string, name: string } | null, phoneNumber: { e164: string, lastSimSwap: string | null, within24h: { result: SimSwapResult, windowHours: number, reason: SimSwapUnknownReason | null, retryAfterSeconds: number | null, expiresAt: string | null, maxAgeHours: number | null, asOf: string | null } | null, within72h: { result: SimSwapResult, windowHours: number, reason: SimSwapUnknownReason | null, retryAfterSeconds: number | null, expiresAt: string | null, maxAgeHours: number | null, asOf: string | null } | null, within7d: { result: SimSwapResult, windowHours: number, reason: SimSwapUnknownReason | null, retryAfterSeconds: number | null, expiresAt: string | null, maxAgeHours: number | null, asOf: string | null } | null, within30d: { result: SimSwapResult, windowHours: number, reason: SimSwapUnknownReason | null, retryAfterSeconds: number | null, expiresAt: string | null, maxAgeHours: number | null, asOf: string | null } | null } }> };

export type SimSwapWithConsentQueryVariables = Exact<{
  e164: string | number;
  maxAgeHours: number;
}>;


export type SimSwapWithConsentQuery = { customersByPhone: Array<{ customer: { id: string, name: string } | null, phoneNumber: { e164: string, check: { result: SimSwapResult, windowHours: number, reason: SimSwapUnknownReason | null, retryAfterSeconds: number | null, expiresAt: string | null, maxAgeHours: number | null, asOf: string | null } | null } }> };

export type CheckFragment = { result: SimSwapResult, windowHours: number, reason: SimSwapUnknownReason | null, retryAfterSeconds: number | null, expiresAt: string | null, maxAgeHours: number | null, asOf: string | null };

export const CheckFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Check"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SimSwapCheck"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"result"}},{"kind":"Field","name":{"kind":"Name","value":"windowHours"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"maxAgeHours"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<CheckFragment, unknown>;
export const ConsentsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Consents"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"e164s"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"customersByPhone"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"e164s"},"value":{"kind":"Variable","name":{"kind":"Name","value":"e164s"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"phoneNumber"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"e164"}},{"kind":"Field","name":{"kind":"Name","value":"simSwapConsent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSeconds"}}]}}]}}]}}]}}]} as unknown as DocumentNode<ConsentsQuery, ConsentsQueryVariables>;
export const SimSwapsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"SimSwaps"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"e164s"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"customersByPhone"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"e164s"},"value":{"kind":"Variable","name":{"kind":"Name","value":"e164s"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"phoneNumber"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"e164"}},{"kind":"Field","name":{"kind":"Name","value":"lastSimSwap"}},{"kind":"Field","alias":{"kind":"Name","value":"within24h"},"name":{"kind":"Name","value":"simSwapCheck"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"maxAgeHours"},"value":{"kind":"IntValue","value":"24"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Check"}}]}},{"kind":"Field","alias":{"kind":"Name","value":"within72h"},"name":{"kind":"Name","value":"simSwapCheck"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"maxAgeHours"},"value":{"kind":"IntValue","value":"72"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Check"}}]}},{"kind":"Field","alias":{"kind":"Name","value":"within7d"},"name":{"kind":"Name","value":"simSwapCheck"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"maxAgeHours"},"value":{"kind":"IntValue","value":"168"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Check"}}]}},{"kind":"Field","alias":{"kind":"Name","value":"within30d"},"name":{"kind":"Name","value":"simSwapCheck"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"maxAgeHours"},"value":{"kind":"IntValue","value":"720"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Check"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Check"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SimSwapCheck"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"result"}},{"kind":"Field","name":{"kind":"Name","value":"windowHours"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"maxAgeHours"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<SimSwapsQuery, SimSwapsQueryVariables>;
export const SimSwapWithConsentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"SimSwapWithConsent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"e164"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"maxAgeHours"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"customersByPhone"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"e164s"},"value":{"kind":"ListValue","values":[{"kind":"Variable","name":{"kind":"Name","value":"e164"}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"phoneNumber"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"e164"}},{"kind":"Field","alias":{"kind":"Name","value":"check"},"name":{"kind":"Name","value":"simSwapCheck"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"maxAgeHours"},"value":{"kind":"Variable","name":{"kind":"Name","value":"maxAgeHours"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Check"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Check"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SimSwapCheck"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"result"}},{"kind":"Field","name":{"kind":"Name","value":"windowHours"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"maxAgeHours"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<SimSwapWithConsentQuery, SimSwapWithConsentQueryVariables>;