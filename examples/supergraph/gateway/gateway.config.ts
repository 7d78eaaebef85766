import type { GatewayConfigSupergraph } from '@graphql-hive/gateway-runtime';
import { unifiedGraphHandler } from '@graphql-hive/router-runtime';
import { explorerPage } from '../explorerPage.ts';

/** Written by the demo; in a deployment, by the pipeline that composes. */
const supergraph = process.env['SUPERGRAPH'] ?? 'supergraph.graphql';

/** Shared with the SIM swap subgraph, so that it answers nobody but us. */
const routerSecret = process.env['ROUTER_SECRET'];

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

/** What a Hive Gateway must be told. */
export const gatewayConfig: GatewayConfigSupergraph = {
  supergraph,
  // Hive Router's way to plan and execute. Left to its default one, this gateway tells the errors of a
  // batch under the path of the batch's first entry: the wrong customer would be blamed.
  unifiedGraphHandler,
  // How it asks subgraphs. Named here, since the runtime alone would look for this package by itself.
  transports: { http: import('@graphql-mesh/transport-http') },
  // No header goes on to a subgraph unless it is named here.
  propagateHeaders: {
    fromClientToSubgraphs({ request, subgraphName }) {
      return {
        authorization: request.headers.get('authorization') ?? undefined,
        'x-correlator': request.headers.get('x-correlator') ?? undefined,
        'x-router-secret': subgraphName === 'sim-swap' ? routerSecret : undefined,
      };
    },
  },
  // Longer than the subgraph's REQUEST_TIMEOUT_MS: let it be the one who says OPERATOR_TIMEOUT.
  upstreamTimeout: 12_000,
  // Hides what broke in the gateway itself. Errors of subgraphs pass, with their codes.
  maskedErrors: true,
  // Left to themselves, both pages fetch their scripts from the internet.
  landingPage: false,
  graphiql: { title: 'Supergraph', defaultQuery: EXAMPLE },
  renderGraphiQL: explorerPage,
};
