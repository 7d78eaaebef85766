import { HeaderMap, type ApolloServer, type HTTPGraphQLResponse } from '@apollo/server';
import type { Gate, RefusalReason } from '../caller/gate.ts';
import {
  requestChannel,
  traced,
  type RequestMessage,
  type RequestResult,
} from '../log/diagnostics.ts';
import type { Log } from '../log/log.ts';
import { DeadlineExceeded } from '../http/urgency.ts';
import { singleValue, preferredWaitMs, readTraceparent } from '../http/headers.ts';
import { admitOrigin } from './crossOrigin.ts';
import { wantsPage, type Explorer } from './explorer.ts';
import {
  statusOfRefusal,
  replyMediaType,
  replyOf,
  type ReadRequest,
  type Refusal,
  type Reply,
  type ReplyHeaders,
  type ReplyMediaType,
} from './reply.ts';
import {
  GraphqlRequest,
  type RequestContext,
  type RequestParts,
  type RequestReport,
} from './request.ts';
import { isOwnHost } from '../http/wireSettings.ts';
import { derived } from '../system/fromFiles.ts';
import { documentNames, resolveDocument, type TrustedDocuments } from './trustedDocuments.ts';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** For a document and its variables: far more than the largest allowed operation needs. */
const MAX_BODY_BYTES = 1024 * 1024;

/** How long an execution may take to answer with what it has at the deadline. */
const LAST_WORDS_MS = 1000;

export interface EndpointParts extends RequestParts {
  readonly apollo: ApolloServer<RequestContext>;
  readonly config: RequestParts['config'] & {
    readonly requestTimeoutMs: number;
    readonly allowedOrigins: readonly string[];
  };
  readonly maxRequests: number;
  readonly log: Log;
  /** As they are by now. Where there are any, nothing else is served. */
  readonly trustedDocuments: () => TrustedDocuments | undefined;
  readonly explorer: Explorer | undefined;
  /** Whether `host` must name this machine: no token is needed, and DNS rebinding sends a page's requests here under its name. */
  readonly checksHost: boolean;
  readonly gate: Pick<Gate, 'admit'>;
  readonly observation: {
    onAnswered(report: RequestReport): void;
    onRefused(reason: RefusalReason): void;
  };
}

/** GraphQL over HTTP, inside each request's time; adds to the headers of any reply. Never rejects for what a client does. */
export function createEndpoint(
  parts: EndpointParts,
): (incoming: IncomingMessage, response: ServerResponse, headers: ReplyHeaders) => Promise<Reply> {
  const names = derived(parts.trustedDocuments, (documents = new Map()) =>
    documentNames(documents),
  );
  let underWay = 0;
  return (incoming, response, headers) => {
    const request = new GraphqlRequest(parts, {
      timeoutMs: parts.config.requestTimeoutMs,
      correlator: singleValue(incoming.headers['x-correlator']),
    });
    headers['x-correlator'] = request.correlator.returned;
    const respond = async (): Promise<Reply> => {
      underWay += 1;
      try {
        const arrived = { incoming, response, headers, request };
        const early = replyBefore(parts, arrived, underWay);
        const reply = await (early ?? answer(parts, arrived, names));
        parts.observation.onAnswered(request.report(reply.status));
        return reply;
      } finally {
        underWay -= 1;
      }
    };
    if (!requestChannel.hasSubscribers) return respond();
    return traced(requestChannel, messageOf(incoming, request), respond, ({ status }) =>
      resultOf(request.report(status)),
    );
  };
}

function messageOf(
  { method, headers: { traceparent } }: IncomingMessage,
  { correlator }: GraphqlRequest,
): RequestMessage {
  return {
    correlator: correlator.name,
    method: method === 'GET' || method === 'POST' ? method : '_OTHER',
    parent: traceparent === undefined ? undefined : readTraceparent(singleValue(traceparent)),
  };
}

function resultOf({ status, codes, document }: RequestReport): RequestResult {
  const [code = 'ok'] = codes.keys();
  const result = { outcome: 'replied', status, code } as const;
  return document === undefined ? result : { ...result, document };
}

interface Arrived {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: ReplyHeaders;
  readonly request: GraphqlRequest;
}

function refuse(refusal: Refusal, { incoming, request }: Arrived): Reply {
  request.countCode(refusal.code);
  return replyOf(refusal, incoming.headers.accept, request.reference(refusal.code));
}

