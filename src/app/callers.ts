import { AuditFile } from '../caller/audit/auditFile.ts';
import type { AuditSettings } from '../caller/audit/auditSettings.ts';
import { AuditLog, type AuditTarget } from '../caller/audit/auditLog.ts';
import { CallerAdmissions } from '../caller/callerAdmission.ts';
import type { CallerSettings } from '../caller/callerSettings.ts';
import { developmentKeys } from '../caller/developmentTokens.ts';
import { Gate } from '../caller/gate.ts';
import type { Quotas } from '../caller/quotas/quotas.ts';
import { RouterProof } from '../caller/routerProof.ts';
import { SigningKeys } from '../caller/signingKeys.ts';
import type { TokenSettings } from '../caller/tokenSettings.ts';
import { TokenVerifier } from '../caller/tokenVerifier.ts';
import type { Clock } from '../system/clock.ts';
import type { WatchFiles } from '../files/fileWatch.ts';
import { PublishedJson } from '../http/connections/publishedJson.ts';
import type { Log } from '../log/log.ts';
import { logAbout } from '../log/logAbout.ts';
import { StandardOutput } from '../log/standardOutput.ts';

/** What both take. */
interface Parts {
  readonly clock: Clock;
  readonly log: Log;
}

interface GateParts extends Parts {
  readonly watchFiles: WatchFiles;
}

/** Everything that decides who is let in. */
export interface OpenedGate {
  readonly gate: Gate;
  /** Absent where every caller is anonymous. */
  readonly keys: SigningKeys | undefined;
  readonly close: () => Promise<void>;
}

/** Opens what decides who is let in. */
export function openGate(
  { tokens, routerSecrets, purposes }: CallerSettings,
  parts: GateParts,
): OpenedGate {
  const router = routerSecrets.length === 0 ? undefined : new RouterProof(routerSecrets);
  if (tokens === undefined) {
    const gate = new Gate({ router, tokens, purposes });
    return { gate, keys: undefined, close: () => Promise.resolve() };
  }
  const { verifier, keys, close } = openVerifier(tokens, parts);
  return { gate: new Gate({ router, tokens: verifier, purposes }), keys, close };
}

interface OpenedVerifier {
  readonly verifier: TokenVerifier;
  readonly keys: SigningKeys;
  readonly close: () => Promise<void>;
}

function openVerifier(tokens: TokenSettings, parts: GateParts): OpenedVerifier {
  const { clock, log } = parts;
  const source = tokens.isForDevelopment === true ? DEVELOPMENT_KEYS : publishedKeys(tokens, parts);
  const keys = new SigningKeys({ fetch: () => source.fetch(), clock, log });
  const verifier = new TokenVerifier(tokens, keys, clock, undefined, (reason) => {
    log.warn("a caller's access token was refused", { reason });
  });
  return { verifier, keys, close: () => source.close() };
}

/** Where an issuer's keys come from. */
interface KeySource {
  fetch(): Promise<unknown>;
  close(): Promise<void>;
}

const DEVELOPMENT_KEYS: KeySource = {
  fetch: () => Promise.resolve(developmentKeys()),
  close: () => Promise.resolve(),
};

function publishedKeys({ jwksUrl, jwksConnection }: TokenSettings, parts: GateParts): KeySource {
  const log = logAbout({ setting: 'JWT_JWKS_URL' }, parts.log);
  return new PublishedJson(jwksUrl, jwksConnection, { ...parts, log });
}

/** Everything that decides whether a lookup may be made, and records it. */
export interface OpenedAdmissions {
  readonly admissions: CallerAdmissions;
  /** Absent where nothing is audited: without a key, which loopback alone may do. */
  readonly auditLog: AuditLog | undefined;
}

export function createAdmissions(
  audit: AuditSettings | undefined,
  quotas: Quotas,
  { clock, log }: Parts,
): OpenedAdmissions {
  if (audit === undefined) {
    const admissions = new CallerAdmissions({ quotas, audit, clock, log });
    return { admissions, auditLog: undefined };
  }
  const auditLog = new AuditLog(auditTarget(audit.file, clock), clock);
  const audited = { auditLog, key: audit.keys[0] };
  return { admissions: new CallerAdmissions({ quotas, audit: audited, clock, log }), auditLog };
}

/** On standard output, a line of the audit log is told from one of the log by its member `audit`. */
function auditTarget(path: string | undefined, clock: Clock): AuditTarget {
  return path === undefined ? new StandardOutput() : new AuditFile(path, clock);
}
