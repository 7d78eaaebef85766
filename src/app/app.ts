import { AuditFile, AuditLog } from '../caller/audit/auditLog.ts';
import { callerAuthorizers } from '../caller/callerAuthorizer.ts';
import { Quotas } from '../caller/quotas/quotas.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { StandardOutput } from '../log/standardOutput.ts';
import { observedAuthorizers, type AdmissionObserver } from '../lookups/lookupAuthorizer.ts';
import { permitsPurpose, type OperatorSettings } from '../operator/operatorSettings.ts';
import { createSimSwaps, type SimSwapParts } from '../simSwaps/simSwaps.ts';
import type { Clock } from '../system/clock.ts';
import { openStores } from './stores.ts';

export interface AppParts {
  readonly config: Config;
  readonly operators: readonly OperatorSettings[];
  readonly clock: Clock;
  readonly log: Log;
  readonly observer?: AdmissionObserver | undefined;
  /** Of connections; absent without a server. */
  readonly acceptance?: SimSwapParts['acceptance'];
}

export type App = Awaited<ReturnType<typeof openApp>>;

/**
 * All that one configuration needs to answer. The service adds an HTTP server; the library has only this. Reads no
 * environment, handles no signal and starts no process.
 */
export async function openApp(parts: AppParts) {
  const { config, operators, clock, log, observer, acceptance } = parts;
  warnOfRefusedPurposes(parts);
  const stores = await openStores({ config, operators, clock, log });
  const names = operators.map(({ name }) => name);
  const quotas = new Quotas(config.quotas, stores.counts, names);
  const auditLog = openAuditLog(config, clock);
  const audit = auditLog && config.audit && { auditLog, key: config.audit.keys[0] };
  const named = operators.filter(({ scopes }) => scopes.purpose).map(({ name }) => name);
  const purposeGoesTo = new Set(named);
  const admissions = callerAuthorizers({ quotas, audit, purposeGoesTo, clock, log });
  const simSwaps = createSimSwaps({
    operators,
    stores,
    directory: config.directory,
    consent: config.consent,
    admissions: observedAuthorizers(admissions, observer),
    numberLimits: config.load.numbers,
    acceptance,
    clock,
    log,
  });
  return {
    config,
    clock,
    log,
    simSwaps,
    quotas,
    /** Absent without a key, which is allowed on loopback only. */
    auditLog,
    redis: stores.redis,
    /** Resolves once all work that must not be cut off has ended. */
    async close() {
      await simSwaps.close();
      await Promise.all([auditLog?.close(), stores.close()]);
    },
  };
}

function warnOfRefusedPurposes({ config: { callers }, operators, log }: AppParts): void {
  for (const operator of operators) {
    const refused = callers.purposes.filter((purpose) => !permitsPurpose(operator, purpose));
    if (refused.length === 0) continue;
    log.warn('Lookups for these purposes are refused. Map them in PURPOSES, or see the contract.', {
      operator: operator.name,
      purposes: refused.map(({ name }) => name).join(', '),
    });
  }
}

/** On standard output, lines of the audit log differ from those of the log by their member `audit`. */
function openAuditLog({ audit }: Config, clock: Clock): AuditLog | undefined {
  if (audit === undefined) return undefined;
  const target = audit.file === undefined ? new StandardOutput() : new AuditFile(audit.file, clock);
  return new AuditLog(target, clock);
}
