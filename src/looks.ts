import type { IncomingMessage } from 'node:http';
import { STATUS_SCOPE } from './caller/claims.ts';
import type { Gate } from './caller/gate.ts';
import type { Config } from './config.ts';
import { allowsHost } from './config/allowedHosts.ts';
import { preferredType } from './graphql/mediaType.ts';
import { replyOf, type Refusal, type Reply } from './graphql/reply.ts';
import { isLoopback } from './http/loopback.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Look } from './observationServer.ts';
import { STATUS_PAGE_POLICY, statusPage } from './status/statusPage.ts';
import type { StatusReport } from './status/statusReport.ts';

/** What says who may look. */
type Listening = Pick<Config, 'listen' | 'allowedHosts'>;

/** As it is by now: settings change. */
type ListeningNow = () => Listening;

/** What `/status` is made of, once there is something to look at. */
export interface StatusParts {
  readonly report: () => StatusReport;
  readonly authenticate: Gate['authenticate'];
}

/** Where others reach the port anyway, what may scrape is the network's to say. */
export function metricsLook(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  at: ListeningNow,
): Look {
  return async ({ headers }) => {
    if (isForeignPage(at(), headers.host)) return replyOf(FOREIGN, headers.accept);
    const body = await metrics.text();
    return { status: 200, headers: { 'content-type': metrics.contentType }, body };
  };
}

/**
 * How the process stands, as JSON, and for a browser as a page. On loopback it is open; where others reach the port, it
 * takes an access token with the scope for it.
 *
 * @param parts `undefined` while the process starts
 */
export function statusLook(parts: () => StatusParts | undefined, at: ListeningNow): Look {
  return async (request) => {
    const { accept, host } = request.headers;
    if (isForeignPage(at(), host)) return replyOf(FOREIGN, accept);
    const sources = parts();
    if (sources === undefined) return replyOf(STARTING, accept);
    const refusal = isLoopback(at().listen.host) ? undefined : await refusalOf(request, sources);
    return refusal === undefined ? shown(sources.report(), accept) : replyOf(refusal, accept);
  };
}

/** A page of another site whose name leads to this machine asks under that name. */
function isForeignPage({ listen, allowedHosts }: Listening, host: string | undefined): boolean {
  return isLoopback(listen.host) && !allowsHost(host, allowedHosts);
}

async function refusalOf(
  { headers }: IncomingMessage,
  { authenticate }: StatusParts,
): Promise<Refusal | undefined> {
  const authenticated = await authenticate(headers.authorization);
  switch (authenticated.kind) {
    case 'refused':
      return authenticated;
    case 'authenticated':
      return authenticated.caller.mayReadStatus === true ? undefined : NO_SCOPE;
  }
}

function shown(report: StatusReport, accept: string | undefined): Reply {
  switch (preferredType(accept, ['application/json', 'text/html'])) {
    case 'application/json':
      return {
        status: 200,
        headers: { 'content-type': 'application/json; charset=utf-8', vary: 'accept' },
        body: JSON.stringify(report),
      };
    case 'text/html':
      return {
        status: 200,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': STATUS_PAGE_POLICY,
          vary: 'accept',
        },
        body: statusPage(report),
      };
  }
}

const FOREIGN: Refusal = {
  status: 421,
  code: 'BAD_REQUEST',
  message:
    'This port does not answer under the host that the request names. Ask it at localhost, or list the host in ALLOWED_HOSTS.',
};

const STARTING: Refusal = { status: 503, code: 'UNAVAILABLE' };

/** RFC 6750 §3.1. */
const NO_SCOPE: Refusal = {
  status: 403,
  code: 'FORBIDDEN',
  message: `An access token with the scope ${STATUS_SCOPE} is needed.`,
  headers: {
    'www-authenticate': `Bearer realm="sim-swap", error="insufficient_scope", scope="${STATUS_SCOPE}"`,
  },
};
