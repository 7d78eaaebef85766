import { EnvironmentReader, type Environment, type FixedValues } from './environment.ts';
import { readDocument, sentence } from './operatorsFile/document.ts';
import { readSettingsFile } from './settingsFile/settingsFile.ts';

/**
 * Opens the settings: the variables, and what SETTINGS_FILE says where they are silent.
 *
 * @param fixed values that count in the place of what is set
 * @throws {ConfigError} where that file cannot be read or is not JSON: what it lacks would be said of every setting in it
 */
export function openSettings(environment: Environment, fixed?: FixedValues): EnvironmentReader {
  const variables = new EnvironmentReader(environment, undefined, fixed);
  const path = variables.text('SETTINGS_FILE');
  if (path === undefined) return variables;
  const { document, problems } = readDocument(variables.file('SETTINGS_FILE', '') ?? '');
  variables.finish();
  for (const problem of problems) variables.problem('SETTINGS_FILE', sentence(problem, document));
  variables.finish();
  const read = new EnvironmentReader(environment, readSettingsFile(document, path), fixed);
  read.noteFile(path);
  return read;
}
