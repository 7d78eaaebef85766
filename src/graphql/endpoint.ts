import { HeaderMap, type ApolloServer, type HTTPGraphQLResponse } from '@apollo/server';
import type { Gate, RefusalReason } from '../caller/gate.ts';
import {
  requestChannel,
  traced,
  type RequestMessage,
  type RequestResult,
} from '../log/diagnostics.ts';
import type { Log } from '../log/log.ts';
import { DeadlineExceeded } from '../http/requestLife.ts';
import { singleValue, preferredWaitMs, readTraceparent } from '../http/headers.ts';
import type { CrossOrigin } from './crossOrigin.ts';
import { wantsPage, type Explorer } from './explorer.ts';
import { statusOfRefusal } from './mediaType.ts';
import { replyOf, type Refusal, type Reply, type RequestReading } from './reply.ts';
import {
  GraphqlRequest,
  type RequestContext,
  type RequestParts,
  type RequestReport,
} from './request.ts';
import { isOwnHost } from '../http/address.ts';
import { derived } from '../system/fromFiles.ts';
import { documentNames, resolveDocument, type TrustedDocuments } from './trustedDocuments.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A document and its variables for the most that one operation may ask; far more than either needs. */
const MAX_BODY_BYTES = 1024 * 1024;

/** At the deadline an execution answers with what it has: so long may that take. */
const LAST_WORDS_MS = 1000;

export interface EndpointParts extends RequestParts {
  readonly apollo: ApolloServer<RequestContext>;
  readonly config: RequestParts['config'] & { readonly requestTimeoutMs: number };
  readonly maxRequests: number;
  readonly log: Log;
  /** As they are by now. Where there are any, nothing else is served. */
  readonly trustedDocuments: () => TrustedDocuments | undefined;
  /** What a browser sees; nothing where there is none. */
  readonly explorer: Explorer | undefined;
  readonly crossOrigin: CrossOrigin;
  /**
   * Whether a request must name this machine: a page of another site whose name leads here asks under that name. Where
   * a token is needed, it has none.
   */
  readonly checksHost: boolean;
  /** Who sends it, and whether they may: told from the headers, before anything else is read. */
  readonly gate: Pick<Gate, 'admit'>;
  readonly observation: {
    /** Told of each request when its answer is ready. */
    onAnswered(report: RequestReport): void;
    onRefused(reason: RefusalReason): void;
  };
}

/**
 * GraphQL over HTTP on a bare node:http handler. Everything that it does for a request is inside the
 * request's time. Never rejects for what a client does.
 */
export function createEndpoint(
  parts: EndpointParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<Reply> {
  const names = derived(parts.trustedDocuments, (documents = new Map()) =>
    documentNames(documents),
  );
  let underWay = 0;
  return async (incoming, response) => {
    const request = new GraphqlRequest(parts, {
      timeoutMs: parts.config.requestTimeoutMs,
      correlator: singleValue(incoming.headers['x-correlator']),
    });
    const respond = async (): Promise<ReportedReply> => {
      underWay += 1;
      const isTooMany = underWay > parts.maxRequests;
      const arrived = { incoming, response, request, isTooMany };
      const reply = await answer(parts, names(), arrived).finally(() => (underWay -= 1));
      const report = request.report(reply.status);
      parts.observation.onAnswered(report);
      return { reply, report };
    };
    const message = messageOf(incoming, request);
    const { reply } = await traced(requestChannel, message, respond, resultOf);
    return reply;
  };
}

interface ReportedReply {
  readonly reply: Reply;
  readonly report: RequestReport;
}

function messageOf(
  { method, headers }: IncomingMessage,
  { correlator }: GraphqlRequest,
): RequestMessage {
  return {
    correlator: correlator.name,
    method: method === 'GET' || method === 'POST' ? method : '_OTHER',
    parent: readTraceparent(singleValue(headers['traceparent'])),
  };
}

function resultOf({ report: { status, codes, document } }: ReportedReply): RequestResult {
  const [code = 'ok'] = codes.keys();
  const result = { outcome: 'replied', status, code } as const;
  return document === undefined ? result : { ...result, document };
}

interface Arrived {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: GraphqlRequest;
  readonly isTooMany: boolean;
}

async function answer(
  parts: EndpointParts,
  names: ReadonlyMap<string, string>,
  { incoming, response, request, isTooMany }: Arrived,
): Promise<Reply> {
  const { headers } = incoming;
  const { accept } = headers;
  const refuse = (refusal: Refusal): Reply => {
    request.countCode(refusal.code);
    return replyOf(refusal, accept, request.reference(refusal.code));
  };
  response.setHeader('x-correlator', request.correlator.returned);
  if (parts.checksHost && !isOwnHost(headers.host)) return refuse(OTHER_HOST);
  response.setHeaders(new Map(parts.crossOrigin.headersFor(incoming)));
  const preflight = parts.crossOrigin.preflight(incoming);
  if (preflight !== undefined) return { status: 204, headers: preflight, body: '' };
  if (isTooMany) return refuse(TOO_MANY);
  if (parts.explorer !== undefined && wantsPage(incoming)) return parts.explorer.page();

  request.begin();
  response.once('close', () => {
    request.pause();
    if (!response.writableFinished) request.hangUp();
  });
  const admitted = await request.within(parts.gate.admit(headers));
  if (admitted === undefined) {
    tellOverdue(parts.log, request, 'who asks');
    return refuse({ ...NOT_IN_TIME, headers: CLOSE });
  }
  switch (admitted.kind) {
    case 'refused':
      parts.observation.onRefused(admitted.reason);
      return refuse({ ...admitted, headers: { ...admitted.headers, ...CLOSE } });
    case 'admitted':
      request.admit(admitted, preferredWaitMs(singleValue(headers['prefer'])));
  }
  const asked = await request.within(readOperation(incoming, parts.trustedDocuments()));
  if (asked === undefined) return refuse({ ...NO_BODY_IN_TIME, headers: CLOSE });
  switch (asked.kind) {
    case 'refused':
      return refuse({ ...asked.refusal, headers: { ...asked.refusal.headers, ...CLOSE } });
    case 'read':
      request.document = names.get(asked.documentId ?? '');
  }
  const executed = await request.within(
    parts.apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: asked.request,
      context: () => {
        response.setHeaders(preferenceApplied(request));
        return Promise.resolve({ request });
      },
    }),
    LAST_WORDS_MS,
  );
  if (executed === undefined) {
    tellOverdue(parts.log, request, 'its answers');
    return refuse({ ...NOT_IN_TIME, status: statusOfRefusal(accept, NOT_IN_TIME.status) });
  }
  // A caller that is cut off before the last byte has heard nothing: it must not cost another prompt.
  response.once('finish', () => request.told());
  return replyFrom(executed, request);
}

