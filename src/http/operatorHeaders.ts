import { randomUUID } from 'node:crypto';
import { derived } from './derived.ts';
import type { Departure } from './exchange.ts';
import type { EndpointName, HeaderValue, OperatorHeader } from './wireSettings.ts';

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
  headers: () => readonly OperatorHeader[],
  endpoint: EndpointName,
): EndpointHeaders {
  const wanted = derived(headers, (all) => all.filter(({ endpoints }) => endpoints.has(endpoint)));
  const fixed = derived(wanted, (all) => {
    // Of two that have one name the last counts.
    const byName = new Map(
      all.flatMap(({ name, value }) =>
        value.kind === 'fixed' ? [[name, value.text] as const] : [],
      ),
    );
    return [...byName].flat();
  });
  const makers = derived(wanted, (all) =>
    all.flatMap(({ name, value }) =>
      value.kind === 'generated' ? [{ name, make: MAKERS[value.generator] }] : [],
    ),
  );
  return {
    fixed,
    generated: (departure) => makers().flatMap(({ name, make }) => [name, make(departure)]),
  };
}

type Generator = Extract<HeaderValue, { kind: 'generated' }>['generator'];

const MAKERS: Readonly<Record<Generator, (departure: Departure) => string>> = {
  uuid: () => randomUUID(),
  timestamp: ({ sentAtMs }) => new Date(sentAtMs).toISOString(),
};
