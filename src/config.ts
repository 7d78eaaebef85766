import type { AuditSettings } from './caller/audit/auditSettings.ts';
import type { CallerSettings } from './caller/callerSettings.ts';
import type { QuotaSettings } from './caller/quotas/quotas.ts';
import { readAudit } from './config/audit.ts';
import { readCallers } from './config/callers.ts';
import { ConfigError, EnvironmentReader, type Environment } from './config/environment.ts';
import { isLoopback } from './http/loopback.ts';
import { readAllowedHosts, readAllowedOrigins } from './config/web.ts';
import {
  readOperators,
  readPrices,
  type OperatorPrices,
  type OperatorsConfig,
} from './config/operators.ts';
import { readQuotas } from './config/quotas.ts';
import { readSharedState, type SharedState } from './config/sharedState.ts';
import type { OperationLimits } from './graphql/operationCost.ts';
import { createSchema, type Role } from './graphql/schema.ts';
import {
  invalidDocuments,
  readManifest,
  type TrustedDocuments,
} from './graphql/trustedDocuments.ts';
import type { LogLevel } from './log.ts';
import type { ConsentSettings } from './lookups/consentSettings.ts';

/** All settings of a process (design §6), read once. */
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
  /** Whether there is a line of the log for each request. */
  readonly logsRequests: boolean;
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
  return readAll(environment, false);
}

/**
 * Reads the settings of what answers inside another program, which serves it and knows its callers: what concerns a
 * server of our own is not looked at.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readEmbeddedConfig(settings: Environment): Config {
  const config = readAll({ ...settings, ...NOT_EMBEDDED }, true);
  if (config.simulator === undefined) return config;
  // Of what it invents nothing may reach a program that did not ask for it.
  throw new ConfigError([
    'OPERATOR_AUTH_URL is missing: inside another program there is no built-in simulator. Set it and OPERATOR_SIM_SWAP_URL, or OPERATORS_FILE.',
  ]);
}

/** Settings of the server, its callers and those who run it. */
const NOT_EMBEDDED = {
  HOST: undefined,
  PORT: undefined,
  NODE_ENV: undefined,
  METRICS_PORT: undefined,
  TRUSTED_DOCUMENTS: undefined,
  ROUTER_SECRET: undefined,
  ROUTER_SECRET_FILE: undefined,
  ROUTER_SECRET_PREVIOUS: undefined,
  ROUTER_SECRET_PREVIOUS_FILE: undefined,
  JWT_JWKS_URL: undefined,
  JWT_ISSUER: undefined,
  JWT_AUDIENCE: undefined,
  BATCH_SCOPE: undefined,
} as const satisfies Environment;

function readAll(environment: Environment, isEmbedded: boolean): Config {
  const read = new EnvironmentReader(environment);
  const production = read.text('NODE_ENV') === 'production';
  const host = read.text('HOST');
  const role = read.oneOf('ROLE');
  const exposure = exposureOf(host, production);
  const callers = readCallers(read, role, exposure);
  const config: Config = {
    listen: { host, port: read.integer('PORT') },
    role,
    production,
    allowedHosts: readAllowedHosts(read),
    allowedOrigins: readAllowedOrigins(read),
    logLevel: read.oneOf('LOG_LEVEL'),
    trustedDocuments: readTrustedDocuments(read, role),
    ...readOperators(read, production),
    requestTimeoutMs: read.integer('REQUEST_TIMEOUT_MS'),
    metricsPort: readMetricsPort(read),
    logsRequests: read.boolean('LOG_REQUESTS'),
    drainGraceMs: read.integer('DRAIN_GRACE_MS'),
    consent: {
      waitMs: read.integer('CONSENT_WAIT_MS'),
      maxWaitMs: read.integer('CONSENT_MAX_WAIT_MS'),
      doubtSeconds: read.integer('CONSENT_DOUBT_SECONDS'),
      deniedSeconds: read.integer('CONSENT_DENIED_SECONDS'),
      failureSeconds: read.integer('CONSENT_FAILURE_SECONDS'),
      resultSeconds: read.integer('CONSENT_RESULT_SECONDS'),
    },
    sharedState: readSharedState(read),
    limits: {
      maxNumbersPerOperation: read.integer('MAX_NUMBERS_PER_OPERATION'),
      maxQuestionsPerNumber: read.integer('MAX_QUESTIONS_PER_NUMBER'),
      maxReplyBytes: read.integer('MAX_REPLY_BYTES'),
    },
    callers,
    quotas: readQuotas(read, isEmbedded || callers.tokens !== undefined),
    audit: readAudit(read, exposure),
  };
  read.findTypos();
  read.finish();
  return config;
}

/**
 * Reads what a search of the audit log needs.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readAuditConfig(environment: Environment = process.env): AuditSettings | undefined {
  const read = new EnvironmentReader(environment);
  const audit = readAudit(read, 'a search needs it');
  read.finish();
  return audit;
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
  const read = new EnvironmentReader(environment);
  const auditLog = read.text('AUDIT_LOG');
  const prices = readPrices(read);
  read.finish();
  return { auditLog, ...prices };
}

/** On the port of the service everyone who asks it could read how much it is asked: there it is for loopback. */
function readMetricsPort(read: EnvironmentReader): number | undefined {
  const port = read.integer('METRICS_PORT');
  const isMain = port !== undefined && port !== 0 && port === read.integer('PORT');
  if (isMain && !isLoopback(read.text('HOST'))) {
    read.problem(
      'METRICS_PORT',
      'must be another port than PORT, unless the service listens on loopback',
    );
  }
  return port;
}

/** Why strangers may reach the server, so that it must know its callers; `undefined` when none can. */
function exposureOf(host: string, production: boolean): string | undefined {
  if (!isLoopback(host)) return 'the server listens where others can reach it (HOST)';
  return production ? 'NODE_ENV=production asks for it' : undefined;
}

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
