import type { GatewayConfigSupergraph, GatewayPlugin } from '@graphql-hive/gateway-runtime';
import { unifiedGraphHandler } from '@graphql-hive/router-runtime';
import { explorerPage } from '../explorerPage.ts';
import { onlyKnownCallers } from './onlyKnownCallers.ts';
import { plainLog } from './plainLog.ts';

/** Written by the demo; in a deployment, by the pipeline that composes. */
const supergraph = process.env['SUPERGRAPH'] ?? 'supergraph.graphql';

/** Shared with the SIM swap subgraph, so that it answers only this gateway. */
const routerSecret = process.env['ROUTER_SECRET'];

/** Where it wants access tokens, the keys by which it knows them. */
const jwksUrl = process.env['JWT_JWKS_URL'];
const callers =
  jwksUrl === undefined
    ? []
    : [
        onlyKnownCallers({
          jwksUrl,
          issuer: process.env['JWT_ISSUER'],
          audience: process.env['JWT_AUDIENCE'],
        }),
      ];

/** As the composition names it. */
const SIM_SWAP = 'sim-swap';

/** What the explorer opens with. */
const EXAMPLE = `{
  customers {
    name
    phoneNumber {
      e164
      lastSimSwap
      simSwappedWithin(maxAgeHours: 240)
    }
  }
}
`;

/**
 * Where a subgraph does not answer, this gateway quotes its query in the error, and in its log: with
 * it the phone numbers, and the address of the subgraph. They stay here.
 */
const withoutSubrequests: GatewayPlugin = {
  onSubgraphExecute: () => (done) => {
    if (Symbol.asyncIterator in done.result) return;
    const { errors } = done.result;
    for (const { extensions } of errors ?? []) {
      delete extensions['request'];
      delete extensions['response'];
    }
  },
};

/** The configuration of a Hive Gateway. */
export const gatewayConfig: GatewayConfigSupergraph = {
  supergraph,
  // Hive Router's way to plan and execute. With its default one, this gateway reports the errors of a
  // batch under the path of the batch's first entry: the wrong customer would be blamed.
  unifiedGraphHandler,
  // How it calls subgraphs. Named here, since the runtime would look for this package by itself.
  transports: { http: import('@graphql-mesh/transport-http') },
  // No header goes on to a subgraph unless it is named here.
  propagateHeaders: {
    fromClientToSubgraphs({ request, subgraphName }) {
      return {
        authorization: request.headers.get('authorization') ?? undefined,
        'x-correlator': request.headers.get('x-correlator') ?? undefined,
        ...(subgraphName === SIM_SWAP
          ? {
              'x-router-secret': routerSecret,
              // What the question is for: the SIM swap subgraph writes it into its audit log.
              'x-purpose': request.headers.get('x-purpose') ?? undefined,
            }
          : {}),
      };
    },
    // What is left of the caller's quotas. Where one operation took several requests, the last one counts.
    fromSubgraphsToClient: ({ response, subgraphName }) =>
      subgraphName === SIM_SWAP
        ? {
            ratelimit: response.headers.get('ratelimit'),
            'ratelimit-policy': response.headers.get('ratelimit-policy'),
          }
        : undefined,
    deduplicateHeaders: true,
  },
  // A client that hangs up ends its requests: a lookup whose caller is gone would be billed.
  executionCancellation: true,
  upstreamCancellation: true,
  // Equal queries of two clients are sent separately: one that hangs up ends only its own request.
  transportEntries: { '*.http': { options: { deduplicateInflightRequests: false } } },
  plugins: () => [...callers, withoutSubrequests],
  logging: plainLog,
  // Longer than the subgraph's REQUEST_TIMEOUT_MS: let it be the one who says OPERATOR_TIMEOUT.
  upstreamTimeout: 12_000,
  // Hides what broke in the gateway itself. Errors of subgraphs pass, with their codes.
  maskedErrors: true,
  // Left to themselves, both pages fetch their scripts from the internet.
  landingPage: false,
  graphiql: { title: 'Supergraph', defaultQuery: EXAMPLE },
  renderGraphiQL: explorerPage,
};
