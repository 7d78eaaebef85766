import {
  ApolloClient,
  CombinedGraphQLErrors,
  HttpLink,
  InMemoryCache,
  ServerError,
  type OperationVariables,
  type TypedDocumentNode,
} from '@apollo/client';
import type { GraphQLFormattedError } from 'graphql';
import {
  ConsentsDocument,
  SimSwapsDocument,
  SimSwapWithConsentDocument,
} from '../../generated/graphql.ts';
import type { E164 } from '../model/phoneNumber.ts';
import { readQuotas, type Quota } from '../model/quotas.ts';
import type { Answer, WindowHours, Windows } from '../model/windows.ts';
import {
  codeOf,
  readConsents,
  readOneCheck,
  readSimSwaps,
  type ConsentReading,
  type Told,
} from './readAnswers.ts';

/** What came of one request. */
export type Reply<T> = Outcome<T> & {
  /** How many lookups the service counted for it; `null` where that is not known: no reply of the service's came. */
  readonly lookups: number | null;
};

type Outcome<T> =
  | { readonly kind: 'answered'; readonly told: T; readonly correlator: string }
  /** Nothing in it was answered. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly retryAfterSeconds: number | null;
      readonly correlator: string;
    }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'aborted' };

/** The operations of the desk; each ends when its signal does. */
export interface Questions {
  /** Prompts no owner. In the order of the numbers. */
  consents(e164s: readonly E164[], signal: AbortSignal): Promise<Reply<Told<ConsentReading>[]>>;
  /** In the order of the numbers. */
  simSwaps(e164s: readonly E164[], signal: AbortSignal): Promise<Reply<Told<Answer>[]>>;
  /** Prompts the owner, unless a prompt is open already. */
  withConsent(
    e164: E164,
    hours: WindowHours,
    known: Windows,
    signal: AbortSignal,
  ): Promise<Reply<Told<Answer>>>;
}

/** The caller, and the purpose. */
export interface QuestionSettings {
  /** Read at each request: a renewed session has another. */
  readonly csrfToken: () => string;
  /** Read at each request: the audit log has it with each lookup. */
  readonly purpose: () => string;
  readonly onQuotas: (quotas: readonly Quota[]) => void;
}

/** Questions by Apollo Client. Nothing is kept in its cache: an answer holds only for its moment. */
export function createQuestions({ csrfToken, purpose, onQuotas }: QuestionSettings): Questions {
  /** By the correlator of a request under way. */
  const lookupsCounted = new Map<string, number>();
  const client = new ApolloClient({
    link: new HttpLink({
      uri: '/graphql',
      fetch: async (input, init) => {
        const headers = new Headers(init?.headers);
        headers.set('x-csrf-token', csrfToken());
        headers.set('x-purpose', purpose());
        const response = await fetch(input, { ...init, headers });
        const quotas = readQuotas(
          response.headers.get('ratelimit'),
          response.headers.get('ratelimit-policy'),
          Date.now(),
        );
        if (quotas.length > 0) onQuotas(quotas);
        const counted = quotas.find(({ name }) => name === 'lookups')?.counted ?? null;
        if (counted !== null) lookupsCounted.set(headers.get('x-correlator') ?? '', counted);
        return response;
      },
    }),
    cache: new InMemoryCache(),
    queryDeduplication: false,
    // Devtools would show the numbers to every extension of the browser.
    devtools: { enabled: false },
  });

  async function ask<Data, Variables extends OperationVariables, T>(
    query: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    signal: AbortSignal,
    read: (data: Data, errors: readonly GraphQLFormattedError[]) => T | undefined,
  ): Promise<Reply<T>> {
    if (signal.aborted) return { kind: 'aborted', lookups: 0 };
    const correlator = newCorrelator();
    const outcome = await send(query, variables, signal, read, correlator);
    const lookups = lookupsCounted.get(correlator) ?? null;
    lookupsCounted.delete(correlator);
    return { ...outcome, lookups };
  }

  async function send<Data, Variables extends OperationVariables, T>(
    query: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    signal: AbortSignal,
    read: (data: Data, errors: readonly GraphQLFormattedError[]) => T | undefined,
    correlator: string,
  ): Promise<Outcome<T>> {
    try {
      const { data, error } = await client.query<Data>({
        query,
        variables,
        fetchPolicy: 'no-cache',
        // A field that is null has an error beside it that says why; both are wanted.
        errorPolicy: 'all',
        context: { fetchOptions: { signal }, headers: { 'x-correlator': correlator } },
      });
      if (signal.aborted) return { kind: 'aborted' };
      const errors = CombinedGraphQLErrors.is(error) ? error.errors : [];
      const told = data === undefined || data === null ? undefined : read(data, errors);
      return told === undefined
        ? failure(error, correlator)
        : { kind: 'answered', told, correlator };
    } catch (error) {
      return signal.aborted ? { kind: 'aborted' } : failure(error, correlator);
    }
  }

  return {
    consents: (e164s, signal) =>
      ask(ConsentsDocument, { e164s: [...e164s] }, signal, (data, errors) =>
        ofSameLength(e164s, readConsents(data, errors)),
      ),
    simSwaps: (e164s, signal) =>
      ask(SimSwapsDocument, { e164s: [...e164s] }, signal, (data, errors) =>
        ofSameLength(e164s, readSimSwaps(data, errors)),
      ),
    withConsent: (e164, hours, known, signal) =>
      ask(SimSwapWithConsentDocument, { e164, maxAgeHours: hours }, signal, (data, errors) =>
        readOneCheck(data, errors, hours, known),
      ),
  };
}

/** A reply about other numbers than were queried answers none. */
function ofSameLength<T>(e164s: readonly E164[], told: T[]): T[] | undefined {
  return told.length === e164s.length ? told : undefined;
}

const UNAUTHENTICATED_STATUS = 401;

function failure(error: unknown, correlator: string): Outcome<never> {
  if (ServerError.is(error)) {
    if (error.statusCode === UNAUTHENTICATED_STATUS) return { kind: 'signedOut' };
    const reason = codeInBody(error.bodyText) ?? 'UNAVAILABLE';
    const retryAfter = Number(error.response.headers.get('retry-after'));
    return {
      kind: 'failed',
      reason,
      retryAfterSeconds: retryAfter > 0 ? retryAfter : null,
      correlator,
    };
  }
  if (CombinedGraphQLErrors.is(error)) {
    const [first] = error.errors;
    const reason = first === undefined ? 'NO_ANSWER' : codeOf(first);
    if (reason === 'UNAUTHENTICATED') return { kind: 'signedOut' };
    const seconds = first?.extensions?.['retryAfterSeconds'];
    return {
      kind: 'failed',
      reason,
      retryAfterSeconds: typeof seconds === 'number' ? seconds : null,
      correlator,
    };
  }
  return {
    kind: 'failed',
    reason: error === undefined ? 'NO_ANSWER' : 'NO_CONNECTION',
    retryAfterSeconds: null,
    correlator,
  };
}

/** By which the log names a request. It begins with letters: digits could be taken for a phone number. */
function newCorrelator(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `desk${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function codeInBody(body: string): string | undefined {
  try {
    const { errors } = JSON.parse(body) as { errors?: readonly GraphQLFormattedError[] };
    const [first] = errors ?? [];
    return first === undefined ? undefined : codeOf(first);
  } catch {
    return undefined;
  }
}
