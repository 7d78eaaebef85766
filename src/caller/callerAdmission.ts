import type { Clock } from '../clock.ts';
import type { LookupFailure } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Admission, Admitted, Asked, Denied, Heard } from '../lookups/admission.ts';
import type { AuditTrail } from './audit/auditTrail.ts';
import {
  auditedRequest,
  entryAfter,
  entryBefore,
  entryHeard,
  type AuditedRequest,
  type AuditEntry,
} from './audit/entry.ts';
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

/** Admits what is inside its caller's quotas and is recorded. */
export class CallerAdmission implements Admission {
  readonly #parts: AdmissionParts;
  /** Told once a request, not once a lookup. */
  readonly #requests = new WeakMap<Asked['request'], AuditedRequest>();
  #now = { ms: Number.NaN, text: '' };

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  admit(asked: Asked): Promise<Admitted | Denied> | Admitted {
    const { audit } = this.#parts;
    return audit === undefined && !isCounted(asked) ? UNRECORDED : this.#admit(asked, audit);
  }

  heard(heard: Heard): Promise<LookupFailure | undefined> | undefined {
    const { audit } = this.#parts;
    return audit === undefined ? undefined : this.#recordHeard(heard, audit);
  }

  async #admit(asked: Asked, audit: AdmissionParts['audit']): Promise<Admitted | Denied> {
    const failure = isCounted(asked) ? await this.#overQuota(asked) : undefined;
    if (failure !== undefined) return { failure };
    if (audit === undefined) return UNRECORDED;

    const { key, trail } = audit;
    const request = this.#requestOf(asked, key);
    const before = entryBefore(asked, request, { key, time: this.#time() });
    if (!(await this.#record(trail, before))) return { failure: NOT_ON_RECORD };
    // Nothing is asked of the operator for a status: it has no line after it.
    if (asked.event === 'consent-status') return UNRECORDED;
    return {
      ended: async (ending) => {
        await this.#record(trail, entryAfter(before, ending, this.#time()));
      },
    };
  }

  async #recordHeard(
    heard: Heard,
    { key, trail }: NonNullable<AdmissionParts['audit']>,
  ): Promise<LookupFailure | undefined> {
    const entry = entryHeard(heard, this.#requestOf(heard, key), { key, time: this.#time() });
    return (await this.#record(trail, entry)) ? undefined : NOT_ON_RECORD;
  }

  /** Written out once a millisecond, in which a hundred lookups may begin. */
  #time(): string {
    const nowMs = this.#parts.clock.nowMs();
    if (nowMs !== this.#now.ms) this.#now = { ms: nowMs, text: new Date(nowMs).toISOString() };
    return this.#now.text;
  }

  #requestOf({ request }: Pick<Asked, 'request'>, key: string): AuditedRequest {
    const known = this.#requests.get(request) ?? auditedRequest(request, key);
    this.#requests.set(request, known);
    return known;
  }

  async #overQuota({ event, number, request }: Asked): Promise<LookupFailure | undefined> {
    const { quotas, log } = this.#parts;
    try {
      const retryAfterSeconds =
        event === 'consent-status'
          ? await quotas.countNumber(request.caller, number)
          : await quotas.count(request.caller, number);
      return retryAfterSeconds === undefined ? undefined : { ...OVER_QUOTA, retryAfterSeconds };
    } catch (error) {
      log.error('the quotas cannot be counted', { error: nameOf(error) });
      return { ...OVER_QUOTA, retryAfterSeconds: 1 };
    }
  }

  /** Whether it is on record. */
  async #record(trail: AuditTrail, entry: AuditEntry): Promise<boolean> {
    try {
      await trail.write(entry);
      return true;
    } catch (error) {
      this.#parts.log.error('the audit trail cannot be written', {
        error: nameOf(error),
        correlator: entry.correlator,
      });
      return false;
    }
  }
}

/** Anonymous callers have no quota, and a lookup bought by a consent was counted when the consent was requested. */
function isCounted(asked: Asked): boolean {
  if (asked.request.caller === ANONYMOUS.key) return false;
  switch (asked.event) {
    case 'lookup':
      return asked.consentId === undefined;
    case 'consent-request':
    case 'consent-status':
      return true;
  }
}

const UNRECORDED: Admitted = { ended: () => undefined };

const OVER_QUOTA: LookupFailure = { code: 'RATE_LIMITED', reach: 'number' };

const NOT_ON_RECORD: LookupFailure = { code: 'AUDIT_UNAVAILABLE', reach: 'number' };

/** Such as ENOSPC; a message would name the file. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
