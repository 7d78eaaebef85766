import type { Config } from '../config.ts';
import type { Role } from '../graphql/schema.ts';
import type { TrustedDocuments } from '../graphql/trustedDocuments.ts';
import { isLoopback } from '../http/loopback.ts';
import { readAudit } from './audit.ts';
import { readCallers } from './callers.ts';
import type { EnvironmentReader } from './environment.ts';
import { readOperators } from './operators.ts';
import { readQuotas } from './quotas.ts';
import { readSharedState } from './sharedState.ts';
import { readTracing } from './tracing.ts';
import { readAllowedHosts, readAllowedOrigins } from './web.ts';

/** What is read in one way by the program, and in another inside another program. */
export interface ConfigReading {
  /** Reads TRUSTED_DOCUMENTS. It takes GraphQL, which not everything that reads settings does. */
  readonly readDocuments: (read: EnvironmentReader, role: Role) => TrustedDocuments | undefined;
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
  { readDocuments, isEmbedded }: ConfigReading,
): Config {
  const production = read.text('NODE_ENV') === 'production';
  const host = read.text('HOST');
  const role = read.oneOf('ROLE');
  const exposure = exposureOf(host, production);
  const callers = readCallers(read, role, exposure);
  const operators = readOperators(read, production);
  if (callers.tokens?.isForDevelopment === true && operators.simulator === undefined) {
    read.problem('DEV_TOKENS', FOR_REHEARSALS);
  }
  const config: Config = {
    listen: { host, port: read.integer('PORT') },
    role,
    production,
    allowedHosts: readAllowedHosts(read),
    allowedOrigins: readAllowedOrigins(read),
    logLevel: read.oneOf('LOG_LEVEL'),
    trustedDocuments: readDocuments(read, role),
    ...operators,
    requestTimeoutMs: read.integer('REQUEST_TIMEOUT_MS'),
    metricsPort: readMetricsPort(read),
    tracing: readTracing(read),
    logsRequests: read.boolean('LOG_REQUESTS'),
    reloadsOnChange: read.boolean('RELOAD_ON_CHANGE'),
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

const FOR_REHEARSALS =
  'is for rehearsals: anyone can sign a development token, so they are accepted only while every operator is the simulator. Leave it out, or set SIMULATOR in the place of the operator';
