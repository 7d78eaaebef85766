import { composeServices } from '@theguild/federation-composition';
import { parse } from 'graphql';

/** A service that contributes to the graph, and where the gateway finds it. */
export interface Subgraph {
  readonly name: string;
  readonly url: string;
}

/** A subgraph with its schema. */
export interface SubgraphSdl extends Subgraph {
  readonly sdl: string;
}

/** Fetches the schema of a subgraph, as federation has every subgraph serve it. */
export async function fetchSdl(subgraph: Subgraph): Promise<SubgraphSdl> {
  const response = await fetch(subgraph.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ _service { sdl } }' }),
  });
  const { data } = (await response.json()) as { data: { _service: { sdl: string } } };
  return { ...subgraph, sdl: data._service.sdl };
}

/**
 * The supergraph of these subgraphs, for a gateway to serve.
 *
 * @throws {Error} that names everything in which they contradict each other
 */
export function compose(subgraphs: readonly SubgraphSdl[]): string {
  const { supergraphSdl, errors } = composeServices(
    subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })),
  );
  if (supergraphSdl !== undefined) return supergraphSdl;
  const reasons = (errors ?? []).map(({ message }) => `  ${message}`);
  throw new Error(['The subgraphs do not compose:', ...reasons].join('\n'));
}

/** The supergraph of subgraphs that are running. */
export async function composeRunning(subgraphs: readonly Subgraph[]): Promise<string> {
  return compose(await Promise.all(subgraphs.map(fetchSdl)));
}
