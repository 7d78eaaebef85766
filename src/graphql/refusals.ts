import { GraphQLError } from 'graphql';
import type { ErrorCode } from '../domain/errors.ts';
import { AnswerError } from './answerErrors.ts';
import { COUNTED_TIMES, type Excess, type OperationCost } from './operationCost.ts';

/** For what is refused before execution: Apollo would say 500. */
const BAD_REQUEST = { status: 400 };

export function limitExceeded(excess: Excess, options: LimitOptions = {}): AnswerError {
  const { status, path } = options;
  return new AnswerError(
    `${IN_WORDS[excess.limited](inFigures(excess))} Split it into several operations.`,
    {
      code: 'LOOKUP_LIMIT_EXCEEDED',
      ...excess,
      ...(status === undefined ? {} : { http: { status } }),
    },
    path === undefined ? {} : { path },
  );
}

interface LimitOptions {
  /** Of the reply, where nothing is executed. */
  readonly status?: number;
  /** Stands in the place of where it happened. */
  readonly path?: readonly string[];
}

interface Figures {
  readonly limit: string;
  readonly asked: string;
}

const IN_WORDS: Readonly<Record<keyof OperationCost, (figures: Figures) => string>> = {
  numbers: ({ limit, asked }) => `One operation may have ${limit} numbers; this one has ${asked}.`,
  questionsPerNumber: ({ limit, asked }) =>
    `One operation may have ${limit} questions about a number; this one has ${asked}.`,
  answers: ({ limit, asked }) =>
    `One operation may have ${limit} fields of numbers; this one has ${asked}.`,
  replyBytes: ({ limit, asked }) =>
    `A reply may have ${limit} bytes; the reply to this operation could have ${asked}.`,
};

/** With separators: a run of digits would be masked as a phone number. */
function inFigures({ limit, asked }: Excess): Figures {
  const counted = COUNTED_TIMES * limit;
  return {
    limit: limit.toLocaleString('en'),
    asked:
      asked > counted ? `more than ${counted.toLocaleString('en')}` : asked.toLocaleString('en'),
  };
}

/** The caller may ask about one number an operation. Says the same of numbers that exist and that do not. */
export function severalForbidden(scope: string, status?: number): AnswerError {
  return new AnswerError(
    `This operation asks about several numbers, and your access token allows one. Send one number an operation, or get a token with the scope ${scope}.`,
    { code: 'FORBIDDEN', ...(status === undefined ? {} : { http: { status } }) },
  );
}

/** The schema has no other root types; left to itself, graphql would call this a defect of ours. */
export function queriesOnly(): GraphQLError {
  return badOperation('This service answers queries only.');
}

/** What graphql-js throws that finds the operation's own values invalid; every other error is a defect, and stays. */
export function invalidOperation(error: unknown): unknown {
  return error instanceof GraphQLError ? badOperation(error.message, error) : error;
}

function badOperation(message: string, { nodes }: { nodes?: GraphQLError['nodes'] } = {}) {
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    extensions: { code: 'BAD_USER_INPUT' satisfies ErrorCode, http: BAD_REQUEST },
  });
}
