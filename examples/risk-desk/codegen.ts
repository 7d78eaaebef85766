import type { CodegenConfig } from '@graphql-codegen/cli';

/** `npm run generate` after a change of a document: writes its types. */
const config: CodegenConfig = {
  // What the page sees of the supergraph: PhoneNumber as both subgraphs have it, merged.
  schema: ['../supergraph/accounts/schema.graphql', '../../schema/phone-number.graphql'],
  documents: 'page/**/*.graphql',
  emitLegacyCommonJSImports: false,
  generates: {
    'generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        scalars: { DateTime: 'string' },
        strictScalars: true,
        defaultScalarType: 'unknown',
        useTypeImports: true,
        enumsAsTypes: true,
      },
    },
  },
};

export default config;
