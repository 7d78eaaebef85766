import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { errorName } from '../src/domain/errors.ts';
import { refusesCertificate, type ConnectStage } from '../src/wire/connectFailure.ts';

/** A server's HTTP reply to a request without effect. */
export interface HttpFacts {
  readonly version: 'HTTP/1.1' | 'HTTP/2';
  readonly status: number;
  /** How long it keeps a connection between two requests, in its own words; `closed` where it closes after each. */
  readonly keepAlive: 'closed' | 'kept' | `kept for ${string} s`;
}

/** A reply, or what prevented it. */
export type HttpProbe =
  | { readonly kind: 'replied'; readonly facts: HttpFacts }
  | { readonly kind: 'broke'; readonly stage: ConnectStage; readonly code: string };

/**
 * Sends one GET without credentials over a connection, and ends it. GET is safe (RFC 9110 §9.2.1) and the
 * endpoints take only POST: nothing is looked up, and nothing can be billed. Never rejects.
 */
export async function probeHttp(socket: Socket, url: URL, timeoutMs: number): Promise<HttpProbe> {
  const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
  try {
    const exchange = isHttp2 ? getByHttp2(socket, url) : getByHttp1(socket, url);
    return { kind: 'replied', facts: await withinTime(exchange, timeoutMs) };
  } catch (error) {
    return { kind: 'broke', stage: stageOf(error), code: errorName(error) };
  } finally {
    socket.destroy();
  }
}

/** With TLS 1.3 a server refuses our certificate after our side has finished the handshake. */
function stageOf(error: unknown): ConnectStage {
  return error instanceof Error && refusesCertificate(error) ? 'client-certificate' : 'connection';
}

function getByHttp1(socket: Socket, url: URL): Promise<HttpFacts> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      createConnection: () => socket,
      path: url.pathname,
      headers: { host: url.host, accept: 'application/json', connection: 'keep-alive' },
    });
    // To the end: an error after the reply, such as our own hanging up, must not end the program.
    outgoing.on('error', reject);
    outgoing.once('response', (response) => {
      response.resume();
      const { connection = 'keep-alive', 'keep-alive': kept = '' } = response.headers;
      const seconds = /timeout=(\d{1,6})/.exec(String(kept))?.[1];
      resolve({
        version: 'HTTP/1.1',
        status: response.statusCode ?? 0,
        keepAlive: keepAliveOf(response.httpVersion, connection, seconds),
      });
    });
    outgoing.end();
  });
}

function keepAliveOf(
  version: string,
  connection: string,
  seconds: string | undefined,
): HttpFacts['keepAlive'] {
  if (version === '1.0' || connection.toLowerCase() === 'close') return 'closed';
  return seconds === undefined ? 'kept' : `kept for ${seconds} s`;
}

function getByHttp2(socket: Socket, url: URL): Promise<HttpFacts> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(url.origin, { createConnection: () => socket });
    session.on('error', reject);
    const stream = session.request({ ':path': url.pathname, accept: 'application/json' });
    stream.on('error', reject);
    stream.once('response', (headers) => {
      stream.resume();
      resolve({ version: 'HTTP/2', status: headers[':status'] ?? 0, keepAlive: 'kept' });
    });
    stream.end();
  });
}

/** The time of a step was up. */
class TimeIsUp extends Error {
  override readonly name = 'timeout';
}

/** The work's own outcome, or a rejection named `timeout` when it takes longer. */
export async function withinTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeIsUp('Time is up.')), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
