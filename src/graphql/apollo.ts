import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { GraphQLError, OperationTypeNode } from 'graphql';
import type { RequestContext } from '../context.ts';
import type { ErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { coerceVariables, countAsked, exceeds, maxAnswers, type AskLimits } from './askedCount.ts';
import { maxDepthRule } from './documentDepth.ts';
import { formatError } from './errors.ts';
import { createSchema, type Role } from './schema.ts';

/** What shapes the GraphQL service. */
export interface ApolloSettings {
  readonly role: Role;
  readonly production: boolean;
  readonly limits: AskLimits;
}

/**
 * A hundred aliases with their variables take 1800. Validation compares fields in pairs: the worst document
 * of this size takes a tenth of a second, and one of twice the size four times as long.
 */
const LARGEST_DOCUMENT_TOKENS = 2000;

/** Tools introspect a schema in 18. */
const LARGEST_DOCUMENT_DEPTH = 20;

/** For what is refused before execution: Apollo would say 500. */
const BAD_REQUEST = { status: 400 };

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
    parseOptions: { maxTokens: LARGEST_DOCUMENT_TOKENS },
    validationRules: [maxDepthRule(LARGEST_DOCUMENT_DEPTH)],
    formatError: (formatted, error) => formatError(formatted, error, log),
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message: string) => log.warn(message),
      error: (message: string) => log.error(message),
    },
    plugins: [
      refuseTooMuch(limits),
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
}

/** Refuses an operation that is no query, or asks too much as a whole, before its first lookup. */
function refuseTooMuch(limits: AskLimits): ApolloServerPlugin<RequestContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ schema, document, operation, request, contextValue }) {
          if (operation === undefined) return;
          if (operation.operation !== OperationTypeNode.QUERY) throw queriesOnly();
          const variables = coerceVariables(schema, operation, request.variables ?? {});
          // Those that do not fit are refused by the execution, which says why.
          if (variables === undefined) return;
          const { ownNumber } = contextValue.caller;
          const asked = { schema, document, operation, variables, ownNumber };
          if (exceeds(countAsked(asked, limits), limits)) throw limitExceeded(limits);
        },
      };
    },
  };
}

function limitExceeded(limits: AskLimits): GraphQLError {
  // With separators: a run of digits would be masked as a phone number.
  const [numbers, questions, answers] = [
    limits.maxNumbersPerOperation,
    limits.maxQuestionsPerNumber,
    maxAnswers(limits),
  ].map((limit) => limit.toLocaleString('en'));
  return new GraphQLError(
    `One operation may ask about ${numbers} numbers, ${questions} questions about each, ` +
      `and for ${answers} fields of them in all. Ask in several operations.`,
    { extensions: { code: 'LOOKUP_LIMIT_EXCEEDED' satisfies ErrorCode, http: BAD_REQUEST } },
  );
}

/** The schema has no other root types; left to itself, graphql would call this a defect of ours. */
function queriesOnly(): GraphQLError {
  return new GraphQLError('This service answers queries only.', {
    extensions: { code: 'BAD_USER_INPUT' satisfies ErrorCode, http: BAD_REQUEST },
  });
}
