import type { CodegenConfig } from '@graphql-codegen/cli';

/** Resolver types from the SDL. `npm run generate` writes them; `npm run check` fails when they are stale. */
const config: CodegenConfig = {
  schema: 'schema/*.graphql',
  emitLegacyCommonJSImports: false,
  generates: {
    'src/graphql/generated/resolvers.ts': {
      plugins: ['typescript', 'typescript-resolvers'],
      config: {
        federation: true,
        contextType: '../../context.ts#RequestContext',
        mappers: {
          PhoneNumber: '../phoneNumberEntity.ts#PhoneNumberEntity',
          SimSwapConsent: '../../tokens/consents/consentStatus.ts#ConsentStatus',
        },
        scalars: {
          DateTime: '../../domain/instant.ts#Instant',
          _FieldSet: 'string',
        },
        strictScalars: true,
        useTypeImports: true,
        enumsAsTypes: true,
        defaultScalarType: 'unknown',
      },
    },
  },
};

export default config;
