import type { ReplyCheck } from '../http/echo.ts';
import { Endpoint, type SharedByEndpoints } from '../http/connections/endpoint.ts';
import { headersAt } from '../http/operatorHeaders.ts';
import type { EndpointName, OperatorHeader } from '../http/wireSettings.ts';
import type { OperatorSettings } from './operatorSettings.ts';

/** What the log, metrics and diagnostics call each endpoint. */
export const ENDPOINT_LABELS: Readonly<Record<EndpointName, string>> = {
  token: 'token',
  backchannelAuthentication: 'bc-authorize',
  cibaToken: 'CIBA token',
  retrieveDate: 'retrieve-date',
  check: 'check',
};

/** One address of an operator: which endpoint it is, and whose replies its connections are trusted to bring. */
export interface OperatorAddress {
  readonly name: EndpointName;
  readonly url: string;
  /** Those of the operator by now. */
  readonly headers: () => readonly OperatorHeader[];
  readonly replyCheck: ReplyCheck;
}

/** Makes the endpoint at an operator's address, connected and addressed as the operator's settings say. */
export function createOperatorEndpoint(
  { limits, http2, correlator }: OperatorSettings,
  { name, url, headers, replyCheck }: OperatorAddress,
  shared: SharedByEndpoints,
): Endpoint {
  const { fixed, generated } = headersAt(headers, name);
  return new Endpoint(
    {
      name: ENDPOINT_LABELS[name],
      url,
      timeoutMs: limits.timeoutMs,
      connections: limits.connections,
      http2,
      replyCheck,
      headers: fixed,
      correlatorHeader: correlator.header,
      generatedHeaders: generated,
    },
    shared,
  );
}
