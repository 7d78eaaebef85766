import type { Instant } from '../../domain/instant.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { PhoneNumberEntity, RequestContext } from '../request.ts';
import type { ConsentStatus } from '../../domain/consentStatus.ts';
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
 * **Unknown is never `false`.** A field holds what the operator said, or `null` with an error beside it
 * whose `extensions.code` says why. `null` without an error means that the operator answered and may
 * not disclose more (see `lastSimSwap`).
 *
 * Codes that the fields of this type can carry:
 *
 * - `BAD_USER_INPUT`: an argument is out of its range.
 * - `FORBIDDEN`: the caller may ask about their own, verified number alone.
 * - `CONSENT_PENDING`: the owner of the number is being asked for consent. Ask again after
 *   `extensions.retryAfterSeconds`; `extensions.expiresAt` says until when that can help. It is absent
 *   where another caller has asked: then give up after ten minutes.
 * - `CONSENT_DENIED`, `CONSENT_EXPIRED`: the owner refused, or did not answer. `simSwapConsent` tells of
 *   all three as data, for clients that see no codes.
 * - `NUMBER_NOT_SERVED`: the operator does not know this number or does not serve it.
 * - `PERIOD_NOT_SUPPORTED`: the operator cannot answer for a period this long; ask for a shorter one.
 * - `OPERATION_NOT_OFFERED`: the operator does not answer this kind of question.
 * - `OPERATOR_RATE_LIMITED`, `OPERATOR_UNAVAILABLE`, `OPERATOR_TIMEOUT`: ask again later, after
 *   `extensions.retryAfterSeconds` where it is given.
 * - `OPERATOR_REFUSED`, `OPERATOR_INVALID_REPLY`: for the team that runs this service to repair.
 * - `RATE_LIMITED`: the caller has asked as much as it may in an hour; ask again after
 *   `extensions.retryAfterSeconds`.
 * - `AUDIT_UNAVAILABLE`: nothing was asked, as the audit log could not be written.
 * - `STATE_UNAVAILABLE`: the state that replicas share cannot be reached; ask again after
 *   `extensions.retryAfterSeconds`.
 * - `UNAVAILABLE`: this service has too much to do; ask again after `extensions.retryAfterSeconds`.
 * - `INTERNAL_SERVER_ERROR`: a defect of this service.
 *
 * `LOOKUP_LIMIT_EXCEEDED` refuses a whole operation, before anything is looked up: it asks for more than one
 * operation may. `extensions` says for more of what (`limited`), how much may be asked for (`limit`) and how
 * much was (`asked`).
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
   * no swap; ask `simSwappedWithin`, which may still be answered.
   */
  lastSimSwap?: Maybe<Scalars['DateTime']['output']>;
  /**
   * Whether the SIM card of this number changed within the last `maxAgeHours` hours.
   *
   * `true`: it did, so don't trust an SMS code. `false`: the operator vouches that it did not. `null`:
   * not known, and an error says why; treat it as you would treat `true`, never as `false`.
   */
  simSwappedWithin?: Maybe<Scalars['Boolean']['output']>;
  /**
   * The answer to `simSwappedWithin` with the same window, as data: for clients that do not read `errors`, and
   * for subgraphs that `@requires` it. Asked together, the two cost one lookup and never disagree.
   *
   * `null` only with an error: `BAD_USER_INPUT`, `FORBIDDEN`, or a defect of this service. Every other code is a
   * `reason`. Treat `null` as `UNKNOWN`.
   */
  simSwapCheck?: Maybe<SimSwapCheck>;
  /**
   * How the consent of this line's owner stands, as data, for clients that see no error codes. Reading it
   * asks neither the operator nor the owner. Where the operator wants consent, it counts as a number that
   * the caller asks about, and is audited. Beside `lastSimSwap`, `simSwappedWithin` or `simSwapCheck` in
   * one operation it is read after them, and so says why they are `null` or `UNKNOWN`.
   *
   * `null` when it cannot be told at the moment: ask again in a second.
   */
  simSwapConsent?: Maybe<SimSwapConsent>;
};


