import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { HeaderMap, type ApolloServer, type HTTPGraphQLResponse } from '@apollo/server';
import type { Admitted, HttpRefusal } from '../caller/gate.ts';
import type { Clock } from '../system/clock.ts';
import {
  requestChannel,
  traced,
  type RequestMessage,
  type RequestResult,
} from '../log/diagnostics.ts';
import type { CreateContext, RequestContext } from './context.ts';
import type { SimSwapLoader } from '../simSwaps/simSwapLoader.ts';
import type { Log } from '../log/log.ts';
import { DeadlineExceeded } from '../http/abortReasons.ts';
import { createCorrelator } from '../http/correlator.ts';
import { preferredWaitMs } from '../http/prefer.ts';
import { singleValue } from '../http/singleValue.ts';
import { readTraceparent } from '../http/traceparent.ts';
import type { CrossOrigin } from './crossOrigin.ts';
import { wantsPage, type Explorer } from './explorer.ts';
import { statusOfRefusal } from './mediaType.ts';
import { readBody } from './readBody.ts';
import { replyOf, type Refusal, type Reply, type RequestReading } from './reply.ts';
import { RequestRecord, type RequestReport } from './requestRecord.ts';
import { RequestLife } from './requestLife.ts';
import { isOwnHost } from './ownHost.ts';
import { derived } from '../http/derived.ts';
import { documentNames, resolveDocument, type TrustedDocuments } from './trustedDocuments.ts';

/** A document and its variables for the most that one operation may ask; far more than either needs. */
const MAX_BODY_BYTES = 1024 * 1024;

/** At the deadline an execution answers with what it has: so long may that take. */
const LAST_WORDS_MS = 1000;

/** What the endpoint is made of. */
export interface EndpointParts {
  readonly apollo: ApolloServer<RequestContext>;
  readonly requestTimeoutMs: number;
  /** Where docs/ can be read, if that is known. */
  readonly docsUrl: string | undefined;
  /** How many requests may be under way. */
  readonly maxRequests: number;
  readonly clock: Clock;
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
  admit(headers: IncomingHttpHeaders): Promise<Admitted | HttpRefusal>;
  readonly createContext: CreateContext;
  /** Told of each request when its answer is ready. */
  onAnswered?(report: RequestReport): void;
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
  return async (request, response) => {
    const cameInAtMs = parts.clock.monotonicMs();
    const record = new RequestRecord(
      createCorrelator(singleValue(request.headers['x-correlator'])),
      parts.docsUrl,
    );
    const respond = async (): Promise<Answered> => {
      underWay += 1;
      const isTooMany = underWay > parts.maxRequests;
      const incoming = { request, response, record, isTooMany };
      const reply = await answer(parts, names(), incoming).finally(() => (underWay -= 1));
      const report = record.report(reply.status, parts.clock.monotonicMs() - cameInAtMs);
      parts.onAnswered?.(report);
      return { reply, report };
    };
    const { reply } = requestChannel.hasSubscribers
      ? await traced(requestChannel, messageOf(request, record), respond, resultOf)
      : await respond();
    return reply;
  };
}

interface Answered {
  readonly reply: Reply;
  readonly report: RequestReport;
}

function messageOf(
  { method, headers }: IncomingMessage,
  { correlator }: RequestRecord,
): RequestMessage {
  return {
    correlator: correlator.name,
    method: method === 'GET' || method === 'POST' ? method : '_OTHER',
    parent: readTraceparent(singleValue(headers['traceparent'])),
  };
}

function resultOf({ report: { status, codes, document } }: Answered): RequestResult {
  const [code = 'ok'] = codes.keys();
  const result = { outcome: 'replied', status, code } as const;
  return document === undefined ? result : { ...result, document };
}

/** A request, and what it comes to. */
interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: RequestRecord;
  /** Whether there are as many as may be under way. */
  readonly isTooMany: boolean;
}

