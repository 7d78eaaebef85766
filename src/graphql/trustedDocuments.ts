import type { HTTPGraphQLRequest } from '@apollo/server';
import { GraphQLError, Kind, parse, validate, type GraphQLSchema } from 'graphql';
import type { ReadRequest, Refusal } from './reply.ts';

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
  const manifest = parseObject(text);
  if (manifest === undefined) return undefined;
  const entries =
    'format' in manifest ? apolloEntries(manifest) : Object.entries<unknown>(manifest);
  const documents = new Map<string, string>();
  for (const [id, document] of entries ?? []) {
    if (typeof id !== 'string' || typeof document !== 'string') return undefined;
    documents.set(id, document);
  }
  return documents.size === 0 ? undefined : documents;
}

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

/** The names of the documents' operations by their ids, for the log and the metrics; an id names what has no name. */
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

/**
 * The request with the document that it names: by `documentId` (GraphQL over HTTP), or by Apollo's clients as
 * `extensions.persistedQuery.sha256Hash`. A request with a document of its own is refused, even if that is listed.
 */
export function resolveDocument(
  request: HTTPGraphQLRequest,
  documents: TrustedDocuments,
): ReadRequest | Refusal {
  const isPost = request.method === 'POST';
  const search = new URLSearchParams(request.search);
  const body = isObject(request.body) ? request.body : {};
  const { query, documentId, extensions, ...rest } = isPost ? body : namedIn(search);
  const id = documentId ?? persistedQueryHash(extensions);
  if (query !== undefined || typeof id !== 'string') return ID_REQUIRED;
  const document = documents.get(id);
  if (document === undefined) return NOT_IN_LIST;
  if (isPost) {
    return { request: { ...request, body: { ...rest, query: document } }, documentId: id };
  }
  search.delete('documentId');
  search.delete('extensions');
  search.set('query', document);
  return { request: { ...request, search: `?${search.toString()}` }, documentId: id };
}

function namedIn(search: URLSearchParams): Record<string, unknown> {
  return {
    query: search.get('query') ?? undefined,
    documentId: search.get('documentId') ?? undefined,
    extensions: parseObject(search.get('extensions') ?? ''),
  };
}

/** The codes are those that Apollo's router gives. */
const ID_REQUIRED: Refusal = { status: 400, code: 'PERSISTED_QUERY_ID_REQUIRED' };
const NOT_IN_LIST: Refusal = { status: 400, code: 'PERSISTED_QUERY_NOT_IN_LIST' };

function persistedQueryHash(extensions: unknown): unknown {
  if (!isObject(extensions) || !isObject(extensions['persistedQuery'])) return undefined;
  return extensions['persistedQuery']['sha256Hash'];
}

function apolloEntries(
  manifest: Record<string, unknown>,
): readonly (readonly [unknown, unknown])[] | undefined {
  const { format, version, operations } = manifest;
  if (format !== 'apollo-persisted-query-manifest' || version !== 1) return undefined;
  if (!Array.isArray(operations)) return undefined;
  return operations.map((one: unknown) =>
    isObject(one) ? [one['id'], one['body']] : [undefined, undefined],
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
