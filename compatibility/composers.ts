import { composeServices as composeByApollo } from '@apollo/composition';
import { composeAndValidate } from '@apollo/federation';
import { composeSubgraphs } from '@graphql-mesh/fusion-composition';
import { composeServices as composeByTheGuild } from '@theguild/federation-composition';
import { federateSubgraphs, ROUTER_COMPATIBILITY_VERSION_ONE } from '@wundergraph/composition';
import { buildASTSchema, parse } from 'graphql';
import { startSubgraphs, type Subgraph } from './graph.ts';
import { finding, versionsOf, type Judge } from './judge.ts';

/** One supergraph of subgraphs, or what is wrong with them. */
export interface Composed {
  readonly supergraph?: string | undefined;
  readonly errors: readonly string[];
}

/** Composers by the packages that they are. */
export interface Composer {
  readonly packages: readonly string[];
  readonly federation: 1 | 2;
  readonly compose: (subgraphs: readonly Subgraph[]) => Composed;
}

const documents = (subgraphs: readonly Subgraph[]) =>
  subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) }));

const messages = (errors: readonly { readonly message: string }[] = []): string[] =>
  errors.map(({ message }) => message);

export const COMPOSERS = {
  Apollo: {
    packages: ['@apollo/composition'],
    federation: 2,
    compose: (subgraphs) => {
      const { supergraphSdl, errors } = composeByApollo(documents(subgraphs));
      return { supergraph: supergraphSdl, errors: messages(errors) };
    },
  },
  'The Guild (Hive)': {
    packages: ['@theguild/federation-composition'],
    federation: 2,
    compose: (subgraphs) => {
      const { supergraphSdl, errors } = composeByTheGuild(documents(subgraphs));
      return { supergraph: supergraphSdl, errors: messages(errors) };
    },
  },
  'WunderGraph (Cosmo)': {
    packages: ['@wundergraph/composition'],
    federation: 2,
    compose: (subgraphs) => {
      const result = federateSubgraphs({
        subgraphs: documents(subgraphs).map(({ name, url, typeDefs }) => ({
          name,
          url,
          definitions: typeDefs,
        })),
        version: ROUTER_COMPATIBILITY_VERSION_ONE,
      });
      return { errors: result.success ? [] : messages(result.errors) };
    },
  },
  'Mesh (fusion)': {
    packages: ['@graphql-mesh/fusion-composition', '@graphql-mesh/compose-cli'],
    federation: 2,
    compose: (subgraphs) => {
      const { supergraphSdl, ...others } = composeSubgraphs(
        documents(subgraphs).map(({ name, url, typeDefs }) => ({
          name,
          schema: Object.assign(buildASTSchema(typeDefs, { assumeValidSDL: true }), {
            extensions: { directives: {} },
          }),
          transforms: [],
          url,
        })),
      );
      const errors = 'errors' in others ? messages(others.errors) : [];
      return { supergraph: supergraphSdl, errors };
    },
  },
  'Federation 1': {
    packages: ['@apollo/federation'],
    federation: 1,
    compose: (subgraphs) => {
      // It knows no `@link`: leave the line out that begins with `extend schema`.
      const plain = subgraphs.map((one) => ({
        ...one,
        sdl: one.sdl.replace(/^extend schema.*$/m, ''),
      }));
      const { errors } = composeAndValidate(documents(plain));
      return { errors: messages(errors) };
    },
  },
} as const satisfies Readonly<Record<string, Composer>>;

export const COMPOSER_JUDGES: readonly Judge[] = Object.entries(COMPOSERS).map(
  ([name, { packages, federation, compose }]) => ({
    name: `composed by ${name}`,
    version: versionsOf(packages),
    form: 'long',
    async judge() {
      await using subgraphs = await startSubgraphs();
      const versions = federation === 1 ? ([1] as const) : (['2.3', '2.9', '2.12'] as const);
      return versions.map((version) => {
        const { errors } = compose(subgraphs.of(version));
        return finding(`with Federation ${version}`, errors.length === 0, errors.join(' '));
      });
    },
  }),
);