async function answer(
  parts: EndpointParts,
  names: ReadonlyMap<string, string>,
  { request, response, record, isTooMany }: Incoming,
): Promise<Reply> {
  const { accept, host } = request.headers;
  const refuse = (refusal: Refusal): Reply => {
    record.code(refusal.code);
    return replyOf(refusal, accept, record.reference(refusal.code));
  };
  response.setHeader('x-correlator', record.correlator.returned);
  if (parts.checksHost && !isOwnHost(host)) return refuse(OTHER_HOST);
  response.setHeaders(new Map(parts.crossOrigin.headersFor(request)));
  const preflight = parts.crossOrigin.preflight(request);
  if (preflight !== undefined) return { status: 204, headers: preflight, body: '' };
  if (isTooMany) return refuse(TOO_MANY);
  if (parts.explorer !== undefined && wantsPage(request)) return parts.explorer.page();

  const life = new RequestLife(response, parts.requestTimeoutMs, parts.clock);
  const admitted = await life.within(parts.admit(request.headers));
  if (admitted === undefined) {
    tellOverdue(parts.log, life, 'who asks');
    return refuse({ ...NOT_IN_TIME, headers: CLOSE });
  }
  switch (admitted.kind) {
    case 'refused':
      return refuse({ ...admitted, headers: { ...admitted.headers, ...CLOSE } });
    case 'admitted':
      record.caller = admitted.caller.identity;
  }
  const asked = await life.within(readOperation(request, parts.trustedDocuments()));
  if (asked === undefined) return refuse({ ...NO_BODY_IN_TIME, headers: CLOSE });
  switch (asked.kind) {
    case 'refused':
      return refuse({ ...asked.refusal, headers: { ...asked.refusal.headers, ...CLOSE } });
    case 'read':
      record.document = names.get(asked.documentId ?? '');
  }
  let loader: SimSwapLoader | undefined;
  const executed = await life.within(
    parts.apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: asked.request,
      context: () => {
        const context = parts.createContext(admitted, {
          life,
          record,
          preferredWaitMs: preferredWaitMs(singleValue(request.headers['prefer'])),
        });
        loader = context.simSwaps;
        response.setHeaders(preferenceApplied(context));
        return Promise.resolve(context);
      },
    }),
    LAST_WORDS_MS,
  );
  if (executed === undefined) {
    tellOverdue(parts.log, life, 'its answers');
    return refuse({ ...NOT_IN_TIME, status: statusOfRefusal(accept, NOT_IN_TIME.status) });
  }
  // A caller that is cut off before the last byte has heard nothing: it must not cost another prompt.
  response.once('finish', () => loader?.told());
  return replyFrom(executed, record);
}

/** RFC 7240 §3: so long the request waits, be it less than it preferred. */
function preferenceApplied({ waitMs }: RequestContext): Map<string, string> {
  if (waitMs === undefined) return new Map();
  return new Map([['preference-applied', `wait=${Math.floor(waitMs / 1000)}`]]);
}

/** A caller that hangs up is no news. */
function tellOverdue(log: Log, { signal }: RequestLife, waitedFor: string): void {
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
  record: RequestRecord,
): Reply {
  if (body.kind !== 'complete') throw new Error('The schema defers nothing.');
  const isUnrecorded = status >= 400 && record.codes.size === 0;
  return {
    status,
    // Answers are about people: no cache may store them.
    headers: { ...Object.fromEntries(headers), 'cache-control': 'no-store' },
    body: isUnrecorded ? referring(body.string, record) : body.string,
  };
}

/** What Apollo refuses before it has an operation passes no plugin: a single error, and short. */
function referring(body: string, record: RequestRecord): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as formatError makes it
  const { errors } = JSON.parse(body) as { errors: readonly { extensions: { code: string } }[] };
  for (const { extensions } of errors) {
    record.code(extensions.code);
    Object.assign(extensions, record.reference(extensions.code));
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
    return badRequest(400, 'Send one operation a request; ask several fields in it.');
  }
  if (typeof body !== 'object' || body === null) {
    return badRequest(400, `The body is no JSON object. ${HOW_TO_ASK}`);
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
