import {
  HeaderMap,
  type ApolloServer,
  type HTTPGraphQLRequest,
  type HTTPGraphQLResponse,
} from '@apollo/server';
import type { Gate, RefusalReason } from '../caller/gate.ts';
import {
  requestChannel,
  traced,
  type RequestMessage,
  type RequestResult,
} from '../log/diagnostics.ts';
import type { Log } from '../log/log.ts';
import { PerTurn } from '../system/perTurn.ts';
import { DeadlineExceeded } from '../system/urgency.ts';
import { byText } from './apollo.ts';
import { Body, type BodyFault } from './body.ts';
import type { BodyPace } from './bodyPace.ts';
import { singleValue, preferredWaitMs, readHost, readTraceparent } from '../wire/headers.ts';
import { admitOrigin } from './crossOrigin.ts';
import { linesOf, MAX_LINES } from './documents.ts';
import { wantsPage, type Explorer } from './explorer.ts';
import { FairShares, Share, UNKNOWN_CALLER, UNKNOWN_KEY, type RequestLoad } from './fairShares.ts';
import { cutOperation, isMembers, type Members } from './operation.ts';
import { limitExceeded, type OperationLimits } from './operationCost.ts';
import {
  statusOfRefusal,
  replyMediaType,
  replyOf,
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
import { isOwnHost } from '../wire/wireSettings.ts';
import type { Turns } from './turns.ts';
import { resolveDocument, type TrustedDocuments } from './trustedDocuments.ts';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** How long an execution may take to answer with what it has at the deadline. */
const GRACE_MS = 1000;

/** How many requests end in one turn of the event loop: each writes a reply, of a hundred errors perhaps. */
const DEADLINES_A_TURN = 64;

export interface EndpointParts extends RequestParts {
  readonly apollo: ApolloServer<RequestContext>;
  readonly config: RequestParts['config'] & {
    readonly limits: Pick<OperationLimits, 'maxNumbersPerOperation'>;
    readonly requestTimeoutMs: number;
    readonly allowedOrigins: readonly string[];
  };
  /** The limits on what all requests hold together. */
  readonly load: RequestLoad;
  readonly pace: BodyPace;
  readonly turns: Turns;
  readonly log: Log;
  /** The current documents; where there are any, no others are served. */
  readonly trustedDocuments: () => TrustedDocuments | undefined;
  readonly explorer: Explorer | undefined;
  /**
   * Whether `host` must name this machine: without tokens, DNS rebinding would let pages send requests under its name.
   */
  readonly checksHost: boolean;
  readonly gate: Pick<Gate, 'admit'>;
  readonly observation: {
    onAnswered(report: RequestReport): void;
    onRefused(reason: RefusalReason): void;
  };
}

/** GraphQL over HTTP, within each request's time; adds to the headers of any reply. No client can make it reject. */
export function createEndpoint(
  parts: EndpointParts,
): (incoming: IncomingMessage, response: ServerResponse, headers: ReplyHeaders) => Promise<Reply> {
  const places = new FairShares(parts.load.heldBytes);
  const deadlines = new PerTurn(DEADLINES_A_TURN);
  const endpoint: Endpoint = {
    ...parts,
    bodies: new FairShares(parts.load.bodyBytes),
  };
  return (incoming, response, headers) => {
    const request = new GraphqlRequest(parts, {
      timeoutMs: parts.config.requestTimeoutMs,
      correlator: singleValue(incoming.headers['x-correlator']),
      deadlines,
    });
    headers['x-correlator'] = request.correlator.returned;
    const respond = async (): Promise<Reply> => {
      const place = new Share(places, UNKNOWN_CALLER);
      const arrived: Arrived = { incoming, response, headers, request, place };
      try {
        const early = replyBefore(parts, arrived);
        const reply = await (early ?? answer(endpoint, arrived));
        parts.observation.onAnswered(request.report(reply.status));
        return reply;
      } finally {
        if (arrived.overdue === undefined) place.release();
        else arrived.overdue.finally(() => place.release()).catch(() => undefined);
      }
    };
    const message = (): RequestMessage => messageOf(incoming, request);
    return traced(requestChannel, message, respond, ({ status }) =>
      resultOf(request.report(status)),
    );
  };
}

function messageOf(
  { method, httpVersion, headers: { host, traceparent, tracestate } }: IncomingMessage,
  { correlator }: GraphqlRequest,
): RequestMessage {
  return {
    correlator: correlator.name,
    method: method === 'GET' || method === 'POST' ? method : '_OTHER',
    httpVersion,
    host: readHost(host),
    parent: readTraceparent(singleValue(traceparent), singleValue(tracestate)),
  };
}

function resultOf({ status, codes, document, operation }: RequestReport): RequestResult {
  const [code = 'ok'] = codes.keys();
  return {
    outcome: 'replied',
    status,
    code,
    ...(document === undefined ? {} : { document }),
    ...(operation === undefined ? {} : { operation }),
  };
}

interface Endpoint extends EndpointParts {
  readonly bodies: FairShares;
}

interface Arrived {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: ReplyHeaders;
  readonly request: GraphqlRequest;
  /** The request's share of what all requests may hold, until it is answered. */
  readonly place: Share;
  /** An execution that continues after the reply. */
  overdue?: Promise<unknown>;
}

function refuse(refusal: Refusal, { incoming, request }: Arrived): Reply {
  request.countCode(refusal.code);
  return replyOf(refusal, incoming.headers.accept, request.reference(refusal.code));
}

/** A reply that does not depend on the caller; `undefined` for every other request. */
function replyBefore(
  { checksHost, config: { allowedOrigins }, load, explorer }: EndpointParts,
  arrived: Arrived,
): Promise<Reply> | Reply | undefined {
  const { incoming, headers, place } = arrived;
  if (checksHost && !isOwnHost(incoming.headers.host)) return refuse(OTHER_HOST, arrived);
  const preflight =
    allowedOrigins.length === 0 ? undefined : admitOrigin(allowedOrigins, incoming, headers);
  if (preflight !== undefined) return preflight;
  if (!place.add(load.placeBytes)) return refuse(NO_ROOM, arrived);
  return incoming.method === 'GET' && wantsPage(incoming) ? explorer?.() : undefined;
}

async function answer(endpoint: Endpoint, arrived: Arrived): Promise<Reply> {
  const { gate, apollo, log, observation } = endpoint;
  const { incoming, response, headers, request, place } = arrived;
  let isExecuted = false;
  request.life.begin();
  response.once('close', () => {
    request.life.pause();
    // A caller that is cut off before the last byte has no answer: its next request must not cost another prompt.
    if (!response.writableFinished) request.life.hangUp();
    else if (isExecuted) request.delivered();
  });

  const admission = gate.admit(incoming.headers, () => place.moveTo(UNKNOWN_KEY));
  const admitted = admission instanceof Promise ? await request.life.within(admission) : admission;
  if (admitted === undefined) {
    reportOverdue(log, request, 'who asks');
    return refuse({ ...REQUEST_DEADLINE_EXCEEDED, headers: CLOSE }, arrived);
  }
  if (admitted.kind === 'refused') {
    observation.onRefused(admitted.reason);
    return refuse({ ...admitted, headers: { ...admitted.headers, ...CLOSE } }, arrived);
  }
  request.admit(admitted, preferredWaitMs(singleValue(incoming.headers.prefer)));
  if (!place.moveTo(request.caller.key)) return refuse(NO_ROOM, arrived);

  const reading = await request.life.within(readRequest(endpoint, arrived));
  if (reading === undefined) {
    const refusal = incoming.complete ? REQUEST_DEADLINE_EXCEEDED : BODY_DEADLINE_EXCEEDED;
    return refuse({ ...refusal, headers: CLOSE }, arrived);
  }
  if ('code' in reading) {
    return refuse({ ...reading, headers: { ...reading.headers, ...CLOSE } }, arrived);
  }
  request.document = reading.document;

  const executing = apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: reading.request,
    context: () => {
      const { waitMs } = request;
      // RFC 7240 §3: how long the request waits, which may be less than it preferred.
      if (waitMs !== undefined) {
        headers['preference-applied'] = `wait=${Math.floor(waitMs / 1000)}`;
      }
      return Promise.resolve({ request });
    },
  });
  const executed = await request.life.within(executing, GRACE_MS);
  if (executed === undefined) {
    arrived.overdue = executing;
    reportOverdue(log, request, 'its answers');
    const status = statusOfRefusal(incoming.headers.accept, REQUEST_DEADLINE_EXCEEDED.status);
    return refuse({ ...REQUEST_DEADLINE_EXCEEDED, status }, arrived);
  }
  isExecuted = true;
  return replyFrom(executed, request);
}

