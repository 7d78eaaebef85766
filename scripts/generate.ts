import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDeploymentFiles } from './deployment/files.ts';
import { makeMonitoringFiles } from './monitoring/files.ts';
import { makeFiles as makeOperatorsFiles } from './operatorsFile.ts';
import { makePublicApi } from './publicApi.ts';
import { makeSettingsFiles } from './settings.ts';

// `npm run generate`: writes what is made from a definition. A test beside each definition finds drift.
const makers = [
  makeOperatorsFiles,
  makeSettingsFiles,
  makeMonitoringFiles,
  makeDeploymentFiles,
  makePublicApi,
];
for (const make of makers) {
  for (const { path, text } of await make()) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
