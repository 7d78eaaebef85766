import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { InMemoryLRUCache, PrefixingKeyValueCache } from '@apollo/utils.keyvaluecache';
import type { DocumentNode } from 'graphql';
import type { Log } from '../log/log.ts';
import {
  depthRule,
  documentBytes,
  MAX_VALIDATION_ERRORS,
  MAX_VARIABLE_ERRORS,
  PARSE_LIMITS,
  schemaAliasRule,
} from './documents.ts';
import { formatError } from './errors.ts';
import { isMembers, type Members } from './operation.ts';
import type { OperationLimits } from './operationCost.ts';
import { boundOperations } from './operationGuard.ts';
import type { RequestContext } from './request.ts';
import { createSchema } from './schema.ts';
import type { Role } from './typeDefs.ts';

export interface ApolloSettings {
  readonly role: Role;
  readonly production: boolean;
  readonly limits: OperationLimits;
  readonly load: { readonly storeBytes: number };
}

/** Enough for a thousand documents of forty fields each. */
const MAX_DOCUMENTS_BYTES = 32 * 1024 * 1024;

/** The GraphQL service of a role, started, without the parts of Apollo that we do not use. */
export async function startApolloServer(
  { role, production, limits, load }: ApolloSettings,
  log: Log,
): Promise<ApolloServer<RequestContext>> {
  const plugins = [boundOperations(limits), ...DISABLED];
  const apollo = new ApolloServer<RequestContext>({
    schema: createSchema(role),
    introspection: !production,
    hideSchemaDetailsFromClientErrors: production,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    stopOnTerminationSignals: false,
    persistedQueries: { cache: BY_TEXT },
    parseOptions: PARSE_LIMITS,
    validationOptions: { maxErrors: MAX_VALIDATION_ERRORS },
    executionOptions: { maxCoercionErrors: MAX_VARIABLE_ERRORS },
    documentStore: new InMemoryLRUCache<DocumentNode>({
      maxSize: Math.min(MAX_DOCUMENTS_BYTES, load.storeBytes),
      sizeCalculation: documentBytes,
    }),
    validationRules: [depthRule, schemaAliasRule],
    formatError: (formatted, error) => formatError(formatted, error, log),
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message: string) => log.warn(message),
      error: (message: string) => log.error(message),
    },
    plugins,
  });
  await apollo.start();
  // Apollo reads its plugins when it starts. Left in the list, each of these would cost every request two promises.
  plugins.splice(1, DISABLED.length);
  return apollo;
}

/**
 * The members of a POST, with the document in place of its hash: Apollo would compute that for each request, to find the
 * document in its store (docs/decisions/0029-documents-by-their-text.md).
 */
export function byText(members: Members): Members {
  const { query, extensions, ...others } = members;
  // What Apollo refuses it is given as it was sent.
  if (typeof query !== 'string' || query === '' || !isMembers(extensions ?? {})) return members;
  return { ...others, extensions: { persistedQuery: { version: 1, sha256Hash: query } } };
}

const BY_TEXT = PrefixingKeyValueCache.cacheDangerouslyDoesNotNeedPrefixesForIsolation({
  get: (text) => Promise.resolve(text),
  set: () => Promise.resolve(),
  delete: () => Promise.resolve(),
});

const DISABLED = [
  ApolloServerPluginCacheControlDisabled(),
  ApolloServerPluginInlineTraceDisabled(),
  ApolloServerPluginLandingPageDisabled(),
  ApolloServerPluginSchemaReportingDisabled(),
  ApolloServerPluginUsageReportingDisabled(),
];
