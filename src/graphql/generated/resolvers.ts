import type { Instant } from '../../domain/instant.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { PhoneNumberEntity, RequestContext } from '../request.ts';
import type { ConsentStatus } from '../../domain/fields.ts';
export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /**
   * A date and time with its zone, as RFC 3339 writes it: `2026-03-14T09:26:53Z` or
   * `2026-03-14T10:26:53.589+01:00`. Zone and precision are the operator's.
   */
  DateTime: { input: Instant; output: Instant; }
  _FieldSet: { input: string; output: string; }
};

/**
 * A mobile phone number and what its operator knows about SIM swaps: the moments at which the number
 * was moved to another SIM card. A fresh swap is a reason not to trust an SMS code.
 *
 * **Unknown is never `false`.** A field is what the operator said, or `null` with an error whose
 * `extensions.code` says why. `null` without an error means that the operator may not disclose more (see
 * `lastSimSwap`).
 *
 * Each code, and what to do about it: docs/errors.md of the project, to which `extensions.docs` links where the
 * service has a `DOCS_URL`. Codes may be added: treat one that you do not know as "not known".
 */
export type PhoneNumber = {
  __typename?: 'PhoneNumber';
  /**
   * The number in E.164 form: `+`, country code and subscriber number without spaces, for example
   * `+447700900001`.
   */
  e164: Scalars['ID']['output'];
  /**
   * When the SIM card of this number last changed. For a line that never had a swap, operators give
   * the moment at which its SIM was activated.
   *
   * `null` without an error: the operator may not disclose the date. It does not mean that there was
   * no swap; query `simSwappedWithin`, which may still have an answer.
   */
  lastSimSwap?: Maybe<Scalars['DateTime']['output']>;
  /**
   * Whether the SIM card of this number changed within the last `maxAgeHours` hours.
   *
   * `true`: it did, so don't trust an SMS code. `false`: the operator vouches that it did not. `null`:
   * not known, and an error says why; treat it like `true`, never like `false`.
   */
  simSwappedWithin?: Maybe<Scalars['Boolean']['output']>;
  /**
   * The answer to `simSwappedWithin` with the same window, as data: for clients that do not read `errors`, and
   * for subgraphs that `@requires` it. In one operation the two cost one lookup and never disagree.
   *
   * `null` only with an error: `BAD_USER_INPUT`, `FORBIDDEN`, or a defect of this service. Every other code is a
   * `reason`. Treat `null` as `UNKNOWN`.
   */
  simSwapCheck?: Maybe<SimSwapCheck>;
  /**
   * The state of the owner's consent, as data, for clients that do not see error codes. Reading it never
   * calls the operator or prompts the owner. Where the operator requires consent, it counts in the
   * caller's quota and is audited. In one operation with `lastSimSwap`, `simSwappedWithin` or
   * `simSwapCheck` it is read after them, and says why they are `null` or `UNKNOWN`.
   *
   * `null` when it is not known at the moment: retry in a second.
   */
  simSwapConsent?: Maybe<SimSwapConsent>;
};


/**
 * A mobile phone number and what its operator knows about SIM swaps: the moments at which the number
 * was moved to another SIM card. A fresh swap is a reason not to trust an SMS code.
 *
 * **Unknown is never `false`.** A field is what the operator said, or `null` with an error whose
 * `extensions.code` says why. `null` without an error means that the operator may not disclose more (see
 * `lastSimSwap`).
 *
 * Each code, and what to do about it: docs/errors.md of the project, to which `extensions.docs` links where the
 * service has a `DOCS_URL`. Codes may be added: treat one that you do not know as "not known".
 */
export type PhoneNumberSimSwappedWithinArgs = {
  maxAgeHours?: Scalars['Int']['input'];
};


/**
 * A mobile phone number and what its operator knows about SIM swaps: the moments at which the number
 * was moved to another SIM card. A fresh swap is a reason not to trust an SMS code.
 *
 * **Unknown is never `false`.** A field is what the operator said, or `null` with an error whose
 * `extensions.code` says why. `null` without an error means that the operator may not disclose more (see
 * `lastSimSwap`).
 *
 * Each code, and what to do about it: docs/errors.md of the project, to which `extensions.docs` links where the
 * service has a `DOCS_URL`. Codes may be added: treat one that you do not know as "not known".
 */
export type PhoneNumberSimSwapCheckArgs = {
  maxAgeHours?: Scalars['Int']['input'];
};

/**
 * Whether the SIM card of a number changed within a window, and how old that answer is.
 *
 * Only `NOT_SWAPPED` is good. An answer is true at `asOf`; do not cache it, least of all `UNKNOWN`, which would
 * hide the next answer in a normalized cache.
 */
