import { auditHash, callerId } from '../caller/audit/auditHash.ts';
import { MessageNotes } from '../log/diagnostics.ts';
import type { Identity } from '../domain/asker.ts';
import type { Log, LogDetails } from '../log/log.ts';
import type { AdmissionObserver } from '../lookups/observedAuthorizers.ts';
import type { RequestReport } from '../graphql/request.ts';

/** Writes the lines of requests. */
export interface RequestLines {
  readonly observer: AdmissionObserver;
  write(report: RequestReport): void;
}

/** @param auditKey under which callers are hashed, as in the audit log; they are left out where absent */
export function requestLinesOf(log: Log, auditKey: string | undefined): RequestLines {
  const lookups = new MessageNotes<number>();
  return {
    observer: {
      ended(_operator, { event, request }) {
        if (event !== 'lookup') return;
        lookups.set(request.correlator, (lookups.get(request.correlator) ?? 0) + 1);
      },
    },
    write(report) {
      log.info('request', detailsOf(report, lookups.get(report.correlator) ?? 0, auditKey));
    },
  };
}

function detailsOf(
  { correlator, caller, document, status, tookMs, codes }: RequestReport,
  lookups: number,
  auditKey: string | undefined,
): LogDetails {
  return {
    status,
    document: document ?? 'other',
    ...errorsOf(codes),
    lookups,
    ms: Math.round(tookMs * 10) / 10,
    caller: callerOf(caller, auditKey),
    correlator: correlator.name,
  };
}

/** The codes without their counts, and in one order: lines are grouped by them. */
function errorsOf(codes: ReadonlyMap<string, number>): LogDetails {
  if (codes.size === 0) return {};
  const errors = [...codes.values()].reduce((sum, count) => sum + count, 0);
  return { codes: [...codes.keys()].toSorted().join(' '), errors };
}

/** As in the audit log, so that a caller's lines can be found there. */
function callerOf(caller: Identity | undefined, auditKey: string | undefined): string | undefined {
  switch (caller?.kind) {
    case undefined:
      return undefined;
    case 'anonymous':
      return 'anonymous';
    case 'token':
      return auditKey === undefined ? undefined : callerId(auditHash(auditKey, caller.subject));
  }
}
