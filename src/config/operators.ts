import type { NumberDirectorySettings, OperatorSettings } from '../operator/operatorSettings.ts';
import { sentence } from './document.ts';
import type { Egress } from './egress.ts';
import type { EnvironmentReader } from './environment.ts';
import { readProfile } from './profiles.ts';
import {
  placeholderSecrets,
  operatorsIn,
  operatorsInFile,
  readOperatorsOf,
  type OperatorsSource,
} from './operatorsFile.ts';
import { flowsOf } from './entrySettings.ts';
import { VARIABLE_NAMES, type VariableName } from './settings.ts';

type SimulatorPlace = Record<'authUrl' | 'simSwapUrl' | 'clientId' | 'clientSecret', string>;

export interface OperatorsConfig {
  readonly operators: readonly OperatorSettings[];
  /** Set where no operator is configured: makes the simulator's settings once its address is known. */
  readonly simulator: ((place: SimulatorPlace) => readonly OperatorSettings[]) | undefined;
  /** The address of a simulator in another process; the built-in one is started where absent. */
  readonly simulatorUrl?: string | undefined;
  /** Names the operator that serves a number; where absent, the prefix decides. */
  readonly directory: NumberDirectorySettings | undefined;
}

/**
 * Reads OPERATORS_FILE, or a program's object instead, otherwise the one operator of OPERATOR_….
 *
 * @param handedIn an object with the members of that file
 */
export function readOperators(
  read: EnvironmentReader,
  production: boolean,
  egress: Egress,
  handedIn?: object,
): OperatorsConfig {
  const forAll = { keepFactsSeconds: read.value('KEEP_FACTS_SECONDS'), egress };
  const hasFile = read.isSet('OPERATORS_FILE') || handedIn !== undefined;
  const simulator = readSimulator(read);
  const hasAddresses = ADDRESSING.some((name) => read.isSet(name));
  // `.env.example` names the default.
  const isIntended = hasAddresses || read.value('OPERATOR_PROFILE') !== 'vodafone';
  const noOperators = { operators: [], directory: undefined };
  if (simulator !== 'auto' || (!hasFile && !isIntended && !production)) {
    if (hasFile || hasAddresses) read.problem('SIMULATOR', WITH_AN_OPERATOR);
    const simulated = ({ authUrl, simSwapUrl, clientId, clientSecret }: SimulatorPlace) => {
      const client = { id: clientId, secret: { variable: 'SIMULATOR' }, key: undefined };
      const source = shortForm(read, { authUrl, simSwapUrl, client });
      return readOperatorsOf(source, read, forAll, () => placeholderSecrets(clientSecret))
        .operators;
    };
    simulated(PLACEHOLDER);
    return {
      ...noOperators,
      simulator: simulated,
      simulatorUrl: simulator === 'auto' || simulator === 'built-in' ? undefined : simulator,
    };
  }
  if (handedIn !== undefined && read.isSet('OPERATORS_FILE')) {
    read.problem('OPERATORS_FILE', 'is set, but operators are passed in as well: set one of them');
  }
  // With the file set, nothing would read them.
  const surplus = hasFile ? SHORT_FORM.filter((name) => read.isSet(name)) : [];
  for (const name of surplus) {
    read.problem(name, 'is for one operator, and OPERATORS_FILE is set: set it in that file');
  }
  const why = isIntended ? 'an operator has two addresses' : NO_SIMULATOR;
  const fromSettings = () => (hasFile ? operatorsInFile(read) : shortForm(read, {}, why));
  const source =
    handedIn === undefined
      ? fromSettings()
      : operatorsIn(handedIn, (problem) => ['operators, as passed in:', sentence(problem)]);
  if (source === undefined) return { ...noOperators, simulator: undefined };
  return { ...readOperatorsOf(source, read, forAll), simulator: undefined };
}

const WITH_AN_OPERATOR = 'cannot be set together with an operator, whose answers it would invent';

const NO_SIMULATOR = 'there is no built-in simulator when NODE_ENV=production';

const SHORT_FORM = [...VARIABLE_NAMES].filter((name) => name.startsWith('OPERATOR_'));

/** Each of them implies an operator: the simulator's invented answers would be wrong. */
const ADDRESSING = SHORT_FORM.filter((name) => !/_(?:PROFILE|FLOW|TIMEOUT_MS)$/.test(name));