/**
 * A mobile phone number and what its operator knows about SIM swaps: the moments at which the number
 * was moved to another SIM card. A fresh swap is a reason not to trust an SMS code.
 *
 * **Unknown is never `false`.** A field holds what the operator said, or `null` with an error beside it
 * whose `extensions.code` says why. `null` without an error means that the operator answered and may
 * not disclose more (see `lastSimSwap`).
 *
 * Codes that the fields of this type can carry:
 *
 * - `BAD_USER_INPUT`: an argument is out of its range.
 * - `FORBIDDEN`: the caller may ask about their own, verified number alone.
 * - `CONSENT_PENDING`: the owner of the number is being asked for consent. Ask again after
 *   `extensions.retryAfterSeconds`; `extensions.expiresAt` says until when that can help. It is absent
 *   where another caller has asked: then give up after ten minutes.
 * - `CONSENT_DENIED`, `CONSENT_EXPIRED`: the owner refused, or did not answer. `simSwapConsent` tells of
 *   all three as data, for clients that see no codes.
 * - `NUMBER_NOT_SERVED`: the operator does not know this number or does not serve it.
 * - `PERIOD_NOT_SUPPORTED`: the operator cannot answer for a period this long; ask for a shorter one.
 * - `OPERATION_NOT_OFFERED`: the operator does not answer this kind of question.
 * - `OPERATOR_RATE_LIMITED`, `OPERATOR_UNAVAILABLE`, `OPERATOR_TIMEOUT`: ask again later, after
 *   `extensions.retryAfterSeconds` where it is given.
 * - `OPERATOR_REFUSED`, `OPERATOR_INVALID_REPLY`: for the team that runs this service to repair.
 * - `RATE_LIMITED`: the caller has asked as much as it may in an hour; ask again after
 *   `extensions.retryAfterSeconds`.
 * - `AUDIT_UNAVAILABLE`: nothing was asked, as the audit log could not be written.
 * - `STATE_UNAVAILABLE`: the state that replicas share cannot be reached; ask again after
 *   `extensions.retryAfterSeconds`.
 * - `UNAVAILABLE`: this service has too much to do; ask again after `extensions.retryAfterSeconds`.
 * - `INTERNAL_SERVER_ERROR`: a defect of this service.
 *
 * `LOOKUP_LIMIT_EXCEEDED` refuses a whole operation, before anything is looked up: it asks for more than one
 * operation may. `extensions` says for more of what (`limited`), how much may be asked for (`limit`) and how
 * much was (`asked`).
 */
export type PhoneNumberSimSwappedWithinArgs = {
  maxAgeHours?: Scalars['Int']['input'];
};


