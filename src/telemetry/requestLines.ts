import { auditHash, callerId } from '../caller/audit/entry.ts';
import { exchangeChannel, listenTimed, type ExchangeMessage } from '../log/diagnostics.ts';
import type { Identity } from '../domain/identity.ts';
import type { Log, LogDetails, ProgramLog } from '../log/log.ts';
import type { RequestReport } from '../graphql/request.ts';
import type { Clock } from '../system/clock.ts';

/** @param auditKey hashes callers, as in the audit log; without it they are omitted */
export function requestLines(log: Log, auditKey: string | undefined) {
  /** An identity lasts as long as the verification of its token is kept. */
  const callers = new WeakMap<Identity, string>();
  const nameOf = (caller: Identity | undefined): string | undefined => {
    if (caller?.kind !== 'token') return caller?.kind;
    const isNew = auditKey !== undefined && !callers.has(caller);
    // As in the audit log, to find its lines there.
    if (isNew) callers.set(caller, callerId(auditHash(auditKey, caller.subject)));
    return callers.get(caller);
  };
  return (report: RequestReport): void => {
    const { correlator, caller, document = 'other', status, lookups, tookMs, codes } = report;
    const errors = [...codes.values()].reduce((sum, count) => sum + count, 0);
    log.info('request', {
      status,
      document,
      // Sorted and without counts, since lines are grouped by them.
      ...(codes.size === 0 ? {} : { codes: [...codes.keys()].toSorted().join(' '), errors }),
      lookups,
      ms: Math.round(tookMs * 10) / 10,
      caller: nameOf(caller),
      correlator: correlator.name,
    });
  };
}

export function writeExchangeLines(log: Pick<ProgramLog, 'debug'>, clock: Clock): void {
  const now = (): number => clock.monotonicMs();
  listenTimed(exchangeChannel, now, (message, tookMs) => {
    const { operator, endpoint, isRetry, correlator, result } = message;
    const ms = Math.round(tookMs * 10) / 10;
    log.debug('exchange', { operator, endpoint, isRetry, ...endOf(result), ms, correlator });
  });
}

function endOf(result: ExchangeMessage['result']): LogDetails {
  if (result === undefined || result.outcome === 'broken') return { outcome: 'broken' };
  return result.outcome === 'replied'
    ? { outcome: result.outcome, status: result.status }
    : { outcome: result.outcome, detail: result.detail };
}
