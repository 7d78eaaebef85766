import type { AuditSettings } from '../caller/audit/auditLog.ts';
import type { CallerSettings } from '../caller/callerSettings.ts';
import type { QuotaSettings } from '../caller/quotas/quotas.ts';
import type { ConsentSettings } from '../consents/consentRecord.ts';
import type { FromFiles } from '../system/fromFiles.ts';
import type { OperationLimits } from '../graphql/operationCost.ts';
import type { Role } from '../graphql/schema.ts';
import type { TrustedDocuments } from '../graphql/trustedDocuments.ts';
import { isLoopback } from '../http/address.ts';
import type { LogLevel } from '../log/log.ts';
import { readAudit } from './audit.ts';
import { readCallers } from './callers.ts';
import { readEgress } from './egress.ts';
import type { EnvironmentReader } from './environment.ts';
import { loadLimits, type LoadLimits } from './loadLimits.ts';
import { readOperators, type OperatorsConfig } from './operators.ts';
import { readQuotas } from './quotas.ts';
import { readSharedState, type SharedState } from './sharedState.ts';
import { readTracing, type TracingSettings } from './tracing.ts';
import { MAX_DOCS_URL_CHARACTERS } from '../domain/errors.ts';

/** All settings of a process (docs/design.md, "Settings"), read once. */
export interface Config extends OperatorsConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly role: Role;
  readonly production: boolean;
  readonly allowedOrigins: readonly string[];
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

/** What is read in one way by the program, and in another inside another program. */
export interface ConfigReading {
  /** Reads TRUSTED_DOCUMENTS. It takes GraphQL, which not everything that reads settings does. */
  readonly readDocuments: (read: EnvironmentReader, role: Role) => TrustedDocuments | undefined;
  readonly operators?: object | undefined;
  /** Another program knows its callers, and serves them. */
  readonly isEmbedded: boolean;
}

/**
 * All settings, as they are read.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function configOf(
  read: EnvironmentReader,
  { readDocuments, isEmbedded, operators: handedIn }: ConfigReading,
): Config {
  if (!isEmbedded && read.namedVariable(CHECKS_CERTIFICATES) === '0') {
    read.problem(CHECKS_CERTIFICATES, 'must not be 0: certificates are always checked. Unset it');
  }
  const production = read.oneOf('NODE_ENV') === 'production';
  const host = read.text('HOST');
  const role = read.oneOf('ROLE');
  const exposure = exposureOf(host, production);
  const egress = readEgress(read);
  const callers = readCallers(read, role, exposure, isEmbedded, egress);
  const operators = readOperators(read, production, egress, handedIn);
  if (callers.tokens?.isForDevelopment === true && operators.simulator === undefined) {
    read.problem('DEV_TOKENS', FOR_REHEARSALS);
  }
  const maxNumbersPerOperation = read.integer('MAX_NUMBERS_PER_OPERATION');
  const documents = read.made((reader) => readDocuments(reader, role));
  const config: Config = {
    listen: { host, port: read.integer('PORT') },
    role,
    production,
    allowedOrigins: readAllowedOrigins(read),
    logLevel: read.oneOf('LOG_LEVEL'),
    trustedDocuments: documents.value,
    trustedDocumentsFile: documents.fromFiles,
    ...operators,
    requestTimeoutMs: read.integer('REQUEST_TIMEOUT_MS'),
    docsUrl: readDocsUrl(read),
    metricsPort: readMetricsPort(read),
    // The other program may have variables of OpenTelemetry's for itself.
    tracing: isEmbedded ? undefined : readTracing(read, egress),
    drainGraceMs: read.integer('DRAIN_GRACE_MS'),
    consent: {
      waitMs: read.integer('CONSENT_WAIT_MS'),
      doubtSeconds: read.integer('CONSENT_DOUBT_SECONDS'),
      deniedSeconds: read.integer('CONSENT_DENIED_SECONDS'),
      failureSeconds: read.integer('CONSENT_FAILURE_SECONDS'),
      resultSeconds: read.integer('CONSENT_RESULT_SECONDS'),
    },
    sharedState: readSharedState(read),
    load: loadLimits(read.integer('MAX_NUMBERS_AT_WORK'), maxNumbersPerOperation),
    limits: {
      maxNumbersPerOperation,
      maxQuestionsPerNumber: read.integer('MAX_QUESTIONS_PER_NUMBER'),
      maxReplyBytes: Math.min(
        MAX_REPLY_BYTES,
        Math.max(MIN_REPLY_BYTES, maxNumbersPerOperation * REPLY_BYTES_PER_NUMBER),
      ),
    },
    callers,
    quotas: readQuotas(read, isEmbedded || callers.tokens !== undefined),
    audit: readAudit(read, exposure),
  };
  read.findUnknown();
  read.finish();
  return config;
}

/** By Node: with 0, connections trust any certificate. */
const CHECKS_CERTIFICATES = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** On the port of the service a proxy may show them to anyone. */
function readMetricsPort(read: EnvironmentReader): number | undefined {
  const port = read.integer('METRICS_PORT');
  const isMain = port !== undefined && port !== 0 && port === read.integer('PORT');
  if (isMain) read.problem('METRICS_PORT', 'must be another port than PORT');
  return port;
}

/** Of the replies to all questions about one number, with their errors; and of any reply. */
const REPLY_BYTES_PER_NUMBER = 20_000;
const MIN_REPLY_BYTES = 2_000_000;
const MAX_REPLY_BYTES = 100_000_000;

/** Why strangers may reach the server, so that it must know its callers; `undefined` when none can. */
function exposureOf(host: string, production: boolean): string | undefined {
  if (!isLoopback(host)) return 'the server listens where others can reach it (HOST)';
  return production ? 'required when NODE_ENV=production' : undefined;
}

const FOR_REHEARSALS =
  'is for rehearsals: anyone can sign a development token, so they are accepted only while every operator is the simulator. Leave it out, or set SIMULATOR in the place of the operator';

/** Reads ALLOWED_ORIGINS: as browsers send them in `origin`. */
function readAllowedOrigins(read: EnvironmentReader): readonly string[] {
  const name = 'ALLOWED_ORIGINS';
  const origins = read.list(name);
  for (const origin of origins) {
    const url = URL.parse(origin);
    if (url === null || url.origin !== origin || !/^https?:$/.test(url.protocol)) {
      read.problem(
        name,
        'must be origins such as https://app.example, without a path, with commas between',
      );
    } else if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
      read.problem(
        name,
        'must have origins that start with https://, unless they are on this machine',
      );
    }
  }
  return origins;
}

/** Reads DOCS_URL: it is bounded, since each error of a reply has it. */
function readDocsUrl(read: EnvironmentReader): string | undefined {
  const url = read.url('DOCS_URL');
  if (url !== undefined && url.length > MAX_DOCS_URL_CHARACTERS) {
    read.problem('DOCS_URL', `must have ${MAX_DOCS_URL_CHARACTERS} characters at most`);
  }
  return url;
}
