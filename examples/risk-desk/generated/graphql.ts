/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** How far asking the owner of a line has come. */
export type SimSwapConsentState =
  /**
   * The owner consented, and the answers beside this field are what came of it. Asked again within a
   * minute, they are given again without another question to the owner.
   */
  | 'ANSWERED'
  /** The owner declined. They are not asked again before `retryAfterSeconds` are over. */
  | 'DENIED'
  /**
   * The question went unanswered or was lost. The next `lastSimSwap` or `simSwappedWithin` puts a new one
   * to the owner; after `retryAfterSeconds`, where given.
   */
  | 'EXPIRED'
  /**
   * The owner is not being asked. The next `lastSimSwap` or `simSwappedWithin` puts a question to them,
   * which they may find on their phone; after `retryAfterSeconds`, where given.
   */
  | 'NOT_ASKED'
  /** This operator answers without asking the owner of the line. */
  | 'NOT_NEEDED'
  /**
   * The owner has been asked, or may have been, and has not answered. Without `expiresAt` it may be the
   * question of another caller, or of another purpose, which ends within ten minutes: ask again after
   * `retryAfterSeconds`, and give up after ten minutes.
   */
  | 'PENDING';

/** What is known of a window. */
export type SimSwapResult =
  /** The operator vouches that it did not. */
  | 'NOT_SWAPPED'
  /** The SIM card changed within the window: do not trust an SMS code. */
  | 'SWAPPED'
  /** Not known. Treat it as you would treat `SWAPPED`, never as `NOT_SWAPPED`. */
  | 'UNKNOWN';

/** Why a result is `UNKNOWN`: the codes of errors by the same names. */
export type SimSwapUnknownReason =
  /** Not looked up, because the audit log could not be written. The team that runs this service has to fix this. */
  | 'AUDIT_UNAVAILABLE'
  /** The owner declined. Use another way to authenticate. */
  | 'CONSENT_DENIED'
  /** The question to the owner went unanswered. The next ask puts a new one. */
  | 'CONSENT_EXPIRED'
  /** The owner of the number is being asked for consent. Ask again after `retryAfterSeconds`, until `expiresAt`. */
  | 'CONSENT_PENDING'
  /** The operator does not know this number or does not serve it. */
  | 'NUMBER_NOT_SERVED'
  /** The operator does not answer this kind of question. */
  | 'OPERATION_NOT_OFFERED'
  /** The operator sent a reply that cannot be trusted: for the team that runs this service to repair. */
  | 'OPERATOR_INVALID_REPLY'
  /** The operator asks us to slow down. */
  | 'OPERATOR_RATE_LIMITED'
  /** The operator refused our request: for the team that runs this service to repair. */
  | 'OPERATOR_REFUSED'
  /** The operator did not answer in time. */
  | 'OPERATOR_TIMEOUT'
  /** The operator is not available. */
  | 'OPERATOR_UNAVAILABLE'
  /** The operator cannot answer for a window this long. Ask for `maxAgeHours`, where given. */
  | 'PERIOD_NOT_SUPPORTED'
  /** The caller has asked as much as it may in an hour. */
  | 'RATE_LIMITED'
  /** The state that replicas share cannot be reached. Ask again after `retryAfterSeconds`. */
  | 'STATE_UNAVAILABLE'
  /** This service has too much to do. Ask again after `retryAfterSeconds`. */
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