import {
  GraphQLError,
  Kind,
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { ErrorCode } from '../errors.ts';
import { maxDepthRule } from '../graphql/documentDepth.ts';
import {
  MAX_DOCUMENT_DEPTH,
  MAX_VALIDATION_ERRORS,
  PARSE_LIMITS,
} from '../graphql/documentLimits.ts';
import type { OperationLimits } from '../graphql/operationCost.ts';
import { guardOperation } from '../graphql/operationGuard.ts';
import type { Log } from '../log.ts';
import { formatForeignError } from './mountedErrors.ts';
import { endRequest, requestOf } from './mountedRequest.ts';

/** The options that bound documents and format errors in a Mercurius that has our fields. */
export function mercuriusOptions(log: Log) {
  return {
    graphql: {
      parseOptions: PARSE_LIMITS,
      validateOptions: { maxErrors: MAX_VALIDATION_ERRORS },
    },
    validationRules: [maxDepthRule(MAX_DOCUMENT_DEPTH)],
    // It compiles documents, and what callers write never becomes code.
    jit: 0,
    errorFormatter({ data, errors = [] }: ExecutionResult): Formatted {
      const formatted = errors.flatMap((error) => formattedErrors(error, log));
      const { http } = errors[0]?.extensions ?? {};
      const response = data === undefined ? {} : { data };
      const statusCode = formatted.includes(MALFORMED) ? 400 : statusOf(http);
      return { statusCode, response: { ...response, errors: formatted } };
    },
  };
}

interface Formatted {
  readonly statusCode: number;
  readonly response: FormattedExecutionResult;
}

/** The hook that guards operations, and the one that ends requests. */
export function mercuriusHooks(limits: OperationLimits) {
  return {
    preExecution(
      schema: GraphQLSchema,
      document: DocumentNode,
      context: unknown,
      variables: unknown,
    ): void {
      const { caller } = requestOf(context).context;
      const { operationName, accept } = requestIn(context);
      for (const operation of operationsOf(document, operationName)) {
        guardOperation(
          { schema, document, operation, variables: { ...asObject(variables) }, caller, accept },
          limits,
        );
      }
    },
    onResolution(_execution: unknown, context: unknown): void {
      endRequest(context);
    },
  };
}

/** What fails before execution, Mercurius wraps all together in one error. */
function formattedErrors(error: GraphQLError, log: Log): readonly GraphQLFormattedError[] {
  const { errors } = asObject(error.originalError);
  const refused = Array.isArray(errors) ? errors.filter((one) => one instanceof GraphQLError) : [];
  if (refused.length > 0) return refused.map((one) => formatForeignError(one, true, log));
  return isMalformed(error) ? [MALFORMED] : [formatForeignError(error, false, log)];
}

const MALFORMED: GraphQLFormattedError = {
  message: 'The request is none of GraphQL over HTTP: send a JSON object with the member query.',
  extensions: { code: 'BAD_REQUEST' satisfies ErrorCode },
};

/** Whether Fastify or Mercurius refused the request itself. What has a path came of executing a field. */
function isMalformed({ path, originalError }: GraphQLError): boolean {
  const { code, statusCode } = asObject(originalError);
  return (
    path === undefined &&
    typeof code === 'string' &&
    /^(?:FST|MER)_/.test(code) &&
    typeof statusCode === 'number' &&
    statusCode < 500
  );
}

function statusOf(http: unknown): number {
  const { status } = asObject(http);
  return typeof status === 'number' ? status : 200;
}

/** The one that is named; where none is, and there are several, each might be meant. */
function operationsOf(
  { definitions }: DocumentNode,
  name: unknown,
): readonly OperationDefinitionNode[] {
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  return typeof name === 'string'
    ? operations.filter((operation) => operation.name?.value === name)
    : operations;
}

/** What Fastify knows of the request, which Mercurius' hook is not told. */
function requestIn(context: unknown): { readonly operationName: unknown; readonly accept: string } {
  const { request } = asObject(asObject(context)['reply']);
  const { body, query, headers } = asObject(request);
  const accept = asObject(headers)['accept'];
  return {
    operationName: asObject(body)['operationName'] ?? asObject(query)['operationName'],
    accept: typeof accept === 'string' ? accept : '*/*',
  };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  // Members of any object may be read as unknown ones.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