/** The reply that does not depend on the caller; `undefined` for every other request. */
function replyBefore(
  { checksHost, config: { allowedOrigins }, maxRequests, explorer }: EndpointParts,
  arrived: Arrived,
  underWay: number,
): Promise<Reply> | Reply | undefined {
  const { incoming, headers } = arrived;
  if (checksHost && !isOwnHost(incoming.headers.host)) return refuse(OTHER_HOST, arrived);
  const preflight =
    allowedOrigins.length === 0 ? undefined : admitOrigin(allowedOrigins, incoming, headers);
  if (preflight !== undefined) return preflight;
  if (underWay > maxRequests) return refuse(TOO_MANY, arrived);
  return incoming.method === 'GET' && wantsPage(incoming) ? explorer?.() : undefined;
}

async function answer(
  { gate, apollo, log, observation, trustedDocuments }: EndpointParts,
  arrived: Arrived,
  names: () => ReadonlyMap<string, string>,
): Promise<Reply> {
  const { incoming, response, headers, request } = arrived;
  let isExecuted = false;
  request.begin();
  response.once('close', () => {
    request.pause();
    // A caller that is cut off before the last byte has no answer: its next request must not cost another prompt.
    if (!response.writableFinished) request.hangUp();
    else if (isExecuted) request.told();
  });

  const admission = gate.admit(incoming.headers);
  const admitted = admission instanceof Promise ? await request.within(admission) : admission;
  if (admitted === undefined) {
    tellOverdue(log, request, 'who asks');
    return refuse({ ...NOT_IN_TIME, headers: CLOSE }, arrived);
  }
  if (admitted.kind === 'refused') {
    observation.onRefused(admitted.reason);
    return refuse({ ...admitted, headers: { ...admitted.headers, ...CLOSE } }, arrived);
  }
  request.admit(admitted, preferredWaitMs(singleValue(incoming.headers.prefer)));

  const asked = await request.within(readOperation(incoming, trustedDocuments()));
  if (asked === undefined) return refuse({ ...NO_BODY_IN_TIME, headers: CLOSE }, arrived);
  if ('code' in asked) {
    return refuse({ ...asked, headers: { ...asked.headers, ...CLOSE } }, arrived);
  }
  if (asked.documentId !== undefined) request.document = names().get(asked.documentId);

  const executed = await request.within(
    apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: asked.request,
      context: () => {
        const { waitMs } = request;
        // RFC 7240 §3: how long the request waits, which may be less than it preferred.
        if (waitMs !== undefined) {
          headers['preference-applied'] = `wait=${Math.floor(waitMs / 1000)}`;
        }
        return Promise.resolve({ request });
      },
    }),
    LAST_WORDS_MS,
  );
  if (executed === undefined) {
    tellOverdue(log, request, 'its answers');
    const status = statusOfRefusal(incoming.headers.accept, NOT_IN_TIME.status);
    return refuse({ ...NOT_IN_TIME, status }, arrived);
  }
  isExecuted = true;
  return replyFrom(executed, request);
}

/** A caller that hangs up is not logged. */
function tellOverdue(log: Log, { signal }: GraphqlRequest, waitedFor: string): void {
  if (signal.reason instanceof DeadlineExceeded) {
    log.error('a request did not end in its time', { waitedFor });
  }
}

/** The rest of the body would be read as the next request. */
const CLOSE = { connection: 'close' };

const OTHER_HOST: Refusal = {
  status: 421,
  code: 'BAD_REQUEST',
  message: 'This service does not answer for the host in the request. Use localhost.',
  headers: CLOSE,
};

const NOT_IN_TIME = { status: 503, code: 'UNAVAILABLE' } satisfies Refusal;

const TOO_MANY: Refusal = {
  status: 503,
  code: 'UNAVAILABLE',
  headers: { ...CLOSE, 'retry-after': '1' },
};

const NO_BODY_IN_TIME: Refusal = {
  status: 408,
  code: 'BAD_REQUEST',
  message: 'The body of the request did not arrive in time. Send it again.',
};

function replyFrom(
  { status = 200, headers, body }: HTTPGraphQLResponse,
  request: GraphqlRequest,
): Reply {
  if (body.kind !== 'complete') throw new Error('The schema defers nothing.');
  const isUnrecorded = status >= 400 && !request.hasCodes;
  // Answers are about people, and no cache may store them: every reply has our header in place of Apollo's.
  headers.delete('cache-control');
  return {
    status,
    headers: Object.fromEntries(headers),
    body: isUnrecorded ? referring(body.string, request) : body.string,
  };
}