export type SimSwapCheck = {
  __typename?: 'SimSwapCheck';
  /** Whether the SIM changed within the window, if known. */
  result: SimSwapResult;
  /**
   * The window that `result` is about, in hours: the `maxAgeHours` of this check. A subgraph that `@requires` a
   * check compares it with its own: gateways confuse two windows of one operation.
   */
  windowHours: Scalars['Int']['output'];
  /**
   * Why the result is `UNKNOWN`; `null` otherwise. Reasons may be added: treat one that you do not know
   * like `null`, and the result as `UNKNOWN`.
   */
  reason?: Maybe<SimSwapUnknownReason>;
  /** After how many seconds a retry can help. `null` where that is not known, or a retry does not help. */
  retryAfterSeconds?: Maybe<Scalars['Int']['output']>;
  /** When the prompt expires at the latest, with the reason `CONSENT_PENDING`; `null` otherwise. */
  expiresAt?: Maybe<Scalars['DateTime']['output']>;
  /** The longest window that the operator answers, with the reason `PERIOD_NOT_SUPPORTED`, if known; `null` otherwise. */
  maxAgeHours?: Maybe<Scalars['Int']['output']>;
  /** When the operator was queried for this answer; `null` when the result is `UNKNOWN`. */
  asOf?: Maybe<Scalars['DateTime']['output']>;
};

/** What is known about a window. */
export type SimSwapResult =
  /** The SIM card changed within the window: do not trust an SMS code. */
  | 'SWAPPED'
  /** The operator vouches that it did not. */
  | 'NOT_SWAPPED'
  /** Not known. Treat it like `SWAPPED`, never like `NOT_SWAPPED`. */
  | 'UNKNOWN';

/** Why a result is `UNKNOWN`: the error codes of the same names. */
export type SimSwapUnknownReason =
  /** The owner of the number has not responded yet. Retry after `retryAfterSeconds`, until `expiresAt`. */
  | 'CONSENT_PENDING'
  /** The owner declined. Use another way to authenticate. */
  | 'CONSENT_DENIED'
  /** The owner did not respond in time. The next query sends a new prompt. */
  | 'CONSENT_EXPIRED'
  /** The operator does not know this number or does not serve it. */
  | 'NUMBER_NOT_SERVED'
  /** The operator cannot answer for a window this long. Query `maxAgeHours`, if given. */
  | 'PERIOD_NOT_SUPPORTED'
  /** The operator does not offer this check. */
  | 'OPERATION_NOT_OFFERED'
  /** Rate-limited by the operator. */
  | 'OPERATOR_RATE_LIMITED'
  /** The operator is not available. */
  | 'OPERATOR_UNAVAILABLE'
  /** The operator did not answer in time. */
  | 'OPERATOR_TIMEOUT'
  /** The operator refused our request. The team that runs this service has to fix this. */
  | 'OPERATOR_REFUSED'
  /** The operator sent a reply that cannot be trusted. The team that runs this service has to fix this. */
  | 'OPERATOR_INVALID_REPLY'
  /** The caller's quota is used up. */
  | 'RATE_LIMITED'
  /** Not looked up, because the audit log could not be written. The team that runs this service has to fix this. */
  | 'AUDIT_UNAVAILABLE'
  /** The store of consents cannot be reached. Retry after `retryAfterSeconds`. */
  | 'STATE_UNAVAILABLE'
  /** This service is overloaded. Retry after `retryAfterSeconds`. */
  | 'UNAVAILABLE';

/**
 * The owner's consent to checks of their SIM.
 *
 * An app queries `simSwappedWithin` and `simSwapConsent` together. While the state is PENDING it shows that
 * the owner has a prompt on their phone, waits `retryAfterSeconds` and sends the same operation again, until
 * `expiresAt` at the latest. That never prompts the owner a second time.
 */
export type SimSwapConsent = {
  __typename?: 'SimSwapConsent';
  /** The state of the consent. */
  state: SimSwapConsentState;
  /** After how many seconds a retry can help. `null` where that is now, or not known. */
  retryAfterSeconds?: Maybe<Scalars['Int']['output']>;
  /**
   * When the pending prompt expires at the latest: then stop retrying. `null` unless the state is PENDING,
   * and for another caller's prompt.
   */
  expiresAt?: Maybe<Scalars['DateTime']['output']>;
};

/** The state of the owner's consent. */
export type SimSwapConsentState =
  /** This operator answers without the owner's consent. */
  | 'NOT_NEEDED'
  /**
   * The owner has not been prompted. The next `lastSimSwap` or `simSwappedWithin` prompts them, after
   * `retryAfterSeconds` if given.
   */
  | 'NOT_ASKED'
  /**
   * The owner has been prompted, or may have been, and has not responded. Retry after `retryAfterSeconds`.
   * Without `expiresAt` it may be the prompt of another caller or purpose: give up after ten minutes.
   */
  | 'PENDING'
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
  | 'EXPIRED';

