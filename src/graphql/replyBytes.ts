import {
  defaultFieldResolver,
  type FieldNode,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { MAX_CORRELATOR_NAME_CHARACTERS } from '../system/correlator.ts';
import {
  ERRORS,
  MAX_DOCS_URL_CHARACTERS,
  QUOTA_MESSAGES,
  type ErrorDescription,
} from '../domain/errors.ts';
import { isQuestionField } from '../domain/fields.ts';
import type { Measured, Selections } from './selections.ts';

export const NULL_BYTES = 4;

/** A place in a list, in the path of an error: no list that fits a request has more places. */
export const MAX_INDEX_BYTES = 8;

/** Making a field costs more than its text, however short that is. */
export const MIN_FIELD_BYTES = 32;

/** What is around the answers: `data`, `errors`, and what is left of the quotas in `extensions`. */
export const MAX_ENVELOPE_BYTES = 1024;

/** GraphQL's own messages quote what they refuse; longer ones are cut. */
export const MAX_MESSAGE_CHARACTERS = 300;

/** The longest reason that `parsePhoneNumber` or `parseMaxAge` gives, with room for a longer one. */
const MAX_REASON_CHARACTERS = 150;

/** The most bytes of an error, without its path. */
function errorFrameBytes(code: string, message: string): number {
  const frame = {
    message,
    path: [],
    locations: [{ line: 999_999, column: 999_999 }],
    extensions: {
      code,
      correlator: 'x'.repeat(MAX_CORRELATOR_NAME_CHARACTERS),
      docs: `${'x'.repeat(MAX_DOCS_URL_CHARACTERS)}/errors.md#${code}`,
      retryAfterSeconds: 999_999,
      ...(code === 'RATE_LIMITED' ? { quota: 'numbers' } : {}),
      ...(code === 'PERIOD_NOT_SUPPORTED' ? { maxAgeHours: 2400 } : {}),
      ...(code === 'CONSENT_PENDING' ? { expiresAt: '2026-03-14T10:26:53.123Z' } : {}),
    },
  };
  return Buffer.byteLength(JSON.stringify(frame)) + 1;
}

/** Of an invalid number, or one that the caller may not query. */
const MAX_NUMBER_ERROR_BYTES = errorFrameBytes('BAD_USER_INPUT', 'x'.repeat(MAX_REASON_CHARACTERS));

const MAX_FIELD_ERROR_BYTES = Math.max(
  MAX_NUMBER_ERROR_BYTES,
  ...Object.entries<ErrorDescription>(ERRORS)
    .filter(([, { places }]) => places.includes('field'))
    .map(([code, { message }]) => errorFrameBytes(code, message)),
  ...Object.values(QUOTA_MESSAGES).map((message) => errorFrameBytes('RATE_LIMITED', message)),
);

/** In UTF-8, or as `\u0000`. */
const MAX_BYTES_PER_CHARACTER = 6;

const MAX_ROOT_ERROR_BYTES = errorFrameBytes(
  'BAD_USER_INPUT',
  'x'.repeat(MAX_MESSAGE_CHARACTERS * MAX_BYTES_PER_CHARACTER),
);

/** `null` with the most that an error takes: here in place of a root field, whose arguments GraphQL may quote. */
export function failedRootBytes(pathBytes: number): number {
  return NULL_BYTES + MAX_ROOT_ERROR_BYTES + pathBytes;
}

export function failedNumberBytes(pathBytes: number): number {
  return NULL_BYTES + MAX_NUMBER_ERROR_BYTES + pathBytes;
}

/** The name of a field's value, with its quotes, colon and comma. */
export function keyBytes({ alias, name }: FieldNode): number {
  return (alias ?? name).value.length + 4;
}

/**
 * The most that a field of a phone number, of a check or of a consent takes with its name.
 *
 * @param pathBytes of the path of an error in its place
 * @param below what it holds, where that is not a value
 */
export function fieldBytes(field: FieldNode, pathBytes: number, below?: number): number {
  const name = field.name.value;
  const ifFailed = isQuestionField(name) ? NULL_BYTES + MAX_FIELD_ERROR_BYTES + pathBytes : 0;
  return Math.max(MIN_FIELD_BYTES, keyBytes(field) + Math.max(below ?? SIZES[name] ?? 0, ifFailed));
}

/** Of a check or a consent: its fields by themselves have no errors, so that their place makes no difference. */
export function measuredBelow(
  { selectionSet }: FieldNode,
  selections: Selections,
): Measured | undefined {
  if (selectionSet === undefined) return undefined;
  const known = selections.measured.get(selectionSet);
  if (known !== undefined) return known;
  let fields = 0;
  let bytes = 2;
  for (const field of selections.fieldsOf(selectionSet)) {
    if (!isMeasured(field.name.value)) continue;
    const below = measuredBelow(field, selections);
    fields += 1 + (below?.fields ?? 0);
    bytes += fieldBytes(field, 0, below?.bytes);
  }
  const measured = { fields, bytes };
  selections.measured.set(selectionSet, measured);
  return measured;
}

/** Whether a field of a phone number, of a check or of a consent is this package's. */
export function isMeasured(field: string): boolean {
  return Object.hasOwn(SIZES, field);
}

/** RFC 3339 with nine digits of a second and a zone, in quotes. */
const MAX_DATE_TIME_BYTES = '"2026-03-14T10:26:53.123456789+01:00"'.length;

/** The longest code, in quotes. */
const MAX_CODE_BYTES = Math.max(...Object.keys(ERRORS).map((code) => code.length + 2));

/** The most that a value takes. */
const SIZES: Readonly<Record<string, number>> = {
  __typename: '"SimSwapConsent"'.length,
  e164: '"+123456789012345"'.length,
  lastSimSwap: MAX_DATE_TIME_BYTES,
  simSwappedWithin: 'false'.length,
  simSwapCheck: 0,
  simSwapConsent: 0,
  result: '"NOT_SWAPPED"'.length,
  windowHours: '2400'.length,
  reason: MAX_CODE_BYTES,
  maxAgeHours: '-2147483648'.length,
  asOf: MAX_DATE_TIME_BYTES,
  state: '"NOT_NEEDED"'.length,
  retryAfterSeconds: '-2147483648'.length,
  expiresAt: MAX_DATE_TIME_BYTES,
};

const META_FIELDS: Readonly<Record<string, GraphQLField<unknown, unknown>>> = {
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
  __typename: TypeNameMetaFieldDef,
};

/**
 * What a root field adds to the reply that the schema itself answers, introspection or `_service`: all of it is known
 * before anything is executed. Measuring ends once it is over `maxBytes`.
 */
export function knownBytes(
  root: FieldNode,
  schema: GraphQLSchema,
  selections: Selections,
  maxBytes: number,
): number {
  let bytes = failedRootBytes(keyBytes(root));

  const addField = (field: FieldNode, parent: GraphQLObjectType, source: unknown): void => {
    const name = field.name.value;
    const definition = parent.getFields()[name] ?? META_FIELDS[name];
    if (definition === undefined) return;
    const { resolve = defaultFieldResolver, type } = definition;
    const args = selections.argumentsOf(definition, field);
    // The resolvers of introspection and of `_service` read nothing else.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const info = { schema, fieldName: name, parentType: parent } as GraphQLResolveInfo;
    const before = bytes;
    bytes += keyBytes(field);
    addValue(resolve(source, args, undefined, info), type, field);
    bytes = Math.max(bytes, before + MIN_FIELD_BYTES);
  };

  const addValue = (value: unknown, nullable: GraphQLOutputType, field: FieldNode): void => {
    const type = getNullableType(nullable);
    if (value === undefined || value === null) {
      bytes += NULL_BYTES;
    } else if (isListType(type)) {
      bytes += 2;
      // Introspection gives every list as an array.
      for (const item of Array.isArray(value) ? value : []) {
        if (bytes > maxBytes) return;
        bytes += 1;
        addValue(item, type.ofType, field);
      }
    } else if (isObjectType(type)) {
      bytes += 2;
      if (field.selectionSet === undefined) return;
      for (const below of selections.fieldsOf(field.selectionSet)) {
        if (bytes > maxBytes) return;
        addField(below, type, value);
      }
    } else if (isLeafType(type)) {
      bytes += Buffer.byteLength(JSON.stringify(type.serialize(value)));
    }
  };

  const query = schema.getQueryType();
  if (isObjectType(query)) addField(root, query, undefined);
  return bytes;
}
