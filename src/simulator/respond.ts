import type { ServerResponse } from 'node:http';
import { refuse, type Dialect } from './dialect.ts';
import type { Fault } from './fault.ts';
import type { Reply } from './reply.ts';

const OVERSIZE_BYTES = 70_000;

/** Where a reply goes. */
export interface Destination {
  readonly response: ServerResponse;
  /** Echoed; absent where the client sent none or the operator does not echo. */
  readonly correlator: string | undefined;
  readonly dialect: Dialect;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Writes a reply, after the fault has had its way with it. */
export async function respond(
  { response, correlator, dialect, sleep }: Destination,
  reply: Reply,
  fault: Fault | undefined,
): Promise<void> {
  switch (fault?.kind) {
    case undefined:
      write(response, correlator, reply);
      return;
    case 'refuse a lookup':
      write(response, correlator, retryAfter(refuse(dialect, fault.refusal), fault));
      return;
    case 'refuse':
      write(response, correlator, refusal(fault));
      return;
    case 'delay':
      await sleep(fault.ms);
      write(response, correlator, reply);
      return;
    case 'never answer':
      return;
    case 'break the connection':
      response.socket?.resetAndDestroy();
      return;
    case 'cut the body':
      response.writeHead(reply.status, headersOf(correlator, reply));
      response.write(JSON.stringify(reply.body).slice(0, -5), () => response.destroy());
      return;
    case 'talk nonsense':
      response.writeHead(200, headersOf(correlator, { status: 200, body: {} }));
      response.end(fault.body);
      return;
    case 'send too much':
      response.writeHead(reply.status, headersOf(correlator, reply));
      response.end(JSON.stringify(reply.body) + ' '.repeat(OVERSIZE_BYTES));
      return;
    case 'mix up correlators':
      write(response, 'another-request-1', reply);
  }
}

function refusal(fault: Extract<Fault, { kind: 'refuse' }>): Reply {
  const { status, error, location } = fault;
  return retryAfter(
    {
      status,
      ...(location === undefined ? {} : { headers: { location } }),
      ...(error === undefined ? {} : { body: { error } }),
    },
    fault,
  );
}

function retryAfter(
  reply: Reply,
  { retryAfterSeconds }: { readonly retryAfterSeconds?: number },
): Reply {
  if (retryAfterSeconds === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterSeconds) } };
}

function write(response: ServerResponse, correlator: string | undefined, reply: Reply): void {
  response.writeHead(reply.status, headersOf(correlator, reply));
  response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
}

function headersOf(correlator: string | undefined, reply: Reply): Record<string, string> {
  return {
    ...(reply.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(correlator === undefined ? {} : { 'x-correlator': correlator }),
    ...reply.headers,
  };
}
