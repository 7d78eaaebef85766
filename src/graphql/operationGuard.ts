import type { ApolloServerPlugin, GraphQLRequestListener } from '@apollo/server';
import { GraphQLError, type DocumentNode } from 'graphql';
import { WINDOW_MS } from '../caller/quotas/quotas.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { linesOf, MAX_LINES_COUNTED } from './documents.ts';
import { statusOfRefusal } from './reply.ts';
import {
  costOf,
  excessOf,
  mostOf,
  type OperationCost,
  type OperationLimits,
  type ReadOperations,
  badOperation,
  limitExceeded,
  severalForbidden,
} from './operationCost.ts';
import type { RequestContext } from './request.ts';

const WINDOW_S = WINDOW_MS / 1000;

/** Codes that decide a field before its lookup, so that no loader is called. */
const NEVER_LOOKED_UP: ReadonlySet<string> = new Set<ErrorCode>(['FORBIDDEN', 'BAD_USER_INPUT']);

/**
 * Refuses an operation that is not a query, has more numbers than its caller may query, or exceeds a limit, before its
 * first lookup. With the answers of an operation that queries numbers it returns what is left of the caller's quotas.
 */
export function boundOperations(limits: OperationLimits): ApolloServerPlugin<RequestContext> {
  const maxCost = mostOf(limits);
  const maxCostByDocument = new WeakMap<DocumentNode, OperationCost>();
  /** Each field of a number may fail, and name its line. */
  const maxCostOf = (document: DocumentNode): OperationCost => {
    let most = maxCostByDocument.get(document);
    if (most === undefined) {
      const lines = linesOf(document.loc?.source.body ?? '');
      most = {
        ...maxCost,
        answers: Math.min(maxCost.answers, Math.floor(MAX_LINES_COUNTED / lines)),
      };
      maxCostByDocument.set(document, most);
    }
    return most;
  };
  const readBefore: ReadOperations = new WeakMap();
  const listener: GraphQLRequestListener<RequestContext> = {
    async didResolveOperation({ schema, document, operation, request, contextValue }) {
      if (operation === undefined) return;
      contextValue.request.operation = operation.operation;
      // graphql-js would report this as a defect of ours.
      if (schema.getRootType(operation.operation) === undefined) {
        throw badOperation('This service answers queries only.');
      }
      const { ownNumber, missingBatchScope } = contextValue.request.rights;
      const { variables = {} } = request;
      const incoming = { schema, document, operation, variables, ownNumber };
      const most = maxCostOf(document);
      let cost: OperationCost | undefined;
      try {
        cost = costOf(incoming, most, readBefore);
      } catch (error) {
        // An error of graphql-js means that the operation's own values are invalid; every other error is a defect.
        throw error instanceof GraphQLError ? badOperation(error.message, error) : error;
      }
      if (cost === undefined) return;
      const accept = request.http?.headers.get('accept');
      if (missingBatchScope !== undefined && cost.numbers > 1) {
        throw severalForbidden(missingBatchScope, statusOfRefusal(accept, 403));
      }
      const excess = excessOf(cost, most);
      if (excess !== undefined) {
        throw limitExceeded(excess, { status: statusOfRefusal(accept, 400) });
      }
      contextValue.request.numbersQueried = cost.numbers;
    },

    async willSendResponse({ response, contextValue: { request } }) {
      if (response.body.kind !== 'single') return;
      const { singleResult } = response.body;
      for (const { extensions, path } of singleResult.errors ?? []) {
        const code = String(extensions?.['code']);
        request.countCode(code);
        if (extensions !== undefined) Object.assign(extensions, request.reference(code));
        if (path !== undefined && NEVER_LOOKED_UP.has(code)) request.countAnswer(code);
      }
      if (request.numbersQueried === 0 || request.caller.kind === 'anonymous') return;
      const quotas = await request.quotas();
      if (quotas.length === 0) return;
      // What this operation alone was counted: others of the caller share what is left.
      const counted = request.lookupsCounted;
      singleResult.extensions = {
        quotas: quotas.map((one) => (one.quota === 'lookups' ? { ...one, counted } : one)),
      };
      // RateLimit header fields for HTTP (IETF draft): lists of structured fields.
      const policies = quotas.map(({ quota, limit }) => `"${quota}";q=${limit};w=${WINDOW_S}`);
      const standings = quotas.map(({ quota, left, resetSeconds }) => {
        const standing = `"${quota}";r=${left};t=${resetSeconds}`;
        return quota === 'lookups' ? `${standing};counted=${counted}` : standing;
      });
      response.http.headers.set('ratelimit-policy', policies.join(', '));
      response.http.headers.set('ratelimit', standings.join(', '));
    },
  };
  return { requestDidStart: () => Promise.resolve(listener) };
}
