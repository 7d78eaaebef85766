import type { ReplyCheck } from '../wire/echo.ts';
import { Endpoint, type EndpointSettings, type SharedByEndpoints } from '../wire/endpoint.ts';
import type { ProfileHeader } from '../domain/profile.ts';
import type { EndpointName, OperatorSettings } from './operatorSettings.ts';
import { randomUUID } from 'node:crypto';
import { derived } from '../system/fromFiles.ts';
import type { Departure } from '../wire/exchange.ts';

export const ENDPOINT_LABELS: Readonly<Record<EndpointName, string>> = {
  token: 'token',
  backchannelAuthentication: 'bc-authorize',
  cibaToken: 'CIBA token',
  retrieveDate: 'retrieve-date',
  check: 'check',
};

interface OperatorAddress {
  readonly name: EndpointName;
  readonly url: string;
  /** Read each time: a value in a file may change. */
  readonly headers: () => readonly ProfileHeader[];
  readonly replyCheck: ReplyCheck;
}

export function createOperatorEndpoint(
  { limits, http2, correlator }: OperatorSettings,
  { name, url, headers, replyCheck }: OperatorAddress,
  shared: SharedByEndpoints,
): Endpoint {
  const { timeoutMs, connections } = limits;
  return new Endpoint(
    {
      name: ENDPOINT_LABELS[name],
      url,
      timeoutMs,
      connections,
      http2,
      replyCheck,
      correlatorHeader: correlator.header,
      ...headersAt(headers, name),
    },
    shared,
  );
}

function headersAt(
  headers: () => readonly ProfileHeader[],
  endpoint: EndpointName,
): Pick<EndpointSettings, 'headers' | 'generatedHeaders'> {
  const isSent = ({ endpoints }: ProfileHeader) => endpoints?.includes(endpoint) !== false;
  const fixed = derived(headers, (all) => {
    // Of two with the same name, the last one counts.
    const byName = new Map<string, string>();
    for (const { name, value } of all.filter(isSent)) {
      if (typeof value === 'string') byName.set(name, value);
    }
    return [...byName].flat();
  });
  // Only values of fixed headers are read from files.
  const makers = headers()
    .filter(isSent)
    .flatMap(({ name, value }) =>
      typeof value === 'string' ? [] : [{ name, make: MAKERS[value.generated] }],
    );
  if (makers.length === 0) return { headers: fixed };
  return {
    headers: fixed,
    generatedHeaders: (departure) => makers.flatMap(({ name, make }) => [name, make(departure)]),
  };
}

const MAKERS: Readonly<Record<'uuid' | 'timestamp', (departure: Departure) => string>> = {
  uuid: () => randomUUID(),
  timestamp: ({ sentAtMs }) => new Date(sentAtMs).toISOString(),
};
