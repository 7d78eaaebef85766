import { GraphQLError, Kind, parse, validate, type GraphQLSchema } from 'graphql';
import * as z from 'zod';
import { isMembers, type Members } from './operation.ts';
import type { Refusal } from './reply.ts';

/** The documents that are served, by their ids. */
export type TrustedDocuments = ReadonlyMap<string, string>;

/**
 * Reads a manifest in either form that clients' tools write:
 *
 * - Apollo's: `{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id", "body", …}]}`
 * - GraphQL Codegen's (`persistedDocuments` of its client preset): `{"<id>": "<document>"}`
 *
 * `undefined` for anything else, and for a list without a document.
 */
export function readManifest(text: string): TrustedDocuments | undefined {
  try {
    const { data = [] } = manifest.safeParse(JSON.parse(text), { jitless: true });
    return data.length === 0 ? undefined : new Map(data);
  } catch {
    return undefined;
  }
}

const manifest = z.union([
  z
    .object({
      format: z.literal('apollo-persisted-query-manifest'),
      version: z.literal(1),
      operations: z.array(z.object({ id: z.string(), body: z.string() })),
    })
    .transform(({ operations }) => operations.map(({ id, body }) => [id, body] as const)),
  z
    .record(z.string(), z.string())
    .refine((documents) => !Object.hasOwn(documents, 'format'))
    .transform((documents) => Object.entries(documents)),
]);

/** What is wrong with the documents, each by its id: they were written for another schema. */
export function invalidDocuments(
  documents: TrustedDocuments,
  schema: GraphQLSchema,
): readonly string[] {
  return [...documents].flatMap(([id, text]) => {
    const message = flawOf(text, schema);
    return message === undefined ? [] : [`${id}: ${message.replace(/\.$/, '')}`];
  });
}

function flawOf(text: string, schema: GraphQLSchema): string | undefined {
  try {
    return validate(schema, parse(text))[0]?.message;
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    throw error;
  }
}

/** The names of the documents' operations by their ids, for log and metrics; one without a name has its id. */
export function documentNames(documents: TrustedDocuments): ReadonlyMap<string, string> {
  return new Map(
    Array.from(documents, ([id, text]) => {
      const operation = parse(text).definitions.find(
        (one) => one.kind === Kind.OPERATION_DEFINITION,
      );
      return [id, operation?.name?.value ?? id];
    }),
  );
}

export interface TrustedOperation {
  readonly sent: Members;
  readonly documentId: string;
}

/**
 * The request with the document that it names: by `documentId` (GraphQL over HTTP), or by Apollo's clients as
 * `extensions.persistedQuery.sha256Hash`. A request with a document of its own is refused, even if that is listed.
 */
export function resolveDocument(
  { query, documentId, extensions, ...rest }: Members,
  documents: TrustedDocuments,
): TrustedOperation | Refusal {
  const id = documentId ?? persistedQueryHash(extensions);
  if (query !== undefined || typeof id !== 'string') return ID_REQUIRED;
  const document = documents.get(id);
  return document === undefined
    ? NOT_IN_LIST
    : { sent: { ...rest, query: document }, documentId: id };
}

/** The codes are those of Apollo's router. */
const ID_REQUIRED: Refusal = { status: 400, code: 'PERSISTED_QUERY_ID_REQUIRED' };
const NOT_IN_LIST: Refusal = { status: 400, code: 'PERSISTED_QUERY_NOT_IN_LIST' };

function persistedQueryHash(extensions: unknown): unknown {
  if (!isMembers(extensions) || !isMembers(extensions['persistedQuery'])) return undefined;
  return extensions['persistedQuery']['sha256Hash'];
}