/**
 * A mobile phone number and what its operator knows about SIM swaps: the moments at which the number
 * was moved to another SIM card. A fresh swap is a reason not to trust an SMS code.
 *
 * **Unknown is never `false`.** A field holds what the operator said, or `null` with an error beside it
 * whose `extensions.code` says why. `null` without an error means that the operator answered and may
 * not disclose more (see `lastSimSwap`).
 *
 * Codes that the fields of this type can carry:
 *
 * - `BAD_USER_INPUT`: an argument is out of its range.
 * - `FORBIDDEN`: the caller may ask about their own, verified number alone.
 * - `CONSENT_PENDING`: the owner of the number is being asked for consent. Ask again after
 *   `extensions.retryAfterSeconds`; `extensions.expiresAt` says until when that can help. It is absent
 *   where another caller has asked: then give up after ten minutes.
 * - `CONSENT_DENIED`, `CONSENT_EXPIRED`: the owner refused, or did not answer. `simSwapConsent` tells of
 *   all three as data, for clients that see no codes.
 * - `NUMBER_NOT_SERVED`: the operator does not know this number or does not serve it.
 * - `PERIOD_NOT_SUPPORTED`: the operator cannot answer for a period this long; ask for a shorter one.
 * - `OPERATION_NOT_OFFERED`: the operator does not answer this kind of question.
 * - `OPERATOR_RATE_LIMITED`, `OPERATOR_UNAVAILABLE`, `OPERATOR_TIMEOUT`: ask again later, after
 *   `extensions.retryAfterSeconds` where it is given.
 * - `OPERATOR_REFUSED`, `OPERATOR_INVALID_REPLY`: for the team that runs this service to repair.
 * - `RATE_LIMITED`: the caller has asked as much as it may in an hour; ask again after
 *   `extensions.retryAfterSeconds`.
 * - `AUDIT_UNAVAILABLE`: nothing was asked, as the audit log could not be written.
 * - `STATE_UNAVAILABLE`: the state that replicas share cannot be reached; ask again after
 *   `extensions.retryAfterSeconds`.
 * - `UNAVAILABLE`: this service has too much to do; ask again after `extensions.retryAfterSeconds`.
 * - `INTERNAL_SERVER_ERROR`: a defect of this service.
 *
 * `LOOKUP_LIMIT_EXCEEDED` refuses a whole operation, before anything is looked up: it asks for more than one
 * operation may. `extensions` says for more of what (`limited`), how much may be asked for (`limit`) and how
 * much was (`asked`).
 */
export type PhoneNumberSimSwapCheckArgs = {
  maxAgeHours?: Scalars['Int']['input'];
};

/**
 * Whether the SIM card of a number changed within a window, and how old that answer is.
 *
 * Only `NOT_SWAPPED` is good. An answer holds for the moment at `asOf`; do not keep it, and least of all
 * `UNKNOWN`: in a normalized cache it would answer for the next one.
 */
export type SimSwapCheck = {
  __typename?: 'SimSwapCheck';
  /** Whether the SIM changed within the window, or that this is not known. */
  result: SimSwapResult;
  /**
   * The window that `result` is about, in hours: `maxAgeHours` as it was asked. A subgraph that `@requires` a
   * check compares it with its own: gateways confuse two windows that one operation asks for.
   */
  windowHours: Scalars['Int']['output'];
  /**
   * Why the result is `UNKNOWN`; `null` otherwise. Reasons are added in time: treat one that you do not know
   * like `null`, and the result as `UNKNOWN`.
   */
  reason?: Maybe<SimSwapUnknownReason>;
  /** In how many seconds asking again can bring something new. `null` where that is not known, or does not help. */
  retryAfterSeconds?: Maybe<Scalars['Int']['output']>;
  /** When the question to the owner ends at the latest, with the reason `CONSENT_PENDING`; `null` otherwise. */
  expiresAt?: Maybe<Scalars['DateTime']['output']>;
  /**
   * The longest window that can be asked for, with the reason `PERIOD_NOT_SUPPORTED`; `null` where that is not
   * known, and otherwise.
   */
  maxAgeHours?: Maybe<Scalars['Int']['output']>;
  /** When the operator was asked for what this answer rests on; `null` when the result is `UNKNOWN`. */
  asOf?: Maybe<Scalars['DateTime']['output']>;
};

/** What is known of a window. */
export type SimSwapResult =
  /** The SIM card changed within the window: do not trust an SMS code. */
  | 'SWAPPED'
  /** The operator vouches that it did not. */
  | 'NOT_SWAPPED'
  /** Not known. Treat it as you would treat `SWAPPED`, never as `NOT_SWAPPED`. */
  | 'UNKNOWN';