/** A placeholder for the simulator's address, to find problems of the settings before it runs. */
const PLACEHOLDER: SimulatorPlace = {
  authUrl: 'https://simulator.invalid',
  simSwapUrl: 'https://simulator.invalid',
  clientId: 'simulated',
  clientSecret: 'simulated',
};

/** The entry of OPERATOR_…, which is read like an entry of the file. */
function shortForm(
  read: EnvironmentReader,
  inItsPlace: object,
  whyAddresses = '',
): OperatorsSource {
  const profile = read.value('OPERATOR_PROFILE');
  const { loaded } = readProfile(profile, process.cwd());
  const hasFlowChoice = loaded !== undefined && flowsOf(loaded.profile).length > 1;
  const flow =
    hasFlowChoice || read.isSet('OPERATOR_FLOW') ? read.value('OPERATOR_FLOW') : undefined;
  const secretFile = read.namedVariable('OPERATOR_CLIENT_SECRET_FILE');
  const hasSecret = read.isSet('OPERATOR_CLIENT_SECRET');
  if (hasSecret && secretFile !== undefined) {
    const what = 'is set as well as OPERATOR_CLIENT_SECRET: set one of them';
    read.problem('OPERATOR_CLIENT_SECRET_FILE', what);
  }
  const keyFile = read.value('OPERATOR_ASSERTION_KEY_FILE');
  // Once an address has been reported, problems of the other members are found with a valid one.
  const addressOf = (name: 'OPERATOR_AUTH_URL' | 'OPERATOR_SIM_SWAP_URL') =>
    read.isSet(name) ? (read.value(name) ?? 'https://unreadable.invalid') : undefined;
  const authUrl = addressOf('OPERATOR_AUTH_URL');
  const simSwapUrl = addressOf('OPERATOR_SIM_SWAP_URL');
  if (simSwapUrl === undefined && !('simSwapUrl' in inItsPlace)) {
    read.problem('OPERATOR_SIM_SWAP_URL', `is missing: ${whyAddresses}`);
  }
  const entry = {
    name: 'operator',
    profile,
    prefixes: ['default'],
    flow,
    authUrl,
    simSwapUrl: simSwapUrl ?? 'https://unreadable.invalid',
    client: {
      id: read.value('OPERATOR_CLIENT_ID'),
      secret: secretFile
        ? { file: secretFile }
        : hasSecret
          ? { variable: 'OPERATOR_CLIENT_SECRET' }
          : undefined,
      key: keyFile && { file: keyFile },
    },
    limits: { timeoutMs: read.value('OPERATOR_TIMEOUT_MS') },
    ...inItsPlace,
  };
  // Members without a value are absent, as in JSON.
  const value: unknown = JSON.parse(JSON.stringify({ operators: [entry] }));
  const source = operatorsIn(value, ({ path: [, , ...member], what }) => {
    const where = member.join('.');
    const of = Object.keys(VARIABLES).find((one) => `${where}.`.startsWith(`${one}.`)) ?? '';
    const name = VARIABLES[of];
    if (name === undefined) {
      const why = `takes an entry of OPERATORS_FILE, which has ${where}: it ${what}`;
      return ['OPERATOR_PROFILE', why];
    }
    if (of === 'client.secret' && secretFile !== undefined) return [`${name}_FILE`, what];
    const isMissing = of === 'authUrl' && what.startsWith('is missing');
    return [name, isMissing ? `is missing: ${whyAddresses}` : what];
  });
  return { ...source, variables: VARIABLES };
}

const VARIABLES: Readonly<Record<string, VariableName>> = {
  profile: 'OPERATOR_PROFILE',
  flow: 'OPERATOR_FLOW',
  authUrl: 'OPERATOR_AUTH_URL',
  simSwapUrl: 'OPERATOR_SIM_SWAP_URL',
  'client.id': 'OPERATOR_CLIENT_ID',
  'client.secret': 'OPERATOR_CLIENT_SECRET',
  'client.key': 'OPERATOR_ASSERTION_KEY_FILE',
  'limits.timeoutMs': 'OPERATOR_TIMEOUT_MS',
};

/** The address of a simulator, `built-in`, or `auto`. */
function readSimulator(read: EnvironmentReader): string {
  const name = 'SIMULATOR';
  const text = read.value(name);
  if (text === 'auto' || text === 'built-in') return text;
  const url = URL.parse(text);
  // Without secrets and real answers plain HTTP is sufficient.
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isAddress) {
    read.unfit(name, 'must be auto, built-in, or an address such as http://simulator:4010');
  }
  return url?.origin ?? 'built-in';
}
