import type { NumberDirectorySettings, OperatorSettings } from '../operator/operatorSettings.ts';
import type { Price } from '../domain/price.ts';
import type { Egress } from './egress.ts';
import type { EnvironmentReader } from './environment.ts';
import { isAccessSet, readAccess, readProfile, type OperatorProfile } from './operator.ts';
import { readPrice } from './price.ts';
import { VARIABLE_NAMES } from './settings.ts';
import { readOperatorPrices, readOperatorsFile } from './readOperatorsFile.ts';

/** Whom to ask. */
export interface OperatorsConfig {
  readonly operators: readonly OperatorSettings[];
  /** Set where no operator is: then the built-in simulator is asked, by this profile. */
  readonly simulator: OperatorProfile | undefined;
  /** Where the simulator is, if it runs by itself; the built-in one is started where absent. */
  readonly simulatorUrl?: string;
  /** Says which operator serves a number, before any is asked; by prefix alone where absent. */
  readonly directory: NumberDirectorySettings | undefined;
}

/** Reads OPERATORS_FILE, or else the one operator of OPERATOR_…. */
export function readOperators(
  read: EnvironmentReader,
  production: boolean,
  egress: Egress,
): OperatorsConfig {
  const hasFile = read.isSet('OPERATORS_FILE');
  const simulator = readSimulator(read);
  if (simulator.use === 'wanted') {
    if (hasFile || isAccessSet(read)) read.problem('SIMULATOR', BESIDE_AN_OPERATOR);
    const { url } = simulator;
    return {
      operators: [],
      simulator: readProfile(read),
      ...(url === undefined ? {} : { simulatorUrl: url }),
      directory: undefined,
    };
  }
  if (hasFile) {
    refuseShortForm(read);
    return {
      ...readOperatorsFile(read, { keepFactsSeconds: read.integer('KEEP_FACTS_SECONDS'), egress }),
      simulator: undefined,
    };
  }
  const operator = readOperator(read, production);
  if (operator === undefined) {
    return { operators: [], simulator: readProfile(read), directory: undefined };
  }
  const fromFiles = read.fromFiles(
    ['OPERATOR_CLIENT_SECRET_FILE', 'OPERATOR_ASSERTION_KEY_FILE', 'OPERATOR_HEADERS_FILE'],
    (again) => readOperator(again, production),
  );
  return {
    operators: [fromFiles === undefined ? operator : { ...operator, fromFiles }],
    simulator: undefined,
    directory: undefined,
  };
}

/** The one operator of OPERATOR_…; `undefined` where none is set. */
function readOperator(read: EnvironmentReader, production: boolean): OperatorSettings | undefined {
  const access = readAccess(read, production);
  const profile = readProfile(read);
  return access === undefined ? undefined : { ...profile, ...access };
}

const BESIDE_AN_OPERATOR =
  'stands beside an operator, whose answers it would invent: leave out one of them';

/** Whether the simulator is to be asked, and where it is; `undefined` where it is to be started. */
type SimulatorChoice =
  | { readonly use: 'wanted'; readonly url: string | undefined }
  | { readonly use: 'where-nothing-is-set' };

function readSimulator(read: EnvironmentReader): SimulatorChoice {
  const name = 'SIMULATOR';
  const text = read.text(name);
  switch (text) {
    case 'auto':
      return { use: 'where-nothing-is-set' };
    case 'built-in':
      return { use: 'wanted', url: undefined };
    default: {
      const url = URL.parse(text);
      // It knows no secrets, and its answers are invented: it may be asked in clear.
      const isAddress =
        url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
      if (!isAddress) {
        read.unfit(name, 'must be auto, built-in, or an address such as http://simulator:4010');
      }
      return { use: 'wanted', url: url?.origin };
    }
  }
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
  if (!read.isSet('OPERATORS_FILE')) {
    const price = readPrice(read);
    return { priceOf: () => price, currency: price?.currency };
  }
  const prices = readOperatorPrices(read);
  const [first] = prices.values();
  return { priceOf: (operator) => prices.get(operator), currency: first?.currency };
}

/** Beside the file that is read they would be read by nothing. */
function refuseShortForm(read: EnvironmentReader): void {
  for (const name of VARIABLE_NAMES) {
    if (name.startsWith('OPERATOR_') && read.isSet(name)) {
      read.problem(name, 'is for one operator, and OPERATORS_FILE is set: say it in that file');
    }
  }
}
