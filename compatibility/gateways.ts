import { ApolloGateway } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { createGatewayRuntime, type GatewayConfigSupergraph } from '@graphql-hive/gateway-runtime';
import { unifiedGraphHandler } from '@graphql-hive/router-runtime';
import { findingsIn, type Body } from './answers.ts';
import { COMPOSERS } from './composers.ts';
import { QUERY, startSubgraphs, type Subgraph } from './graph.ts';
import { finding, versionsOf, type Finding, type Judge } from './judge.ts';

/** A gateway by the packages that it is, and by whom its supergraph is composed. */
interface Gateway {
  readonly packages: readonly string[];
  readonly composer: 'Apollo' | 'The Guild (Hive)' | 'Mesh (fusion)';
  readonly ask: (supergraph: string) => Promise<Body>;
}

const GATEWAYS: Readonly<Record<string, Gateway>> = {
  "Apollo's gateway": {
    packages: ['@apollo/gateway'],
    composer: 'Apollo',
    async ask(supergraph) {
      const server = new ApolloServer({
        gateway: new ApolloGateway({ supergraphSdl: supergraph }),
        stopOnTerminationSignals: false,
      });
      await server.start();
      const { body } = await server.executeOperation({ query: QUERY });
      await server.stop();
      return body.kind === 'single' ? body.singleResult : {};
    },
  },
  'Hive Gateway, its own engine': {
    packages: ['@graphql-hive/gateway-runtime'],
    composer: 'The Guild (Hive)',
    ask: (supergraph) => askHive(supergraph, {}),
  },
  "Hive Gateway, Hive Router's engine": {
    packages: ['@graphql-hive/gateway-runtime', '@graphql-hive/router-runtime'],
    composer: 'The Guild (Hive)',
    ask: (supergraph) => askHive(supergraph, { unifiedGraphHandler }),
  },
  'Mesh, served by Hive Gateway': {
    packages: ['@graphql-mesh/fusion-composition', '@graphql-hive/gateway-runtime'],
    composer: 'Mesh (fusion)',
    ask: (supergraph) => askHive(supergraph, {}),
  },
};

async function askHive(
  supergraph: string,
  options: Pick<GatewayConfigSupergraph, 'unifiedGraphHandler'>,
): Promise<Body> {
  await using gateway = createGatewayRuntime({
    supergraph,
    transports: { http: import('@graphql-mesh/transport-http') },
    logging: false,
    ...options,
  });
  const reply = await gateway.fetch('http://gateway/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: QUERY }),
  });
  return (await reply.json()) as Body;
}

export const GATEWAY_JUDGES: readonly Judge[] = Object.entries(GATEWAYS).map(
  ([name, { packages, composer, ask }]) => ({
    name,
    version: versionsOf(packages),
    form: 'long',
    judge: () =>
      judgeGateway((subgraphs) => ask(COMPOSERS[composer].compose(subgraphs).supergraph ?? '')),
  }),
);

/** What a client of a gateway gets, and what that costs. */
export async function judgeGateway(
  ask: (subgraphs: readonly Subgraph[]) => Promise<Body>,
): Promise<readonly Finding[]> {
  await using subgraphs = await startSubgraphs();
  const answers = findingsIn(await ask(subgraphs.of('2.3')));
  const { requests, lookups } = subgraphs.calls();
  return [
    ...answers,
    finding('one request to the subgraph', requests === 1, `${requests}`),
    finding('one lookup a number', lookups === 3, `${lookups}`),
  ];
}