/** Logs a request that did not end in time, unless its caller hung up. */
function reportOverdue(log: Log, { signal }: GraphqlRequest, waitedFor: string): void {
  if (signal.reason instanceof DeadlineExceeded) {
    log.error('A request did not end in time.', { waitedFor });
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

const REQUEST_DEADLINE_EXCEEDED = { status: 503, code: 'UNAVAILABLE' } satisfies Refusal;

/** No room for the request, or for its body. */
const NO_ROOM: Refusal = {
  status: 503,
  code: 'UNAVAILABLE',
  headers: { ...CLOSE, 'retry-after': '1' },
};

const BODY_DEADLINE_EXCEEDED: Refusal = {
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
  // Answers are about people, and no cache may store them: every reply has our header instead of Apollo's.
  headers.delete('cache-control');
  return {
    status,
    headers: Object.fromEntries(headers),
    body: isUnrecorded ? withReference(body.string, request) : body.string,
  };
}

/**
 * Adds the reference to what Apollo refuses before it has an operation: a single, short error, which reaches no plugin.
 */
function withReference(body: string, request: GraphqlRequest): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as formatError makes it
  const { errors } = JSON.parse(body) as { errors: readonly { extensions: { code: string } }[] };
  for (const { extensions } of errors) {
    request.countCode(extensions.code);
    Object.assign(extensions, request.reference(extensions.code));
  }
  return JSON.stringify({ errors });
}

interface ReadRequest {
  readonly request: HTTPGraphQLRequest;
  /** The name of the trusted document, where it is one. */
  readonly document: string | undefined;
}

/** What Apollo executes; nothing else of the request is held (docs/design.md, "Limits"). */
async function readRequest(
  endpoint: Endpoint,
  { incoming, request, place }: Arrived,
): Promise<ReadRequest | Refusal> {
  const {
    load,
    turns,
    trustedDocuments,
    config: { limits },
  } = endpoint;
  const { method = 'GET', url = '', headers } = incoming;
  const mediaType = replyMediaType(headers.accept);
  if (method !== 'GET' && method !== 'POST') {
    return badRequest(405, 'GraphQL takes POST, and GET for queries.', { allow: 'GET, POST' });
  }
  const { key } = request.caller;
  let body: Body | undefined;
  if (method === 'POST') {
    const type = headers['content-type'] ?? '';
    if (type !== 'application/json' && !JSON_TYPE.test(type)) return NOT_JSON;
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding.toLowerCase() !== 'identity') return ENCODED;
    const read = await Body.read(incoming, key, endpoint);
    if (!(read instanceof Body)) return faultOf(read, load);
    body = read;
  }
  if (mediaType === undefined) {
    body?.giveUp();
    return NOT_ACCEPTABLE;
  }
  const turn = turns.take(key, request);
  if (turn !== undefined) await turn;
  if (request.signal.aborted) {
    body?.giveUp();
    return REQUEST_DEADLINE_EXCEEDED;
  }
  // In one step, and in the same turn as the execution: nothing else is held in between.
  const search = new URLSearchParams(body === undefined ? /\?.*/s.exec(url)?.[0] : undefined);
  const sent = body === undefined ? sentIn(search) : parseBody(body.take());
  if (typeof sent === 'string') return badRequest(400, sent);
  const documents = trustedDocuments();
  const named = resolveDocument(sent, documents);
  if ('code' in named) return named;
  if (method === 'POST' && named.sent['query'] === undefined) return NO_QUERY;
  const { members, heldBytes, tooLongList } = cutOperation(
    named.sent,
    limits.maxNumbersPerOperation,
  );
  if (tooLongList !== undefined) {
    const limit = limits.maxNumbersPerOperation;
    const { message, extensions } = limitExceeded({
      limited: 'numbers',
      limit,
      asked: tooLongList,
    });
    const { code: _code, ...details } = extensions;
    const status = statusOfRefusal(headers.accept, 400);
    return { status, code: 'LOOKUP_LIMIT_EXCEEDED', message, details };
  }
  const { query } = members;
  if (typeof query === 'string' && query.length >= MAX_LINES && linesOf(query) > MAX_LINES) {
    return TOO_MANY_LINES;
  }
  if (!place.add(heldBytes)) return NO_ROOM;
  const read: HTTPGraphQLRequest =
    method === 'POST'
      ? { method, headers: HEADERS_OF_POST[mediaType], search: '', body: byText(members) }
      : {
          method,
          headers: headersOfGet(headers, mediaType),
          search: `?${searchOf(members, search, documents !== undefined)}`,
          body: undefined,
        };
  return { request: read, document: named.document };
}

