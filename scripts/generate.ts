import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeResolverTypes } from '../codegen.ts';
import { makeFiles as makeOperatorsFiles } from './operatorsFile.ts';
import { CompileError, makePublicApi } from './publicApi.ts';
import { makeSchemaFiles } from './schemaFiles.ts';
import { makeSchemaReference } from './schemaReference.ts';
import { makeSettingsFiles } from './settings.ts';

// `npm run generate`: writes what is made from a definition. A test of each definition finds drift.
const makers = [
  makeSchemaFiles,
  makeSchemaReference,
  makeResolverTypes,
  makeOperatorsFiles,
  makeSettingsFiles,
  makePublicApi,
];
try {
  for (const make of makers) {
    for (const { path, text } of await make()) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  }
} catch (error) {
  // A new field of the schema has no resolver yet: its types are written, and the compiler names the rest.
  if (!(error instanceof CompileError)) throw error;
  process.stderr.write(
    `${error.message}\nEverything is written except docs/api, which needs sources that compile. ` +
      'Fix the errors above, then run npm run generate again.\n',
  );
  process.exitCode = 1;
}
