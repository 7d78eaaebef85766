import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeResolverTypes } from '../codegen.ts';
import { makeFiles as makeOperatorsFiles } from './operatorsFile.ts';
import { makePublicApi } from './publicApi.ts';
import { makeSchemaFiles } from './schemaFiles.ts';
import { makeSettingsFiles } from './settings.ts';

// `npm run generate`: writes what is made from a definition. A test beside each definition finds drift.
const makers = [
  makeSchemaFiles,
  makeResolverTypes,
  makeOperatorsFiles,
  makeSettingsFiles,
  makePublicApi,
];
for (const make of makers) {
  for (const { path, text } of await make()) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