/** Why a result is `UNKNOWN`: the codes of errors by the same names. */
export type SimSwapUnknownReason =
  /** The owner of the number is being asked for consent. Ask again after `retryAfterSeconds`, until `expiresAt`. */
  | 'CONSENT_PENDING'
  /** The owner declined. Use another way to authenticate. */
  | 'CONSENT_DENIED'
  /** The question to the owner went unanswered. The next ask puts a new one. */
  | 'CONSENT_EXPIRED'
  /** The operator does not know this number or does not serve it. */
  | 'NUMBER_NOT_SERVED'
  /** The operator cannot answer for a window this long. Ask for `maxAgeHours`, where given. */
  | 'PERIOD_NOT_SUPPORTED'
  /** The operator does not answer this kind of question. */
  | 'OPERATION_NOT_OFFERED'
  /** The operator asks us to slow down. */
  | 'OPERATOR_RATE_LIMITED'
  /** The operator is not available. */
  | 'OPERATOR_UNAVAILABLE'
  /** The operator did not answer in time. */
  | 'OPERATOR_TIMEOUT'
  /** The operator refused our request: for the team that runs this service to repair. */
  | 'OPERATOR_REFUSED'
  /** The operator sent a reply that cannot be trusted: for the team that runs this service to repair. */
  | 'OPERATOR_INVALID_REPLY'
  /** The caller has asked as much as it may in an hour. */
  | 'RATE_LIMITED'
  /** Not looked up, because the audit log could not be written. The team that runs this service has to fix this. */
  | 'AUDIT_UNAVAILABLE'
  /** The state that replicas share cannot be reached. Ask again after `retryAfterSeconds`. */
  | 'STATE_UNAVAILABLE'
  /** This service has too much to do. Ask again after `retryAfterSeconds`. */
  | 'UNAVAILABLE';

/**
 * The consent of a line's owner to questions about its SIM.
 *
 * An app asks for `simSwappedWithin` and `simSwapConsent` together. While the state is PENDING it shows
 * that the owner has a question on their phone, waits `retryAfterSeconds` and sends the same operation
 * again, until `expiresAt` at the latest. That never prompts the owner a second time.
 */
export type SimSwapConsent = {
  __typename?: 'SimSwapConsent';
  /** How far asking the owner has come, or what it came to. */
  state: SimSwapConsentState;
  /** In how many seconds asking again can bring something new. `null` where that is now, or not known. */
  retryAfterSeconds?: Maybe<Scalars['Int']['output']>;
  /**
   * When a pending question to the owner ends at the latest: then stop asking. `null` unless the state is
   * PENDING, and for a question that another caller has put.
   */
  expiresAt?: Maybe<Scalars['DateTime']['output']>;
};

/** How far asking the owner of a line has come. */
export type SimSwapConsentState =
  /** This operator answers without asking the owner of the line. */
  | 'NOT_NEEDED'
  /**
   * The owner is not being asked. The next `lastSimSwap` or `simSwappedWithin` puts a question to them,
   * which they may find on their phone; after `retryAfterSeconds`, where given.
   */
  | 'NOT_ASKED'
  /**
   * The owner has been asked, or may have been, and has not answered. Without `expiresAt` it may be the
   * question of another caller, or of another purpose, which ends within ten minutes: ask again after
   * `retryAfterSeconds`, and give up after ten minutes.
   */
  | 'PENDING'
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
  | 'EXPIRED';

/** The way in for a front end that asks this service without a router (`ROLE=bff`). */
export type Query = {
  __typename?: 'Query';
  /** One phone number. `null` with a `BAD_USER_INPUT` error when the text is no international number. */
  phoneNumber?: Maybe<PhoneNumber>;
  /**
   * Several phone numbers: one entry for each of `e164s`, in the same order. An entry that is no
   * international number is `null` with a `BAD_USER_INPUT` error of its own; the others are answered.
   */
  phoneNumbers: Array<Maybe<PhoneNumber>>;
  /**
   * The caller's own number, as the access token names it (`phone_number` beside `phone_number_verified`).
   * `null` with a `FORBIDDEN` error when it names none.
   */
  myPhoneNumber?: Maybe<PhoneNumber>;
};


/** The way in for a front end that asks this service without a router (`ROLE=bff`). */
export type QueryPhoneNumberArgs = {
  e164: Scalars['ID']['input'];
};


/** The way in for a front end that asks this service without a router (`ROLE=bff`). */
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