/** For front ends that query this service without a router (`ROLE=bff`). */
export type Query = {
  __typename?: 'Query';
  /** One phone number. `null` with a `BAD_USER_INPUT` error when the text is not an international number. */
  phoneNumber?: Maybe<PhoneNumber>;
  /**
   * Several phone numbers: one entry for each of `e164s`, in the same order. An entry that is not
   * an international number is `null` with a `BAD_USER_INPUT` error of its own; the others are answered.
   */
  phoneNumbers: Array<Maybe<PhoneNumber>>;
  /**
   * The caller's own number, from the access token (`phone_number` with `phone_number_verified`). `null` with a
   * `FORBIDDEN` error when it has none.
   */
  myPhoneNumber?: Maybe<PhoneNumber>;
};


/** For front ends that query this service without a router (`ROLE=bff`). */
export type QueryPhoneNumberArgs = {
  e164: Scalars['ID']['input'];
};


/** For front ends that query this service without a router (`ROLE=bff`). */
export type QueryPhoneNumbersArgs = {
  e164s: Array<Scalars['ID']['input']>;
};



export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ReferenceResolver<TResult, TReference, TContext> = (
      reference: TReference,
      context: TContext,
      info: GraphQLResolveInfo
    ) => Promise<TResult> | TResult;

      type ScalarCheck<T, S> = S extends true ? T : NullableCheck<T, S>;
      type NullableCheck<T, S> = Maybe<T> extends T ? Maybe<ListCheck<NonNullable<T>, S>> : ListCheck<T, S>;
      type ListCheck<T, S> = T extends (infer U)[] ? NullableCheck<U, S>[] : GraphQLRecursivePick<T, S>;
      export type GraphQLRecursivePick<T, S> = { [K in keyof T & keyof S]: ScalarCheck<T[K], S[K]> };
    

export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

/** Mapping of federation types */
export type FederationTypes = {
  PhoneNumber: PhoneNumber;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  PhoneNumber:
    ( { __typename: 'PhoneNumber' }
    & GraphQLRecursivePick<FederationTypes['PhoneNumber'], {"e164":true}> );
};



/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  PhoneNumber: ResolverTypeWrapper<PhoneNumberEntity>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  SimSwapCheck: ResolverTypeWrapper<SimSwapCheck>;
  SimSwapResult: SimSwapResult;
  SimSwapUnknownReason: SimSwapUnknownReason;
  SimSwapConsent: ResolverTypeWrapper<ConsentStatus>;
  SimSwapConsentState: SimSwapConsentState;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  PhoneNumber: PhoneNumberEntity;
  ID: Scalars['ID']['output'];
  Boolean: Scalars['Boolean']['output'];
  Int: Scalars['Int']['output'];
  SimSwapCheck: SimSwapCheck;
  SimSwapConsent: ConsentStatus;
  DateTime: Scalars['DateTime']['output'];
  Query: Record<PropertyKey, never>;
  String: Scalars['String']['output'];
};

export type PhoneNumberResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PhoneNumber'] = ResolversParentTypes['PhoneNumber'], FederationReferenceType extends FederationReferenceTypes['PhoneNumber'] = FederationReferenceTypes['PhoneNumber']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['PhoneNumber']> | FederationReferenceType, FederationReferenceType, ContextType>;
  e164?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  lastSimSwap?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  simSwappedWithin?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType, RequireFields<PhoneNumberSimSwappedWithinArgs, 'maxAgeHours'>>;
  simSwapCheck?: Resolver<Maybe<ResolversTypes['SimSwapCheck']>, ParentType, ContextType, RequireFields<PhoneNumberSimSwapCheckArgs, 'maxAgeHours'>>;
  simSwapConsent?: Resolver<Maybe<ResolversTypes['SimSwapConsent']>, ParentType, ContextType>;
};

export type SimSwapCheckResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['SimSwapCheck'] = ResolversParentTypes['SimSwapCheck']> = {
  result?: Resolver<ResolversTypes['SimSwapResult'], ParentType, ContextType>;
  windowHours?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  reason?: Resolver<Maybe<ResolversTypes['SimSwapUnknownReason']>, ParentType, ContextType>;
  retryAfterSeconds?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  expiresAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  maxAgeHours?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  asOf?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type SimSwapConsentResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['SimSwapConsent'] = ResolversParentTypes['SimSwapConsent']> = {
  state?: Resolver<ResolversTypes['SimSwapConsentState'], ParentType, ContextType>;
  retryAfterSeconds?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  expiresAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type QueryResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  phoneNumber?: Resolver<Maybe<ResolversTypes['PhoneNumber']>, ParentType, ContextType, RequireFields<QueryPhoneNumberArgs, 'e164'>>;
  phoneNumbers?: Resolver<Array<Maybe<ResolversTypes['PhoneNumber']>>, ParentType, ContextType, RequireFields<QueryPhoneNumbersArgs, 'e164s'>>;
  myPhoneNumber?: Resolver<Maybe<ResolversTypes['PhoneNumber']>, ParentType, ContextType>;
};

export type Resolvers<ContextType = RequestContext> = {
  PhoneNumber?: PhoneNumberResolvers<ContextType>;
  SimSwapCheck?: SimSwapCheckResolvers<ContextType>;
  SimSwapConsent?: SimSwapConsentResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  Query?: QueryResolvers<ContextType>;
};

