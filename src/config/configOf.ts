import type { Role } from '../graphql/typeDefs.ts';
import type { TrustedDocuments } from '../graphql/trustedDocuments.ts';
import { atOnce, inTurns, type Steps } from '../system/fromFiles.ts';
import { isLoopback } from '../wire/wireSettings.ts';
import { readAudit, readCallers, readQuotas } from './callers.ts';
import { readEgress } from './egress.ts';
import type { EnvironmentReader } from './environment.ts';
import { loadLimits } from './loadLimits.ts';
import { readOperators } from './operators.ts';
import { readSharedState } from './sharedState.ts';
import { readTracing } from './tracing.ts';

/** All settings of a process (docs/design.md, "Settings"), read once. */
export type Config = Readonly<ReturnType<typeof configOf>>;

/**
 * @param handedIn instead of OPERATORS_FILE
 * @param readDocuments reads TRUSTED_DOCUMENTS, by GraphQL; absent inside another program, which knows its callers and
 * serves them
 * @throws {ConfigError} that lists every problem by name
 */
export function configOf(
  read: EnvironmentReader,
  handedIn?: object,
  readDocuments?: (read: EnvironmentReader, role: Role) => Steps<TrustedDocuments | undefined>,
) {
  const isEmbedded = readDocuments === undefined;
  if (!isEmbedded && read.namedVariable(CHECKS_CERTIFICATES) === '0') {
    read.problem(CHECKS_CERTIFICATES, 'must not be 0: certificates are always checked. Unset it');
  }
  const production = read.value('NODE_ENV') === 'production';
  const host = read.value('HOST');
  const port = read.value('PORT');
  const role = read.value('ROLE');
  const exposure = exposureOf(host, production);
  const egress = readEgress(read);
  const callers = readCallers(read, role, exposure, isEmbedded, egress);
  const operators = readOperators(read, production, egress, handedIn);
  if (callers.tokens?.isForDevelopment === true && operators.simulator === undefined) {
    read.problem('DEV_TOKENS', FOR_REHEARSALS);
  }
  const documents = read.made(
    (reader) => readDocuments && atOnce(readDocuments(reader, role)),
    (reader) => readDocuments && inTurns(readDocuments(reader, role)),
  );
  const maxNumbersPerOperation = read.value('MAX_NUMBERS_PER_OPERATION');
  const metricsPort = read.value('METRICS_PORT');
  // On the service's port a proxy might expose them to anyone.
  if (metricsPort === port && port !== 0) {
    read.problem('METRICS_PORT', 'must be another port than PORT');
  }
  const config = {
    ...operators,
    listen: { host, port },
    role,
    production,
    allowedOrigins: read.value('ALLOWED_ORIGINS'),
    logLevel: read.value('LOG_LEVEL'),
    /** With them, no other document is served. */
    trustedDocuments: documents.value,
    /** The same with the present contents of their file. */
    trustedDocumentsFile: documents.fromFiles,
    requestTimeoutMs: read.value('REQUEST_TIMEOUT_MS'),
    /** The address of docs/, without a slash at its end; errors and alerts link to it. */
    docsUrl: read.value('DOCS_URL'),
    /** The port that Prometheus scrapes; nothing is counted where absent. */
    metricsPort,
    /** The collector of traces; none where absent. Another program may have OpenTelemetry's variables for itself. */
    tracing: isEmbedded ? undefined : readTracing(read, egress),
    /** How long to serve after /readyz fails, so that the load balancer notices. */
    drainGraceMs: read.value('DRAIN_GRACE_MS'),
    consent: {
      waitMs: read.value('CONSENT_WAIT_MS'),
      doubtMs: read.value('CONSENT_DOUBT_SECONDS') * 1000,
      deniedMs: read.value('CONSENT_DENIED_SECONDS') * 1000,
      failureMs: read.value('CONSENT_FAILURE_SECONDS') * 1000,
      resultMs: read.value('CONSENT_RESULT_SECONDS') * 1000,
    },
    /** The Redis for consents that processes share; where absent, each process has its own. */
    sharedState: readSharedState(read),
    load: loadLimits(
      read.value('MAX_NUMBERS_AT_WORK'),
      maxNumbersPerOperation,
      documents.value === undefined,
    ),
    limits: {
      maxNumbersPerOperation,
      maxQuestionsPerNumber: read.value('MAX_QUESTIONS_PER_NUMBER'),
      maxReplyBytes: Math.min(
        MAX_REPLY_BYTES,
        Math.max(MIN_REPLY_BYTES, maxNumbersPerOperation * REPLY_BYTES_PER_NUMBER),
      ),
    },
    callers,
    quotas: readQuotas(read, isEmbedded || callers.tokens !== undefined),
    /** Absent where nothing is audited: on loopback only. */
    audit: readAudit(read, exposure),
  };
  read.findUnknown();
  read.finish();
  return config;
}

/** A variable of Node: with 0, connections trust any certificate. */
const CHECKS_CERTIFICATES = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** The most bytes of the replies about one number, with their errors; and of any reply. */
const REPLY_BYTES_PER_NUMBER = 20_000;
const MIN_REPLY_BYTES = 2_000_000;
const MAX_REPLY_BYTES = 100_000_000;

/** Why others can reach the server, which then must authenticate its callers; `undefined` on loopback. */
function exposureOf(host: string, production: boolean): string | undefined {
  if (!isLoopback(host)) return 'the server listens where others can reach it (HOST)';
  return production ? 'required when NODE_ENV=production' : undefined;
}

const FOR_REHEARSALS =
  'is for rehearsals: anyone can sign a development token, so they are accepted only while every operator is the simulator. Leave it out, or set SIMULATOR in the place of the operator';
