import type { ReplyCheck } from '../http/echo.ts';
import { Endpoint, type SharedByEndpoints } from '../http/connections/endpoint.ts';
import type { ProfileHeader } from '../domain/profile.ts';
import type { EndpointName } from '../http/wireSettings.ts';
import type { OperatorSettings } from './operatorSettings.ts';
import { randomUUID } from 'node:crypto';
import { derived } from '../system/fromFiles.ts';
import type { Departure } from '../http/exchange.ts';

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
  readonly headers: () => readonly ProfileHeader[];
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

/** What an endpoint is sent beside what every operator is: names and values in turn. */
export interface EndpointHeaders {
  /** The same list for as long as they stay the same. */
  readonly fixed: () => readonly string[];
  /** Made anew for each exchange. */
  readonly generated: (departure: Departure) => readonly string[];
}

/**
 * The headers that the operator wants at this endpoint.
 *
 * @param headers those of the operator by now: what a file holds of one may change
 */
export function headersAt(
  headers: () => readonly ProfileHeader[],
  endpoint: EndpointName,
): EndpointHeaders {
  const sent = derived(headers, (all) => {
    const wanted = all.filter(({ endpoints }) => endpoints?.includes(endpoint) !== false);
    // Of two that have one name the last counts.
    const byName = new Map(
      wanted.flatMap(({ name, value }) => (typeof value === 'string' ? [[name, value]] : [])),
    );
    const makers = wanted.flatMap(({ name, value }) =>
      typeof value === 'string' ? [] : [{ name, make: MAKERS[value.generated] }],
    );
    return { fixed: [...byName].flat(), makers };
  });
  return {
    fixed: () => sent().fixed,
    generated: (departure) => {
      const { makers } = sent();
      if (makers.length === 0) return NONE;
      return makers.flatMap(({ name, make }) => [name, make(departure)]);
    },
  };
}

const NONE: readonly string[] = [];

const MAKERS: Readonly<Record<'uuid' | 'timestamp', (departure: Departure) => string>> = {
  uuid: () => randomUUID(),
  timestamp: ({ sentAtMs }) => new Date(sentAtMs).toISOString(),
};