/** JSON is UTF-8 (RFC 8259 §8.1); text in another `charset` would be read as other letters. */
const JSON_TYPE =
  /^application\/json\s*(?:$|;(?!(?:.*;)?\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))))/i;

function faultOf(fault: BodyFault, { maxBodyBytes, maxBodyValues }: RequestLoad): Refusal {
  switch (fault) {
    case 'too-long':
      return badRequest(413, `A body may have ${maxBodyBytes} bytes at most.`);
    case 'too-many-values':
      return badRequest(413, `A body may have ${maxBodyValues} values at most. ${WHAT_TO_SEND}`);
    case 'no-room':
      return NO_ROOM;
    case 'late':
    case 'broken-off':
      return BODY_DEADLINE_EXCEEDED;
  }
}

const WHAT_TO_SEND =
  'Send no more than the operation reads: of a representation, __typename and e164.';

/** The body, or a text that describes what is wrong with it. */
function parseBody(text: string): Members | string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return `The body is not JSON. ${EXPECTED_BODY}`;
  }
  if (Array.isArray(body)) return 'Send one operation per request, with several fields.';
  return isMembers(body) ? body : `The body is not a JSON object. ${EXPECTED_BODY}`;
}

const EXPECTED_BODY = 'Send {"query": "…"} and, if need be, "variables".';

