import { isDeepStrictEqual } from 'node:util';
import type { AuditSettings } from './caller/audit/auditSettings.ts';
import type { CallerSettings } from './caller/callerSettings.ts';
import type { QuotaSettings } from './caller/quotas/quotas.ts';
import { readAudit } from './config/audit.ts';
import { configOf, type ConfigReading } from './config/configOf.ts';
import type { Environment, EnvironmentReader, FixedValues } from './config/environment.ts';
import { environmentOf, type VariablesSource } from './config/environmentFiles.ts';
import { openSettings } from './config/openSettings.ts';
import {
  readOperators,
  readPrices,
  type OperatorPrices,
  type OperatorsConfig,
} from './config/operators.ts';
import type { FileProblem } from './config/operatorsFile/document.ts';
import { operatorsSource } from './config/operatorsFile/readOperatorsFile.ts';
import { Secrets } from './config/operatorsFile/secrets.ts';
import type { SharedState } from './config/sharedState.ts';
import type { OperationLimits } from './graphql/operationCost.ts';
import { createSchema, type Role } from './graphql/schema.ts';
import {
  invalidDocuments,
  readManifest,
  type TrustedDocuments,
} from './graphql/trustedDocuments.ts';
import type { LogLevel } from './log.ts';
import type { ConsentSettings } from './lookups/consentSettings.ts';
import type { TracingSettings } from './tracing/tracingSettings.ts';

/** All settings of a process (docs/design.md, "Settings"), read once. */
export interface Config extends OperatorsConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly role: Role;
  readonly production: boolean;
  /** Names, beside those of loopback, under which requests may come where no token is needed. */
  readonly allowedHosts: readonly string[];
  /** The origins whose pages may read what this service answers. */
  readonly allowedOrigins: readonly string[];
  /** The least that is logged. */
  readonly logLevel: LogLevel;
  /** Where there are any, nothing else is served. */
  readonly trustedDocuments: TrustedDocuments | undefined;
  readonly requestTimeoutMs: number;
  /** Where Prometheus scrapes: a port of its own, or the port of the service on loopback; nothing is counted where absent. */
  readonly metricsPort: number | undefined;
  /** Where traces go; there are none where absent. */
  readonly tracing: TracingSettings | undefined;
  /** Whether there is a line of the log for each request. */
  readonly logsRequests: boolean;
  /** Whether settings are read again when one of their files changes. */
  readonly reloadsOnChange: boolean;
  /** How long to go on after /readyz fails, for the load balancer to notice. */
  readonly drainGraceMs: number;
  readonly consent: ConsentSettings;
  /** Where consents lie that several processes share; in the process itself where absent. */
  readonly sharedState: SharedState | undefined;
  readonly limits: OperationLimits;
  readonly callers: CallerSettings;
  readonly quotas: QuotaSettings;
  /** Absent where nothing is audited: on loopback alone. */
  readonly audit: AuditSettings | undefined;
}

/**
 * Reads the settings. Nothing else in the program reads the environment.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readConfig(environment: Environment = process.env): Config {
  const read = openSettings(environment);
  return configOf(read, PROGRAM);
}

/** The settings of a process, read at its start and again whenever that is asked for. */
export interface ReadSettings {
  readonly config: Config;
  /** All that were read. */
  readonly files: readonly string[];
  /** Settings that have changed since the start, and count from the next start on. */
  readonly waitingForRestart: readonly string[];
  /**
   * Reads all of them anew. What a reload leaves alone is as it was at the start, and all else is judged beside that.
   *
   * @throws {ConfigError} that lists every problem by name
   */
  again(): ReadSettings;
}

/**
 * Reads the settings of this process: its variables, and what the files of `--env-file` say by now.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readSettings(): ReadSettings {
  const variables = environmentOf(process.env, process.execArgv);
  return settingsFrom(variables);
}

/** The same, from other variables: what they are is asked for at each reading. */
export function settingsFrom(
  variables: VariablesSource,
  fixed?: FixedValues,
  before?: Config,
): ReadSettings {
  const read = openSettings(variables.read(), fixed);
  const fresh = configOf(read, PROGRAM);
  const { config, waitingForRestart } =
    before === undefined ? { config: fresh, waitingForRestart: [] } : besides(before, fresh);
  const start = fixed ?? read.takingRestart;
  return {
    config,
    files: [...variables.files, ...read.files],
    waitingForRestart: [...read.waitingForRestart, ...waitingForRestart],
    again: () => settingsFrom(variables, start, config),
  };
}

