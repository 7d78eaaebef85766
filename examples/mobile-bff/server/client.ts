import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import type { DocumentNode } from 'graphql';
import { typePolicies } from './typePolicies.ts';

/** Where the BFF is, and on whose behalf it is queried. */
export interface ClientSettings {
  /** Such as `https://bff.example/graphql`. */
  readonly url: string;
  /** Of the signed-in user, as the app sent it. It names the number; no request does. */
  readonly accessToken?: string;
}

/** An Apollo Client that sends the ids of documents, and never a document. */
export function createClient({ url, accessToken }: ClientSettings): ApolloClient {
  const byId = new PersistedQueryLink({
    generateHash: idOf,
    // Not tried again with the document itself: the BFF accepts none.
    retry: () => false,
    disable: () => false,
  });
  const headers: Record<string, string> =
    accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
  return new ApolloClient({
    link: byId.concat(new HttpLink({ uri: url, headers })),
    cache: new InMemoryCache({ typePolicies }),
  });
}

/** The id that codegen wrote into the document, and beside it into the manifest. */
function idOf(document: DocumentNode): string {
  const { __meta__: meta } = document as DocumentNode & { __meta__?: { hash: string } };
  if (meta === undefined) throw new Error('This document was not written by codegen.');
  return meta.hash;
}