const NO_QUERY = badRequest(400, `The body has no query. ${EXPECTED_BODY}`);

function sentIn(search: URLSearchParams): Members {
  return Object.fromEntries(
    ['query', 'operationName', 'documentId', 'variables', 'extensions'].map((name) => {
      const text = search.get(name) ?? undefined;
      return [name, name === 'variables' || name === 'extensions' ? parsed(text) : text];
    }),
  );
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * As it was sent, so that Apollo refuses members that occur twice, and what is not JSON.
 *
 * @param isResolved whether its document was named by what was sent
 */
function searchOf(members: Members, search: URLSearchParams, isResolved: boolean): string {
  if (isResolved) for (const name of ['documentId', 'extensions']) search.delete(name);
  for (const [name, value] of Object.entries(members)) {
    if (search.getAll(name).length > 1) continue;
    search.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return search.toString();
}

/** Each of these shows Apollo that no page of another site can send the request without a preflight. */
const BEYOND_SIMPLE = ['content-type', 'apollo-require-preflight', 'x-apollo-operation-name'];

/** With an empty header Apollo has nothing to negotiate. */
const ACCEPT = {
  'application/json': '',
  'application/graphql-response+json': 'application/graphql-response+json',
} as const satisfies Record<ReplyMediaType, string>;

/** The headers that Apollo reads, and does not change. A POST of JSON is such a request: it need not parse the type again. */
const HEADERS_OF_POST: Readonly<Record<ReplyMediaType, HeaderMap>> = {
  'application/json': headersOfPost('application/json'),
  'application/graphql-response+json': headersOfPost('application/graphql-response+json'),
};

function headersOfPost(mediaType: ReplyMediaType): HeaderMap {
  return new HeaderMap([
    ['accept', ACCEPT[mediaType]],
    ['apollo-require-preflight', 'true'],
  ]);
}

function headersOfGet(headers: IncomingHttpHeaders, mediaType: ReplyMediaType): HeaderMap {
  const texts = new HeaderMap([['accept', ACCEPT[mediaType]]]);
  for (const name of BEYOND_SIMPLE) {
    const text = headers[name];
    if (typeof text === 'string') texts.set(name, text);
  }
  return texts;
}

function badRequest(status: number, message: string, headers: Refusal['headers'] = {}): Refusal {
  return { status, code: 'BAD_REQUEST', message, headers };
}

const TOO_MANY_LINES = badRequest(
  400,
  `A document may have ${MAX_LINES.toLocaleString('en')} lines at most.`,
);

const NOT_JSON = badRequest(
  415,
  'Send the operation as JSON in UTF-8, with the header content-type: application/json.',
);

const ENCODED = badRequest(
  415,
  'Send the body as it is, without the header content-encoding: it is not decompressed here.',
  { 'accept-encoding': 'identity' },
);

const NOT_ACCEPTABLE = badRequest(
  406,
  'Replies are application/json or application/graphql-response+json. Accept one of them.',
);
