import type { Clock } from '../clock.ts';
import type { LookupFailure } from '../errors.ts';
import type { Log } from '../log.ts';
import type { AdmittedLookup, Admission, AskedLookup, LookupEnd } from '../lookups/admission.ts';
import type { AuditTrail } from './audit/auditTrail.ts';
import { auditEntry } from './audit/entry.ts';
import { ANONYMOUS } from './caller.ts';
import type { Quotas } from './quotas.ts';

/** What admission takes. */
export interface AdmissionParts {
  readonly quotas: Quotas;
  /** Absent where nothing is put on record: on loopback alone. */
  readonly audit: { readonly trail: AuditTrail; readonly key: string } | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Admits a lookup that is inside its caller's quotas and that is on record. */
export class CallerAdmission implements Admission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  async admit(asked: AskedLookup): Promise<AdmittedLookup | { readonly failure: LookupFailure }> {
    const failure = await this.#overQuota(asked);
    if (failure !== undefined) return { failure };
    if (!(await this.#record(asked))) return { failure: NOT_ON_RECORD };
    return {
      ended: async (end) => {
        await this.#record(asked, end);
      },
    };
  }

  async #overQuota({ event, number, request, consentId }: AskedLookup) {
    // Nobody in particular; and what a consent has bought was counted when the consent was asked for.
    const isCounted =
      request.caller !== ANONYMOUS.key && (event === 'consent-request' || consentId === undefined);
    if (!isCounted) return undefined;
    const { quotas, log } = this.#parts;
    try {
      const retryAfterSeconds = await quotas.count(request.caller, number);
      return retryAfterSeconds === undefined ? undefined : { ...OVER_QUOTA, retryAfterSeconds };
    } catch (error) {
      log.error('the quotas cannot be counted', { error: nameOf(error) });
      return { ...OVER_QUOTA, retryAfterSeconds: 1 };
    }
  }

  /** Whether it is on record. */
  async #record(asked: AskedLookup, outcome?: LookupEnd): Promise<boolean> {
    const { audit, clock, log } = this.#parts;
    if (audit === undefined) return true;
    const moment = { key: audit.key, nowMs: clock.nowMs() };
    try {
      await audit.trail.write(
        auditEntry(asked, outcome === undefined ? moment : { ...moment, outcome }),
      );
      return true;
    } catch (error) {
      log.error('the audit trail cannot be written', {
        error: nameOf(error),
        correlator: asked.request.correlator.name,
      });
      return false;
    }
  }
}

const OVER_QUOTA: LookupFailure = { code: 'RATE_LIMITED', reach: 'number' };

const NOT_ON_RECORD: LookupFailure = { code: 'AUDIT_UNAVAILABLE', reach: 'number' };

/** Such as ENOSPC; a message would name the file. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
