import type { Caller } from '../caller/caller.ts';
import type { Admitted } from '../caller/gate.ts';
import type { Quotas, QuotaStanding } from '../caller/quotas/quotas.ts';
import { recordedSimSwaps } from './recordedSimSwaps.ts';
import type { RequestRecord } from './requestRecord.ts';
import type { SimSwapLoader } from '../simSwaps/simSwapLoader.ts';
import type { LookupRequest } from '../lookups/lookupRoute.ts';
import { waitOf } from '../lookups/waitOf.ts';
import type { SimSwaps } from '../simSwaps/simSwaps.ts';

/** What one GraphQL request carries; made anew for each from parts handed in. */
export interface RequestContext {
  readonly caller: Caller;
  readonly record: RequestRecord;
  readonly simSwaps: SimSwapLoader;
  /** What the caller has left of its quotas by now; nothing for an anonymous one. Never rejects. */
  quotas(): Promise<readonly QuotaStanding[]>;
  /** How long the request waits for the owner of a number, where it said so and the flow takes consent. */
  readonly waitMs?: number;
}

/** What one request brings beside who sent it. */
export interface Asking {
  readonly life: Pick<LookupRequest, 'cameInAtMs' | 'deadlineMs' | 'signal'>;
  readonly record: RequestRecord;
  /** How long it would wait for the owner of a number (RFC 7240, `wait`), where it says so. */
  readonly preferredWaitMs: number | undefined;
}

/** What contexts are made from. */
export interface ContextParts {
  readonly simSwaps: Pick<SimSwaps, 'forRequest'>;
  readonly quotas: Pick<Quotas, 'standingOf'>;
  /** The longest that a request may wait for the owner of a number; `undefined` where no owner is asked. */
  readonly maxWaitMs: number | undefined;
}

/** Makes the context of one request. */
export type CreateContext = (admitted: Admitted, asking: Asking) => RequestContext;

export function contextFactory({ simSwaps, quotas, maxWaitMs }: ContextParts): CreateContext {
  return ({ caller, purpose }, { life, record, preferredWaitMs }) => {
    const wait = waitOf(preferredWaitMs, maxWaitMs);
    const loader = simSwaps.forRequest({
      caller: caller.identity,
      purpose,
      correlator: record.correlator,
      cameInAtMs: life.cameInAtMs,
      signal: life.signal,
      deadlineMs: life.deadlineMs,
      ...wait,
    });
    return {
      ...wait,
      caller,
      record,
      simSwaps: recordedSimSwaps(loader, record),
      quotas: () => quotas.standingOf(caller.identity, QUOTA_READ_TIMEOUT_MS),
    };
  };
}

/** What is left of the quotas is told beside an answer that is ready: it does not keep that waiting. */
const QUOTA_READ_TIMEOUT_MS = 250;
