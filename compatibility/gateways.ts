import { ApolloGateway } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { createGatewayRuntime, type GatewayConfigSupergraph } from '@graphql-hive/gateway-runtime';
import { unifiedGraphHandler } from '@graphql-hive/router-runtime';
import { answersIn, type Answers, type Body } from './answers.ts';
import { COMPOSERS } from './composers.ts';
import { QUERY, type Subgraphs } from './graph.ts';

/** A gateway by the packages that it is, and by whom its supergraph is composed. */
interface Gateway {
  readonly packages: readonly string[];
  readonly composer: 'Apollo' | 'The Guild (Hive)' | 'Mesh (fusion)';
  readonly ask: (supergraph: string) => Promise<Body>;
}

export const GATEWAYS: Readonly<Record<string, Gateway>> = {
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

/** What a client of a gateway gets, and what that costs. */
export async function askGateway(
  { composer, ask }: Gateway,
  subgraphs: Subgraphs,
): Promise<Answers & ReturnType<Subgraphs['calls']>> {
  const { supergraph = '' } = COMPOSERS[composer].compose(subgraphs.of(2));
  subgraphs.calls();
  const answers = answersIn(await ask(supergraph));
  return { ...answers, ...subgraphs.calls() };
}
