import type { AuditSettings } from '../caller/audit/auditSettings.ts';
import type { CallerSettings } from '../caller/callerSettings.ts';
import type { QuotaSettings } from '../caller/quotas/quotas.ts';
import { readAudit } from './audit.ts';
import { configOf, type ConfigReading } from './configOf.ts';
import { readEgress } from './egress.ts';
import { EnvironmentReader, type Environment } from './environment.ts';
import type { LoadLimits } from './loadLimits.ts';
import {
  readOperators,
  readPrices,
  type OperatorPrices,
  type OperatorsConfig,
} from './operators.ts';
import type { SharedState } from './sharedState.ts';
import type { FromFiles } from '../files/fromFiles.ts';
import type { OperationLimits } from '../graphql/operationCost.ts';
import { createSchema, type Role } from '../graphql/schema.ts';
import {
  invalidDocuments,
  readManifest,
  type TrustedDocuments,
} from '../graphql/trustedDocuments.ts';
import type { LogLevel } from '../log/log.ts';
import type { ConsentSettings } from '../consents/consentSettings.ts';
import type { TracingSettings } from './tracingSettings.ts';

/** All settings of a process (docs/design.md, "Settings"), read once. */
export interface Config extends OperatorsConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly role: Role;
  readonly production: boolean;
  /** The origins whose pages may read what this service answers. */
  readonly allowedOrigins: readonly string[];
  /** The least that is logged. */
  readonly logLevel: LogLevel;
  /** Where there are any, nothing else is served. */
  readonly trustedDocuments: TrustedDocuments | undefined;
  /** The same, as their file has them by now. */
  readonly trustedDocumentsFile: FromFiles<TrustedDocuments> | undefined;
  readonly requestTimeoutMs: number;
  /** Where docs/ can be read, without a slash at its end; errors and alerts link there. */
  readonly docsUrl: string | undefined;
  /** Where Prometheus scrapes, on a port of its own; nothing is counted where absent. */
  readonly metricsPort: number | undefined;
  /** Where traces go; there are none where absent. */
  readonly tracing: TracingSettings | undefined;
  /** How long to go on after /readyz fails, for the load balancer to notice. */
  readonly drainGraceMs: number;
  readonly consent: ConsentSettings;
  /** Where consents lie that several processes share; in the process itself where absent. */
  readonly sharedState: SharedState | undefined;
  readonly limits: OperationLimits;
  /** For all requests together. */
  readonly load: LoadLimits;
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
  const read = new EnvironmentReader(environment);
  return configOf(read, PROGRAM);
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

/** What a check of the operators needs. */
export type OperatorsCheckConfig = Pick<OperatorsConfig, 'operators' | 'directory'>;

/**
 * Reads the operators alone, so that they can be tried before the rest of the settings is there.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readOperatorsConfig(environment: Environment = process.env): OperatorsCheckConfig {
  const read = new EnvironmentReader(environment);
  const { operators, directory } = readOperators(read, false, readEgress(read));
  read.finish();
  return { operators, directory };
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
