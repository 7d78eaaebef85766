import type { NumberDirectorySettings, OperatorSettings } from '../operator/operatorSettings.ts';
import type { Price } from '../domain/price.ts';
import type { EnvironmentReader } from './environment.ts';
import { readAccess, readProfile, type OperatorProfile } from './operator.ts';
import { readPrice } from './price.ts';
import { VARIABLE_NAMES } from './settings.ts';
import {
  operatorsSource,
  readOperatorPrices,
  readOperatorsFile,
  type OperatorsSource,
} from './operatorsFile/readOperatorsFile.ts';

/** Whom to ask. */
export interface OperatorsConfig {
  readonly operators: readonly OperatorSettings[];
  /** Set where no operator is: then the built-in simulator is asked, by this profile. */
  readonly simulator: OperatorProfile | undefined;
  /** Says which operator serves a number, before any is asked; by prefix alone where absent. */
  readonly directory: NumberDirectorySettings | undefined;
}

/** Reads OPERATORS_FILE or the operators of SETTINGS_FILE, or else the one operator of OPERATOR_…. */
export function readOperators(read: EnvironmentReader, production: boolean): OperatorsConfig {
  const source = operatorsSource(read);
  if (source !== undefined) {
    refuseOtherForms(read, source);
    return { ...readOperatorsFile(read, read.integer('KEEP_FACTS_SECONDS')), simulator: undefined };
  }
  const access = readAccess(read, production);
  const profile = readProfile(read);
  return {
    operators: access === undefined ? [] : [{ ...profile, ...access }],
    simulator: access === undefined ? profile : undefined,
    directory: undefined,
  };
}

/** What operators bill. */
export interface OperatorPrices {
  /** By the name that an operator's audit lines have; `undefined` where it is not set. */
  readonly priceOf: (operator: string) => Price | undefined;
  /** Of all prices. */
  readonly currency: string | undefined;
}

/** Reads the prices of the file that names the operators, or else the one of OPERATOR_PRICE_…. */
export function readPrices(read: EnvironmentReader): OperatorPrices {
  if (operatorsSource(read) === undefined) {
    const price = readPrice(read);
    return { priceOf: () => price, currency: price?.currency };
  }
  const prices = readOperatorPrices(read);
  const [first] = prices.values();
  return { priceOf: (operator) => prices.get(operator), currency: first?.currency };
}

/** Beside the file that is read they would be read by nothing. */
function refuseOtherForms(read: EnvironmentReader, source: OperatorsSource): void {
  if (source === 'OPERATORS_FILE' && read.settingsFile?.hasOperators === true) {
    read.problem(
      source,
      'is set, and SETTINGS_FILE names operators too: name them in one of the two',
    );
  }
  for (const name of VARIABLE_NAMES) {
    if (name.startsWith('OPERATOR_') && read.isSet(name)) {
      read.problem(
        name,
        `is for one operator, and ${source} ${NAMES[source]}: say it in that file`,
      );
    }
  }
}

const NAMES: Readonly<Record<OperatorsSource, string>> = {
  OPERATORS_FILE: 'is set',
  SETTINGS_FILE: 'names operators',
};
