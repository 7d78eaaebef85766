import {
  getOperationAST,
  GraphQLError,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type ValidationRule,
} from 'graphql';
import { maxDepthRule } from '../graphql/documentDepth.ts';
import { MAX_DOCUMENT_DEPTH, PARSE_LIMITS } from '../graphql/documentLimits.ts';
import type { OperationLimits } from '../graphql/operationCost.ts';
import { guardOperation } from '../graphql/operationGuard.ts';
import type { Log } from '../log.ts';
import { formatForeignError } from './mountedErrors.ts';
import { requestOf } from './mountedRequest.ts';

/** What Yoga's hooks are handed, as far as it is read here. */
interface Parsing {
  readonly parseFn: (source: string, options: object) => unknown;
  setParseFn(parse: (source: string, options?: object) => unknown): void;
}

interface Validating {
  addValidationRule(rule: ValidationRule): void;
}

interface Executing {
  readonly args: {
    readonly schema: GraphQLSchema;
    readonly document: DocumentNode;
    readonly operationName?: unknown;
    readonly variableValues?: unknown;
    readonly contextValue: unknown;
  };
  setResultAndStopExecution(result: ExecutionResult): void;
}

interface Answering {
  readonly result: unknown;
  setResult(result: ExecutionResult): void;
}

/** Bounds documents, guards operations and formats errors in a GraphQL Yoga that has our fields. */
export function yogaPlugin(limits: OperationLimits, log: Log) {
  const depthRule = maxDepthRule(MAX_DOCUMENT_DEPTH);
  return {
    onParse(parsing: Parsing): void {
      const { parseFn } = parsing;
      parsing.setParseFn((source, options) => parseFn(source, { ...options, ...PARSE_LIMITS }));
    },
    onValidate(validating: Validating): void {
      validating.addValidationRule(depthRule);
    },
    onExecute(executing: Executing): { onExecuteDone(): void } {
      const { schema, document, operationName, variableValues, contextValue } = executing.args;
      const request = requestOf(contextValue);
      const operation = getOperationAST(document, textOf(operationName));
      try {
        if (operation !== null && operation !== undefined) {
          const accept = acceptOf(contextValue);
          const { caller } = request.context;
          const variables = variablesOf(variableValues);
          guardOperation({ schema, document, operation, variables, caller, accept }, limits);
        }
      } catch (error) {
        if (!(error instanceof GraphQLError)) throw error;
        request.end();
        executing.setResultAndStopExecution({ errors: [error] });
      }
      return { onExecuteDone: () => request.end() };
    },
    onResultProcess(answering: Answering): void {
      const { result } = answering;
      if (!hasErrors(result)) return;
      answering.setResult({
        ...result,
        errors: result.errors.map((error) => formatted(error, log)),
      });
    },
  };
}

/** Formatted, and still what Yoga takes the status of the reply from. */
function formatted(error: GraphQLError, log: Log): GraphQLError {
  const { message, extensions } = formatForeignError(error, false, log);
  const { nodes, source, positions, path } = error;
  const { http } = error.extensions;
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions: http === undefined ? { ...extensions } : { ...extensions, http },
  });
}

function hasErrors(
  result: unknown,
): result is ExecutionResult & { readonly errors: readonly GraphQLError[] } {
  return (
    typeof result === 'object' &&
    result !== null &&
    'errors' in result &&
    Array.isArray(result.errors) &&
    result.errors.every((error) => error instanceof GraphQLError)
  );
}

function textOf(name: unknown): string | undefined {
  return typeof name === 'string' ? name : undefined;
}

function variablesOf(values: unknown): Readonly<Record<string, unknown>> {
  return typeof values === 'object' && values !== null ? { ...values } : {};
}

function acceptOf(context: unknown): string | undefined {
  const isYogas = typeof context === 'object' && context !== null && 'request' in context;
  return isYogas && context.request instanceof Request
    ? (context.request.headers.get('accept') ?? undefined)
    : undefined;
}
