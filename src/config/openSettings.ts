import { EnvironmentReader, type Environment } from './environment.ts';
import { readDocument, sentence } from './operatorsFile/document.ts';
import { readSettingsFile } from './settingsFile/settingsFile.ts';

/**
 * Opens the settings: the variables, and what SETTINGS_FILE says where they are silent.
 *
 * @throws {ConfigError} where that file cannot be read or is not JSON: what it lacks would be said of every setting in it
 */
export function openSettings(environment: Environment): EnvironmentReader {
  const variables = new EnvironmentReader(environment);
  const path = variables.text('SETTINGS_FILE');
  if (path === undefined) return variables;
  const { document, problems } = readDocument(variables.file('SETTINGS_FILE', '') ?? '');
  variables.finish();
  for (const problem of problems) variables.problem('SETTINGS_FILE', sentence(problem, document));
  variables.finish();
  return new EnvironmentReader(environment, readSettingsFile(document, path));
}
