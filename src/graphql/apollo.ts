import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { ErrorCode } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import {
  maxDepthRule,
  MAX_DOCUMENT_DEPTH,
  MAX_VALIDATION_ERRORS,
  MAX_VARIABLE_ERRORS,
  PARSE_LIMITS,
} from './documentDepth.ts';
import { DocumentStore } from './documentStore.ts';
import { formatError } from './errors.ts';
import type { OperationLimits } from './operationCost.ts';
import { guardOperation } from './operationGuard.ts';
import type { RequestContext } from './request.ts';
import { createSchema, type Role } from './schema.ts';
import { WINDOW_MS } from '../caller/quotas/hourlyCounts.ts';
import type { QuotaStanding } from '../caller/quotas/quotas.ts';

export interface ApolloSettings {
  readonly role: Role;
  readonly production: boolean;
  readonly limits: OperationLimits;
}

/** A thousand documents of forty fields each. */
const DOCUMENT_STORE_BYTES = 32 * 1024 * 1024;

/** The GraphQL service of a role, with nothing of Apollo's that we do not use. */
export function createApolloServer(
  { role, production, limits }: ApolloSettings,
  log: Log,
): ApolloServer<RequestContext> {
  return new ApolloServer<RequestContext>({
    schema: createSchema(role),
    introspection: !production,
    hideSchemaDetailsFromClientErrors: production,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    stopOnTerminationSignals: false,
    persistedQueries: false,
    parseOptions: PARSE_LIMITS,
    validationOptions: { maxErrors: MAX_VALIDATION_ERRORS },
    executionOptions: { maxCoercionErrors: MAX_VARIABLE_ERRORS },
    documentStore: new DocumentStore(DOCUMENT_STORE_BYTES),
    validationRules: [maxDepthRule(MAX_DOCUMENT_DEPTH)],
    formatError: (formatted, error) => formatError(formatted, error, log),
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message: string) => log.warn(message),
      error: (message: string) => log.error(message),
    },
    plugins: [
      boundOperations(limits),
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
}

/** What a field comes to before it is looked up, so that no loader hears of it. */
const NEVER_ASKED: ReadonlySet<string> = new Set<ErrorCode>(['FORBIDDEN', 'BAD_USER_INPUT']);

/**
 * Refuses an operation that is no query, asks about more numbers than its caller may, or asks too much as
 * a whole, before its first lookup. Beside the answers of one that asks about numbers it tells what the caller has left of its quotas.
 */
function boundOperations(limits: OperationLimits): ApolloServerPlugin<RequestContext> {
  return {
    async requestDidStart() {
      let asksAboutNumbers = false;
      return {
        async didResolveOperation({ schema, document, operation, request, contextValue }) {
          if (operation === undefined) return;
          const guarded = {
            schema,
            document,
            operation,
            variables: request.variables ?? {},
            caller: contextValue.request.rights,
            accept: request.http?.headers.get('accept'),
          };
          asksAboutNumbers = guardOperation(guarded, limits) > 0;
        },
        async willSendResponse({ response, contextValue }) {
          if (response.body.kind !== 'single') return;
          for (const { extensions, path } of response.body.singleResult.errors ?? []) {
            const code = String(extensions?.['code']);
            contextValue.request.countCode(code);
            if (extensions !== undefined) {
              Object.assign(extensions, contextValue.request.reference(code));
            }
            if (path !== undefined && NEVER_ASKED.has(code)) contextValue.request.countAnswer(code);
          }
          if (!asksAboutNumbers) return;
          const quotas = await contextValue.request.quotas();
          if (quotas.length === 0) return;
          response.body.singleResult.extensions = { quotas };
          for (const [name, value] of rateLimitFields(quotas)) {
            response.http.headers.set(name, value);
          }
        },
      };
    },
  };
}

/**
 * What is left of a caller's quotas as header fields (RateLimit header fields for HTTP, IETF draft:
 * `RateLimit-Policy` and `RateLimit`, lists of structured fields). Pure.
 */
export function rateLimitFields(
  standings: readonly QuotaStanding[],
): readonly (readonly [string, string])[] {
  if (standings.length === 0) return [];
  const windowSeconds = WINDOW_MS / 1000;
  const policies = standings.map(({ quota, limit }) => `"${quota}";q=${limit};w=${windowSeconds}`);
  const left = standings.map(
    ({ quota, left: remaining, resetSeconds }) => `"${quota}";r=${remaining};t=${resetSeconds}`,
  );
  return [
    ['ratelimit-policy', policies.join(', ')],
    ['ratelimit', left.join(', ')],
  ];
}
