import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { HeaderMap, type ApolloServer, type HTTPGraphQLRequest } from '@apollo/server';
import type { Admitted, TurnedAway } from '../caller/gate.ts';
import type { RequestContext } from '../context.ts';
import { CallerGone, DeadlineExceeded } from '../http/abortReasons.ts';
import { createCorrelator, type Correlator } from '../http/correlator.ts';
import { wantsPage, type Explorer } from './explorer.ts';
import { readBody } from './readBody.ts';
import { resolveDocument, type TrustedDocuments } from './trustedDocuments.ts';

/** A document and its variables for the most that one operation may ask; far more than either needs. */
const LARGEST_BODY_BYTES = 1024 * 1024;

/** How long a request has, how it ends, and what it is called. */
export interface RequestLife {
  /** Aborted when the caller hangs up and when the time is over. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly correlator: Correlator;
}

/** What the endpoint is made of. */
export interface EndpointParts {
  readonly apollo: ApolloServer<RequestContext>;
  readonly requestTimeoutMs: number;
  /** Where there are any, nothing else is served. */
  readonly trustedDocuments: TrustedDocuments | undefined;
  /** What a browser sees; nothing where there is none. */
  readonly explorer: Explorer | undefined;
  /** Who sends it, and whether they may: told from the headers, before anything else is read. */
  admit(headers: IncomingHttpHeaders): Promise<Admitted | TurnedAway>;
  createContext(admitted: Admitted, life: RequestLife): RequestContext;
}

const BAD_REQUEST = 'BAD_REQUEST';

/** A request that does not get as far as GraphQL, and the status that says so. */
interface BadRequest {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** GraphQL over HTTP on a bare node:http handler. Never rejects for what a client does. */
export function createEndpoint(
  parts: EndpointParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    if (parts.explorer !== undefined && wantsPage(request)) {
      await parts.explorer.send(response);
      return;
    }
    const correlator = createCorrelator(singleValue(request.headers['x-correlator']));
    response.setHeader('x-correlator', correlator.returned);
    const aborter = new AbortController();
    const timer = setTimeout(() => {
      aborter.abort(new DeadlineExceeded());
    }, parts.requestTimeoutMs);
    response.once('close', () => {
      clearTimeout(timer);
      if (!response.writableFinished) aborter.abort(new CallerGone());
    });

    const admitted = await parts.admit(request.headers);
    if ('status' in admitted) {
      refuse(response, admitted);
      return;
    }
    const read = await readRequest(request);
    const { trustedDocuments } = parts;
    const asked =
      trustedDocuments === undefined || 'status' in read
        ? read
        : resolveDocument(read, trustedDocuments);
    if ('status' in asked) {
      refuse(response, asked);
      return;
    }
    const life = { signal: aborter.signal, timeoutMs: parts.requestTimeoutMs, correlator };
    const { status, headers, body } = await parts.apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: asked,
      context: () => Promise.resolve(parts.createContext(admitted, life)),
    });
    for (const [name, value] of headers) response.setHeader(name, value);
    // Answers are about people: nobody in between may keep them.
    response.setHeader('cache-control', 'no-store');
    response.statusCode = status ?? 200;
    if (body.kind === 'complete') {
      response.end(body.string);
      return;
    }
    for await (const chunk of body.asyncIterator) response.write(chunk);
    response.end();
  };
}

function singleValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

async function readRequest(request: IncomingMessage): Promise<HTTPGraphQLRequest | BadRequest> {
  const method = request.method ?? 'GET';
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (method !== 'POST' && method !== 'GET' && method !== 'HEAD') {
    return { status: 405, code: BAD_REQUEST, message: 'GraphQL takes POST, and GET for queries.' };
  }
  const question = (request.url ?? '').indexOf('?');
  const search = question < 0 ? '' : (request.url ?? '').slice(question);
  if (method !== 'POST') return { method, headers, search, body: undefined };

  if (!/^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')) {
    return {
      status: 415,
      code: BAD_REQUEST,
      message: 'Send the operation as JSON, with the header content-type: application/json.',
    };
  }
  const text = await readBody(request, LARGEST_BODY_BYTES);
  if (text === undefined) {
    return {
      status: 413,
      code: BAD_REQUEST,
      message: `A body may have ${LARGEST_BODY_BYTES} bytes at most.`,
    };
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { status: 400, code: BAD_REQUEST, message: `The body is not JSON. ${HOW_TO_ASK}` };
  }
  if (Array.isArray(body)) {
    return {
      status: 400,
      code: BAD_REQUEST,
      message: 'Send one operation a request; ask several fields in it.',
    };
  }
  if (typeof body !== 'object' || body === null) {
    return { status: 400, code: BAD_REQUEST, message: `The body is no JSON object. ${HOW_TO_ASK}` };
  }
  return { method, headers, search, body };
}

const HOW_TO_ASK = 'Send {"query": "…"} and, if need be, "variables".';

function refuse(response: ServerResponse, { status, code, message, headers }: BadRequest): void {
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    // What is left of the body would be taken for the next request.
    connection: 'close',
    ...(status === 405 ? { allow: 'GET, POST' } : {}),
  });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
}
