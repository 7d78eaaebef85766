import type { NumberDirectorySettings, OperatorSettings } from '../operator/operatorSettings.ts';
import { EnvironmentReader } from './environment.ts';
import {
  KEEP_FACTS,
  readAccess,
  readKeepFacts,
  readProfile,
  type OperatorProfile,
} from './operator.ts';
import { OPERATORS_FILE, readOperatorsFile } from './operatorsFile/readOperatorsFile.ts';

/** Whom to ask. */
export interface OperatorsConfig {
  readonly operators: readonly OperatorSettings[];
  /** Set where no operator is: then the built-in simulator is asked, by this profile. */
  readonly simulator: OperatorProfile | undefined;
  /** Says which operator serves a number, before any is asked; by prefix alone where absent. */
  readonly directory: NumberDirectorySettings | undefined;
}

/** Reads OPERATORS_FILE, or else the one operator of OPERATOR_…. */
export function readOperators(read: EnvironmentReader, production: boolean): OperatorsConfig {
  if (read.text(OPERATORS_FILE) !== undefined) {
    refuseShortForm(read);
    return { ...readOperatorsFile(read, readKeepFacts(read)), simulator: undefined };
  }
  const access = readAccess(read, production);
  const profile = readProfile(read);
  return {
    operators: access === undefined ? [] : [{ ...profile, ...access }],
    simulator: access === undefined ? profile : undefined,
    directory: undefined,
  };
}

/** Beside the file it would be read by nothing. */
function refuseShortForm(read: EnvironmentReader): void {
  const shortForm = new EnvironmentReader({ OPERATOR_CLIENT_AUTH: 'both' });
  readProfile(shortForm);
  readAccess(shortForm, true);
  for (const name of shortForm.names) {
    if (name !== KEEP_FACTS && read.text(name) !== undefined) {
      read.problem(name, `is for one operator, and ${OPERATORS_FILE} is set: say it in that file`);
    }
  }
}