/** What Apollo refuses before it has an operation passes no plugin: a single error, and short. */
function referring(body: string, request: GraphqlRequest): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as formatError makes it
  const { errors } = JSON.parse(body) as { errors: readonly { extensions: { code: string } }[] };
  for (const { extensions } of errors) {
    request.countCode(extensions.code);
    Object.assign(extensions, request.reference(extensions.code));
  }
  return JSON.stringify({ errors });
}

async function readOperation(
  incoming: IncomingMessage,
  trustedDocuments: TrustedDocuments | undefined,
): Promise<ReadRequest | Refusal> {
  const { method = 'GET', url = '', headers } = incoming;
  let body: object | undefined;
  let search = '';
  if (method === 'POST') {
    const type = headers['content-type'] ?? '';
    const isJson = type === 'application/json' || JSON_TYPE.test(type);
    const text = await readBody(incoming, isJson ? MAX_BODY_BYTES : 0);
    if (!isJson) return NOT_JSON;
    if (text === undefined) return TOO_LONG;
    const parsed = parseBody(text);
    if (typeof parsed === 'string') return badRequest(400, parsed);
    body = parsed;
  } else if (method === 'GET') {
    search = /\?.*/s.exec(url)?.[0] ?? '';
  } else {
    return badRequest(405, 'GraphQL takes POST, and GET for queries.', { allow: 'GET, POST' });
  }
  const mediaType = replyMediaType(headers.accept);
  if (mediaType === undefined) return NOT_ACCEPTABLE;
  const request = { method, headers: headersForApollo(method, headers, mediaType), search, body };
  return trustedDocuments === undefined ? { request } : resolveDocument(request, trustedDocuments);
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** The body, or a text that says what is wrong with it. */
function parseBody(text: string): object | string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return `The body is not JSON. ${HOW_TO_ASK}`;
  }
  if (Array.isArray(body)) return 'Send one operation a request, with several fields.';
  if (typeof body === 'object' && body !== null) return body;
  return `The body is not a JSON object. ${HOW_TO_ASK}`;
}

const HOW_TO_ASK = 'Send {"query": "…"} and, if need be, "variables".';

/** Any of these shows Apollo that no page of another site can send the request without a preflight. */
const BEYOND_SIMPLE = ['content-type', 'apollo-require-preflight', 'x-apollo-operation-name'];

/** What Apollo reads of the headers. A POST of JSON is such a request: it need not parse the type again. */
function headersForApollo(
  method: string,
  headers: IncomingHttpHeaders,
  mediaType: ReplyMediaType,
): HeaderMap {
  // With an empty header Apollo has nothing to negotiate.
  const texts = new HeaderMap([['accept', mediaType === 'application/json' ? '' : mediaType]]);
  if (method === 'POST') return texts.set('apollo-require-preflight', 'true');
  for (const name of BEYOND_SIMPLE) {
    const text = headers[name];
    if (typeof text === 'string') texts.set(name, text);
  }
  return texts;
}

function badRequest(status: number, message: string, headers: Refusal['headers'] = {}): Refusal {
  return { status, code: 'BAD_REQUEST', message, headers };
}

const NOT_JSON = badRequest(
  415,
  'Send the operation as JSON, with the header content-type: application/json.',
);

const NOT_ACCEPTABLE = badRequest(
  406,
  'Replies are application/json or application/graphql-response+json. Accept one of them.',
);

const TOO_LONG = badRequest(413, `A body may have ${MAX_BODY_BYTES} bytes at most.`);

/** Read beyond the limit and dropped: a client that is refused while it sends would see a broken connection, not the reply. */
const MAX_DROPPED_BYTES = 32 * 1024 * 1024;

/** `undefined` when it is too long or breaks off. By events: an iterator over a stream this short costs as much as parsing. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
    else if (length > maxBytes + MAX_DROPPED_BYTES) resolve(undefined);
    else chunks.length = 0;
  });
  request.once('end', () => {
    const [first, ...others] = chunks;
    if (length > maxBytes) resolve(undefined);
    else resolve((others.length === 0 ? first : Buffer.concat(chunks, length))?.toString() ?? '');
  });
  const breakOff = (): void => resolve(undefined);
  request.once('error', breakOff);
  request.once('close', breakOff);
  return promise;
}