/** RFC 7240 §3: so long the request waits, be it less than it preferred. */
function preferenceApplied({ waitMs }: GraphqlRequest): Map<string, string> {
  if (waitMs === undefined) return new Map();
  return new Map([['preference-applied', `wait=${Math.floor(waitMs / 1000)}`]]);
}

/** A caller that hangs up is no news. */
function tellOverdue(log: Log, { signal }: GraphqlRequest, waitedFor: string): void {
  if (signal.reason instanceof DeadlineExceeded) {
    log.error('a request did not end in its time', { waitedFor });
  }
}

/** What is left of the body would be taken for the next request. */
const CLOSE = { connection: 'close' };

const OTHER_HOST: Refusal = {
  status: 421,
  code: 'BAD_REQUEST',
  message:
    'This service does not answer under the host that the request names. Ask it at localhost.',
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
  return {
    status,
    // Answers are about people: no cache may store them.
    headers: { ...Object.fromEntries(headers), 'cache-control': 'no-store' },
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
  request: IncomingMessage,
  trustedDocuments: TrustedDocuments | undefined,
): Promise<RequestReading> {
  const read = await readRequest(request);
  switch (read.kind) {
    case 'refused':
      return read;
    case 'read':
      return trustedDocuments === undefined
        ? read
        : resolveDocument(read.request, trustedDocuments);
  }
}

async function readRequest(request: IncomingMessage): Promise<RequestReading> {
  const method = request.method ?? 'GET';
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (method !== 'POST' && method !== 'GET' && method !== 'HEAD') {
    return badRequest(405, 'GraphQL takes POST, and GET for queries.', { allow: 'GET, POST' });
  }
  const question = (request.url ?? '').indexOf('?');
  const search = question < 0 ? '' : (request.url ?? '').slice(question);
  if (method !== 'POST') {
    return { kind: 'read', request: { method, headers, search, body: undefined } };
  }

  if (!/^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')) {
    await readBody(request, 0);
    return badRequest(
      415,
      'Send the operation as JSON, with the header content-type: application/json.',
    );
  }
  const text = await readBody(request, MAX_BODY_BYTES);
  if (text === undefined) {
    return badRequest(413, `A body may have ${MAX_BODY_BYTES} bytes at most.`);
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return badRequest(400, `The body is not JSON. ${HOW_TO_ASK}`);
  }
  if (Array.isArray(body)) {
    return badRequest(400, 'Send one operation a request, with several fields.');
  }
  if (typeof body !== 'object' || body === null) {
    return badRequest(400, `The body is not a JSON object. ${HOW_TO_ASK}`);
  }
  return { kind: 'read', request: { method, headers, search, body } };
}

const HOW_TO_ASK = 'Send {"query": "…"} and, if need be, "variables".';

function badRequest(
  status: number,
  message: string,
  headers: Refusal['headers'] = {},
): RequestReading {
  return { kind: 'refused', refusal: { status, code: 'BAD_REQUEST', message, headers } };
}

/**
 * What is too long is read on to its end, and dropped, up to so much: a client that is refused while it
 * still sends would find its connection broken, and not the reply that says why.
 */
const MAX_DROPPED_BYTES = 32 * 1024 * 1024;

/**
 * Reads a request's body as text; `undefined` when it is longer than it may be, and when it breaks off.
 * By events: an iterator over so short a stream costs as much as parsing what it holds.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else if (length > maxBytes + MAX_DROPPED_BYTES) resolve(undefined);
      else chunks.length = 0;
    });
    request.once('end', () => {
      resolve(length <= maxBytes ? Buffer.concat(chunks, length).toString('utf8') : undefined);
    });
    request.once('error', () => resolve(undefined));
    request.once('close', () => resolve(undefined));
  });
}
