import type { ServerResponse } from 'node:http';
import { refuse, refuseAuthorization, type Dialect } from './dialect.ts';
import type { Fault } from './fault.ts';
import type { Reply } from './reply.ts';

const OVERSIZE_BYTES = 70_000;

/** Where a reply goes. */
export interface Destination {
  readonly response: ServerResponse;
  /** The correlator to echo; absent where the client sent none or the operator does not echo. */
  readonly correlator: string | undefined;
  readonly dialect: Dialect;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Writes a reply, changed by the fault. */
export async function respond(
  destination: Destination,
  reply: Reply,
  fault: Fault | undefined,
): Promise<void> {
  const { response, dialect, sleep } = destination;
  switch (fault?.kind) {
    case undefined:
      write(destination, reply);
      return;
    case 'refuse a lookup':
      write(destination, retryAfter(refuse(dialect, fault.refusal), fault));
      return;
    case 'refuse':
      write(destination, refusal(dialect, fault));
      return;
    case 'delay':
      await sleep(fault.ms);
      write(destination, reply);
      return;
    case 'never answer':
      return;
    case 'break the connection':
      response.socket?.resetAndDestroy();
      return;
    case 'cut the body':
      response.writeHead(reply.status, headersOf(destination, reply));
      response.write(JSON.stringify(reply.body).slice(0, -5), () => response.destroy());
      return;
    case 'talk nonsense':
      response.writeHead(200, headersOf(destination, { status: 200, body: {} }));
      response.end(fault.body);
      return;
    case 'send too much':
      response.writeHead(reply.status, headersOf(destination, reply));
      response.end(JSON.stringify(reply.body) + ' '.repeat(OVERSIZE_BYTES));
      return;
    case 'mix up correlators':
      write({ ...destination, correlator: 'another-request-1' }, reply);
  }
}

function refusal(dialect: Dialect, fault: Extract<Fault, { kind: 'refuse' }>): Reply {
  const { status, error, location } = fault;
  return retryAfter(
    {
      ...(error === undefined ? { status } : refuseAuthorization(dialect, status, error)),
      ...(location === undefined ? {} : { headers: { location } }),
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

function write(destination: Destination, reply: Reply): void {
  const { response } = destination;
  response.writeHead(reply.status, headersOf(destination, reply));
  response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
}

function headersOf({ correlator, dialect }: Destination, reply: Reply): Record<string, string> {
  return {
    ...(reply.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(correlator === undefined ? {} : { [dialect.correlatorHeader]: correlator }),
    ...reply.headers,
  };
}