/** What can only be there from the start, whatever it is: an audit log, a simulator in an operator's place. */
function besides(
  before: Config,
  fresh: Config,
): { readonly config: Config; readonly waitingForRestart: readonly string[] } {
  const waitingForRestart: string[] = [];
  let config = fresh;
  if ((before.audit === undefined) !== (fresh.audit === undefined)) {
    config = { ...config, audit: before.audit };
    waitingForRestart.push('AUDIT_KEY');
  }
  const { sharedState } = fresh;
  if (sharedState !== undefined && before.sharedState !== undefined) {
    const { redis } = before.sharedState;
    if (!isDeepStrictEqual(redis, sharedState.redis)) waitingForRestart.push('REDIS_URL');
    config = { ...config, sharedState: { ...sharedState, redis } };
  }
  if ((before.simulator === undefined) !== (fresh.simulator === undefined)) {
    const { operators, simulator, directory } = before;
    config = { ...config, operators, simulator, directory };
    waitingForRestart.push('OPERATOR_AUTH_URL');
  }
  return { config, waitingForRestart };
}

/**
 * Reads what a search of the audit log needs.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readAuditConfig(environment: Environment = process.env): AuditSettings | undefined {
  const read = openSettings(environment);
  const audit = readAudit(read, 'a search needs it');
  read.finish();
  return audit;
}

/** What a check of the operators needs. */
export type OperatorsCheckConfig = Pick<OperatorsConfig, 'operators' | 'directory'>;

/**
 * Reads the operators alone, so that they can be tried before the rest of the settings is there.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readOperatorsConfig(environment: Environment = process.env): OperatorsCheckConfig {
  const read = openSettings(environment);
  const { operators, directory } = readOperators(read, false);
  read.finish();
  return { operators, directory };
}

/**
 * What is wrong with the secrets that a file of operators points to, by the file's own folder and the variables of this
 * process. A value may be anything.
 */
export function secretProblemsBy(
  file: string,
  environment: Environment = process.env,
): (value: unknown) => Iterable<FileProblem> {
  const secrets = new Secrets(file, openSettings(environment));
  return (value) => secrets.problems(value);
}

/**
 * The file that names the operators: OPERATORS_FILE, or SETTINGS_FILE where that does.
 *
 * @throws {ConfigError} where SETTINGS_FILE cannot be read
 */
export function readOperatorsFileName(environment: Environment = process.env): string | undefined {
  const read = openSettings(environment);
  const source = operatorsSource(read);
  return source === undefined ? undefined : read.text(source);
}

/** What a report of usage needs. */
export interface UsageConfig extends OperatorPrices {
  readonly auditLog: string | undefined;
}

/**
 * Reads what a report of usage needs.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readUsageConfig(environment: Environment = process.env): UsageConfig {
  const read = openSettings(environment);
  const auditLog = read.text('AUDIT_LOG');
  const prices = readPrices(read);
  read.finish();
  return { auditLog, ...prices };
}

const PROGRAM: ConfigReading = { readDocuments: readTrustedDocuments, isEmbedded: false };

function readTrustedDocuments(read: EnvironmentReader, role: Role): TrustedDocuments | undefined {
  const name = 'TRUSTED_DOCUMENTS';
  if (!read.isSet(name)) return undefined;
  if (role === 'subgraph') {
    read.problem(name, 'is for ROLE=bff: a router writes documents of its own');
    return undefined;
  }
  const text = read.file(name, 'the manifest of the documents that clients may send by id');
  if (text === undefined) return undefined;
  const documents = readManifest(text);
  if (documents === undefined) {
    read.problem(name, "names a file that is not a manifest of Apollo's or of GraphQL Codegen's");
    return undefined;
  }
  for (const invalid of invalidDocuments(documents, createSchema(role))) {
    read.problem(name, `has a document that cannot be served: ${invalid}`);
  }
  return documents;
}
