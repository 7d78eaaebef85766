import type { AuditSettings } from '../caller/audit/auditLog.ts';
import { readAudit } from './audit.ts';
import { configOf, type Config, type ConfigReading } from './configOf.ts';
import { readEgress } from './egress.ts';
import { EnvironmentReader, type Environment } from './environment.ts';
import {
  readOperators,
  readPrices,
  type OperatorPrices,
  type OperatorsConfig,
} from './operators.ts';
import { createSchema, type Role } from '../graphql/schema.ts';
import {
  invalidDocuments,
  readManifest,
  type TrustedDocuments,
} from '../graphql/trustedDocuments.ts';

export type { Config } from './configOf.ts';

/**
 * Reads the settings. Nothing else in the program reads the environment.
 *
 * @param operators an object with the members of OPERATORS_FILE, in its place
 * @throws {ConfigError} that lists every problem by name
 */
export function readConfig(environment: Environment = process.env, operators?: object): Config {
  const read = new EnvironmentReader(environment);
  return configOf(read, { ...PROGRAM, operators });
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

export type OperatorsCheckConfig = Pick<OperatorsConfig, 'operators' | 'directory'>;

/**
 * Reads the operators alone, so that they can be tried before the rest of the settings is there.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readOperatorsConfig(
  environment: Environment = process.env,
  handedIn?: object,
): OperatorsCheckConfig {
  const read = new EnvironmentReader(environment);
  const { operators, directory } = readOperators(read, false, readEgress(read), handedIn);
  read.finish();
  return { operators, directory };
}

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
  const text = read.file(name);
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
