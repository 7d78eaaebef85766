import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { Clock } from '../system/clock.ts';
import { isLoopback, isOwnHost } from '../wire/wireSettings.ts';
import { replyOf, SECURITY_HEADERS, type Refusal, type Reply } from '../graphql/reply.ts';
import type { Metrics } from './metrics.ts';

/** A longer request is not a scrape. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Making the text takes up to a millisecond, and any client of the port may request it at any rate. */
const TEXT_KEPT_MS = 1000;

const NOT_FOUND: Reply = { status: 404, headers: {}, body: '' };

const FOREIGN: Refusal = {
  status: 421,
  code: 'BAD_REQUEST',
  message: 'This port does not answer for the host in the request. Use localhost.',
};

/** Serves only `/metrics`, on a port of its own. Rejects when the port is in use. */
export async function serveMetrics(
  metrics: Pick<Metrics, 'text'>,
  { host, port }: { readonly host: string; readonly port: number },
  clock: Pick<Clock, 'monotonicMs'>,
) {
  let kept: { readonly text: string; readonly madeAtMs: number } | undefined;
  const text = (): string => {
    const nowMs = clock.monotonicMs();
    if (kept === undefined || nowMs - kept.madeAtMs >= TEXT_KEPT_MS) {
      kept = { text: metrics.text(), madeAtMs: nowMs };
    }
    return kept.text;
  };
  const replyTo = ({ url = '/', method = '', headers }: IncomingMessage): Reply => {
    const [path] = url.split('?', 1);
    if (path !== '/metrics' || !/^(?:GET|HEAD)$/.test(method)) return NOT_FOUND;
    // Beyond loopback the network decides who may scrape. On loopback a page of another site, whose name resolves to this
    // machine, sends that name.
    if (isLoopback(host) && !isOwnHost(headers.host)) return replyOf(FOREIGN, headers.accept);
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: text(),
    };
  };
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      new Promise<Reply>((resolve) => resolve(replyTo(request))).then(
        ({ status, headers, body }) =>
          response.writeHead(status, { ...SECURITY_HEADERS, ...headers }).end(body),
        () => response.writeHead(500, SECURITY_HEADERS).end(),
      );
    },
  );
  // The longest that a client which neither reads nor sends holds a connection.
  server.setTimeout(REQUEST_TIMEOUT_MS);
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: address === null || typeof address === 'string' ? port : address.port,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
