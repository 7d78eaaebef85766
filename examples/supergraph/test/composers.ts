import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { compose, type SubgraphSdl } from '../composition.ts';

/**
 * Apollo's composition, from which Apollo's routers have their supergraphs.
 *
 * @throws {Error} that names everything in which the subgraphs contradict each other
 */
function composeByApollo(subgraphs: readonly SubgraphSdl[]): string {
  const { supergraphSdl, errors } = composeServices(
    subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })),
  );
  if (supergraphSdl !== undefined) return supergraphSdl;
  throw new Error((errors ?? []).map(({ message }) => message).join('\n'));
}

type Compose = (subgraphs: readonly SubgraphSdl[]) => string;

export const COMPOSERS: readonly (readonly [string, Compose])[] = [
  ['The Guild', compose],
  ['Apollo', composeByApollo],
];
