import { randomUUID } from 'node:crypto';
import type { Departure } from './exchange.ts';
import type { EndpointName, HeaderValue, OperatorHeader } from './wireSettings.ts';

/** What an endpoint is sent beside what every operator is: names and values. */
export interface EndpointHeaders {
  readonly fixed: Readonly<Record<string, string>>;
  /** Names and values in turn, made anew for each exchange. */
  readonly generated: (departure: Departure) => readonly string[];
}

/** The headers that the operator wants at this endpoint. */
export function headersAt(
  headers: readonly OperatorHeader[],
  endpoint: EndpointName,
): EndpointHeaders {
  const wanted = headers.filter(({ endpoints }) => endpoints.has(endpoint));
  const fixed = wanted.flatMap(({ name, value }) =>
    value.kind === 'fixed' ? [[name, value.text] as const] : [],
  );
  const makers = wanted.flatMap(({ name, value }) =>
    value.kind === 'generated' ? [{ name, make: MAKERS[value.generator] }] : [],
  );
  return {
    fixed: Object.fromEntries(fixed),
    generated: (departure) => makers.flatMap(({ name, make }) => [name, make(departure)]),
  };
}

type Generator = Extract<HeaderValue, { kind: 'generated' }>['generator'];

const MAKERS: Readonly<Record<Generator, (departure: Departure) => string>> = {
  uuid: () => randomUUID(),
  timestamp: ({ sentAtMs }) => new Date(sentAtMs).toISOString(),
};
