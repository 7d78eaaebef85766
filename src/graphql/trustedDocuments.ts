import { GraphQLError, Kind, parse, validate, type GraphQLSchema } from 'graphql';
import * as z from 'zod';
import { isMembers, type Members } from './operation.ts';
import type { Refusal } from './reply.ts';

/** The documents that are served, by their ids. */
export type TrustedDocuments = ReadonlyMap<string, TrustedDocument>;

interface TrustedDocument {
  readonly text: string;
  /** Of its operation, for log and metrics; one without a name has its id. */
  readonly name: string;
}

/** The texts of documents by their ids, which may not fit the schema. */
export type Manifest = ReadonlyMap<string, string>;

/**
 * Reads a manifest in either form that clients' tools write:
 *
 * - Apollo's: `{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id", "body", …}]}`
 * - GraphQL Codegen's (`persistedDocuments` of its client preset): `{"<id>": "<document>"}`
 *
 * `undefined` for anything else, and for a list without a document.
 */
export function readManifest(text: string): Manifest | undefined {
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

/**
 * Judges the documents, and pauses after each: thousands take seconds.
 *
 * @param known those that were judged by this schema before
 * @returns with what is wrong, each by its id: those were written for another schema
 */
export function* judgeDocuments(
  texts: Manifest,
  schema: GraphQLSchema,
  known: TrustedDocuments,
): Generator<undefined, { readonly documents: TrustedDocuments; readonly flaws: string[] }> {
  const documents = new Map<string, TrustedDocument>();
  const flaws: string[] = [];
  for (const [id, text] of texts) {
    const before = known.get(id);
    const judged = before?.text === text ? before : judge(id, text, schema);
    if (typeof judged === 'string') flaws.push(`${id}: ${judged.replace(/\.$/, '')}`);
    else documents.set(id, judged);
    yield;
  }
  return { documents, flaws };
}

function judge(id: string, text: string, schema: GraphQLSchema): TrustedDocument | string {
  try {
    const document = parse(text);
    const flaw = validate(schema, document)[0]?.message;
    if (flaw !== undefined) return flaw;
    const operation = document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
    return { text, name: operation?.name?.value ?? id };
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    // At some thousands, the stack has no room.
    if (error instanceof RangeError) return 'The document is nested too deep.';
    throw error;
  }
}

export interface ResolvedOperation {
  readonly sent: Members;
  /** The name of the document, where it is a trusted one. */
  readonly document?: string;
}

/**
 * The request with the document that it names: by `documentId` (GraphQL over HTTP), or by Apollo's clients as
 * `extensions.persistedQuery.sha256Hash`. A request with a document of its own is refused, even if that is listed.
 *
 * @param documents absent where every document is served, and none by its hash
 */
export function resolveDocument(
  sent: Members,
  documents: TrustedDocuments | undefined,
): ResolvedOperation | Refusal {
  const persisted = persistedQuery(sent['extensions']);
  const { query, documentId, extensions: _, ...rest } = sent;
  if (documents === undefined) {
    if (persisted !== undefined) return NOT_SUPPORTED;
    return query === undefined && documentId !== undefined ? ID_NOT_SUPPORTED : { sent };
  }
  const id = documentId ?? persisted?.['sha256Hash'];
  if (query !== undefined || typeof id !== 'string') return ID_REQUIRED;
  const document = documents.get(id);
  return document === undefined
    ? NOT_IN_LIST
    : { sent: { ...rest, query: document.text }, document: document.name };
}

/** The codes are those of Apollo's router. */
const ID_REQUIRED: Refusal = { status: 400, code: 'PERSISTED_QUERY_ID_REQUIRED' };
const NOT_IN_LIST: Refusal = { status: 400, code: 'PERSISTED_QUERY_NOT_IN_LIST' };

const ID_NOT_SUPPORTED: Refusal = { status: 400, code: 'PERSISTED_QUERY_NOT_SUPPORTED' };
/** By its message Apollo's clients, which send only a hash first, learn to send the document. */
const NOT_SUPPORTED: Refusal = {
  status: 200,
  code: 'PERSISTED_QUERY_NOT_SUPPORTED',
  message: 'PersistedQueryNotSupported',
};

function persistedQuery(extensions: unknown): Members | undefined {
  const persisted = isMembers(extensions) ? extensions['persistedQuery'] : undefined;
  return isMembers(persisted) ? persisted : undefined;
}
