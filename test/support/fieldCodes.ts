import { assertEnumType } from 'graphql';
import { ERRORS, type ErrorCode } from '../../src/domain/errors.ts';
import { createSchema } from '../../src/graphql/schema.ts';

const REASONS = assertEnumType(createSchema('bff').getType('SimSwapUnknownReason'));

const BEFORE_A_LOOKUP = ['BAD_USER_INPUT', 'FORBIDDEN', 'INTERNAL_SERVER_ERROR'];

/** The codes of errors at a field of a number, in the order of `ERRORS`. */
export const FIELD_CODES = (Object.keys(ERRORS) as ErrorCode[]).filter(
  (code) => BEFORE_A_LOOKUP.includes(code) || REASONS.getValue(code) !== undefined,
);
