import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse, type GraphQLSchema } from 'graphql';
import { publishedSdl } from '../scripts/publishedSdl.ts';
import { listen } from '../test/support/listening.ts';
import { startSimulated } from '../test/support/service.ts';

/** A subgraph, as composers take it. */
export interface Subgraph {
  readonly name: string;
  readonly url: string;
  readonly sdl: string;
}

export const CUSTOMERS = [
  { id: '1', phoneNumber: { e164: '+447700900002' } },
  { id: '2', phoneNumber: { e164: '+447700900004' } },
  { id: '3', phoneNumber: { e164: '+447700900010' } },
];

/** A swap, no swap, and a number that the operator does not serve. */
export const QUERY = '{ customers { id phoneNumber { simSwappedWithin } } }';

/** Types of another subgraph, or of a host; Federation 1 wants the number marked as another's. */
export const ACCOUNTS =
  'type Query { customers: [Customer!]! } type Customer { id: ID! phoneNumber: PhoneNumber }';
export const ACCOUNTS_RESOLVERS = { Query: { customers: () => CUSTOMERS } };

const accountsSdl: (...version: Parameters<Subgraphs['of']>) => string = (federation) =>
  federation === 1
    ? `${ACCOUNTS} extend type PhoneNumber @key(fields: "e164") { e164: ID! @external }`
    : `extend schema @link(url: "https://specs.apollo.dev/federation/v${federation}", import: ["@key"])
      ${ACCOUNTS} type PhoneNumber @key(fields: "e164", resolvable: false) { e164: ID! }`;

/** Both subgraphs, running. */
export interface Subgraphs extends AsyncDisposable {
  /** @param federation of the other one: 1, or 2 with its minor version */
  readonly of: (federation: 1 | `2.${number}`) => readonly [Subgraph, Subgraph];
  /** Since it was last called: requests to this subgraph, and lookups at the operator. */
  calls(): { readonly requests: number; readonly lookups: number };
}

export async function startSubgraphs(): Promise<Subgraphs> {
  const service = await startSimulated({ ROLE: 'subgraph' });
  let requests = 0;
  let lookupsBefore = 0;
  const counted = createServer((request, response) => {
    requests += 1;
    void pass(request).then((reply) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(reply),
    );
  });
  const pass = async (request: NodeJS.ReadableStream): Promise<string> => {
    const body = await text(request);
    const reply = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return reply.text();
  };
  const accounts = serverOf(
    buildSubgraphSchema([{ typeDefs: parse(accountsSdl('2.3')), resolvers: ACCOUNTS_RESOLVERS }]),
  );
  const urls = { simSwap: `${await listen(counted)}/graphql`, accounts: await listen(accounts) };
  return {
    of: (federation) => [
      { name: 'accounts', url: urls.accounts, sdl: accountsSdl(federation) },
      { name: 'sim-swap', url: urls.simSwap, sdl: publishedSdl('subgraph') },
    ],
    calls() {
      const { lookups, refusedLookups } = service.stats();
      const made = { requests, lookups: lookups + refusedLookups - lookupsBefore };
      lookupsBefore = lookups + refusedLookups;
      requests = 0;
      return made;
    },
    async [Symbol.asyncDispose]() {
      for (const server of [counted, accounts]) {
        server.close();
        server.closeAllConnections();
      }
      await service.stop();
    },
  };
}

function serverOf(schema: GraphQLSchema): Server {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { query, variables, operationName } = JSON.parse(await text(request)) as {
      query: string;
      variables?: Record<string, unknown>;
      operationName?: string;
    };
    const result = await graphql({
      schema,
      source: query,
      variableValues: variables ?? null,
      operationName: operationName ?? null,
    });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
  };
  return createServer((request, response) => void answer(request, response));
}
