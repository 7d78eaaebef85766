import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { InMemoryLRUCache } from '@apollo/utils.keyvaluecache';
import type { DocumentNode } from 'graphql';
import type { Log } from '../log/log.ts';
import {
  depthRule,
  documentBytes,
  MAX_VALIDATION_ERRORS,
  MAX_VARIABLE_ERRORS,
  PARSE_LIMITS,
} from './documents.ts';
import { formatError } from './errors.ts';
import type { OperationLimits } from './operationCost.ts';
import { boundOperations } from './operationGuard.ts';
import type { RequestContext } from './request.ts';
import { createSchema, type Role } from './schema.ts';

export interface ApolloSettings {
  readonly role: Role;
  readonly production: boolean;
  readonly limits: OperationLimits;
}

/** A thousand documents of forty fields each. */
const MAX_DOCUMENTS_BYTES = 32 * 1024 * 1024;

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
    documentStore: new InMemoryLRUCache<DocumentNode>({
      maxSize: MAX_DOCUMENTS_BYTES,
      sizeCalculation: documentBytes,
    }),
    validationRules: [depthRule],
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
