import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as resolvers from '@graphql-codegen/typescript-resolvers';
import { parse } from 'graphql';

// `npm run generate` writes the resolver types; `node codegen.ts` fails when they are stale.

const SDL = fileURLToPath(new URL('schema/bff.graphql', import.meta.url));
const TYPES = fileURLToPath(new URL('src/graphql/generated/resolvers.ts', import.meta.url));

/** What the other role has beside it. */
const AS_ENTITY = 'extend type PhoneNumber @key(fields: "e164")';

const config = {
  federation: true,
  contextType: '../request.ts#RequestContext',
  mappers: {
    PhoneNumber: '../request.ts#PhoneNumberEntity',
    SimSwapConsent: '../../domain/fields.ts#ConsentStatus',
  },
  scalars: {
    DateTime: '../../domain/instant.ts#Instant',
    _FieldSet: 'string',
  },
  strictScalars: true,
  useTypeImports: true,
  enumsAsTypes: true,
  defaultScalarType: 'unknown',
  emitLegacyCommonJSImports: false,
};

/** Makes the types of the resolvers of both roles from the SDL. */
export async function makeResolverTypes(): Promise<readonly { path: string; text: string }[]> {
  const text = await codegen({
    filename: TYPES,
    schema: parse(`${readFileSync(SDL, 'utf8')}\n${AS_ENTITY}`),
    documents: [],
    config,
    plugins: [{ typescript: {} }, { resolvers: {} }],
    pluginMap: { typescript, resolvers },
  });
  return [{ path: TYPES, text }];
}

if (import.meta.main) {
  for (const { path, text } of await makeResolverTypes()) {
    if (readFileSync(path, 'utf8') === text) continue;
    process.stderr.write(`${path} is stale: npm run generate writes it.\n`);
    process.exitCode = 1;
  }
}
