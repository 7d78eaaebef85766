import type { Instant } from '../../domain/instant.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { PhoneNumberEntity } from '../phoneNumberEntity.ts';
import type { RequestContext } from '../../context.ts';
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
  /** A point in time in RFC 3339 with a zone, such as `2026-03-01T09:30:00Z`, as the mobile operator gave it. */
  DateTime: { input: Instant; output: Instant; }
  _FieldSet: { input: string; output: string; }
};

/**
 * A mobile line, and what its operator knows of its SIM.
 *
 * An answer is what the operator said, or follows from it. Where there is no answer the field is `null`
 * and an error with the same `path` says why in `extensions.code`: **unknown is never `false`**.
 *
 * All questions about one number in one operation are planned together: asking for several windows, or for
 * the date as well, usually costs no more than asking one.
 */
export type PhoneNumber = {
  __typename?: 'PhoneNumber';
  /** The number in E.164 form: `+` and digits only, such as `+447700900001`. */
  e164: Scalars['ID']['output'];
  /**
   * When the SIM of this line last changed. For a line whose SIM never changed, most operators give the time
   * of its activation instead.
   *
   * `null` without an error means that the operator may not disclose the date. It does **not** mean that
   * the SIM never changed: ask `simSwappedWithin`.
   */
  lastSimSwap?: Maybe<Scalars['DateTime']['output']>;
  /**
   * Whether the SIM of this line changed in the last so many hours. Do not send a secret by SMS to a line
   * whose SIM changed lately, nor to one for which the answer is `null`.
   *
   * `null` always comes with an error whose code says why, for example CONSENT_PENDING,
   * NUMBER_NOT_SERVED or OPERATOR_UNAVAILABLE. Where waiting helps, `extensions.retryAfterSeconds` says how
   * long. `null` is not `false`.
   */
  simSwappedWithin?: Maybe<Scalars['Boolean']['output']>;
};


/**
 * A mobile line, and what its operator knows of its SIM.
 *
 * An answer is what the operator said, or follows from it. Where there is no answer the field is `null`
 * and an error with the same `path` says why in `extensions.code`: **unknown is never `false`**.
 *
 * All questions about one number in one operation are planned together: asking for several windows, or for
 * the date as well, usually costs no more than asking one.
 */
export type PhoneNumberSimSwappedWithinArgs = {
  maxAgeHours?: Scalars['Int']['input'];
};

export type Query = {
  __typename?: 'Query';
  /** One phone number. `null` with BAD_USER_INPUT when it is none. */
  phoneNumber?: Maybe<PhoneNumber>;
  /**
   * Several phone numbers, answered in the order in which they were asked. A bad one is `null` with one
   * BAD_USER_INPUT; the others are answered.
   */
  phoneNumbers: Array<Maybe<PhoneNumber>>;
};


export type QueryPhoneNumberArgs = {
  e164: Scalars['ID']['input'];
};


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
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  PhoneNumber: ResolverTypeWrapper<PhoneNumberEntity>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  DateTime: Scalars['DateTime']['output'];
  PhoneNumber: PhoneNumberEntity;
  ID: Scalars['ID']['output'];
  Boolean: Scalars['Boolean']['output'];
  Int: Scalars['Int']['output'];
  Query: Record<PropertyKey, never>;
  String: Scalars['String']['output'];
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type PhoneNumberResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PhoneNumber'] = ResolversParentTypes['PhoneNumber'], FederationReferenceType extends FederationReferenceTypes['PhoneNumber'] = FederationReferenceTypes['PhoneNumber']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['PhoneNumber']> | FederationReferenceType, FederationReferenceType, ContextType>;
  e164?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  lastSimSwap?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  simSwappedWithin?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType, RequireFields<PhoneNumberSimSwappedWithinArgs, 'maxAgeHours'>>;
};

export type QueryResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  phoneNumber?: Resolver<Maybe<ResolversTypes['PhoneNumber']>, ParentType, ContextType, RequireFields<QueryPhoneNumberArgs, 'e164'>>;
  phoneNumbers?: Resolver<Array<Maybe<ResolversTypes['PhoneNumber']>>, ParentType, ContextType, RequireFields<QueryPhoneNumbersArgs, 'e164s'>>;
};

export type Resolvers<ContextType = RequestContext> = {
  DateTime?: GraphQLScalarType;
  PhoneNumber?: PhoneNumberResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
};

