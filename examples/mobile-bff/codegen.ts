import type { CodegenConfig } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';

/** `npm run generate` after a change of a document: writes its types, and the manifest for the BFF. */
const config: CodegenConfig = {
  schema: '../../schema/bff.graphql',
  documents: 'server/*.graphql',
  emitLegacyCommonJSImports: false,
  generates: {
    'generated/': {
      preset: 'client',
      // Apollo Client adds __typename everywhere, so the listed documents must have it.
      documentTransforms: [addTypenameSelectionDocumentTransform],
      presetConfig: {
        fragmentMasking: false,
        // Into persisted-documents.json: the BFF's TRUSTED_DOCUMENTS.
        persistedDocuments: { hashAlgorithm: 'sha256' },
      },
      config: {
        scalars: { DateTime: 'string' },
        strictScalars: true,
        defaultScalarType: 'unknown',
        useTypeImports: true,
        futureProofEnums: true,
      },
    },
  },
};

export default config;
