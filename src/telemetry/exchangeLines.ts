import type { Clock } from '../system/clock.ts';
import { exchangeChannel, listen, MessageNotes, type ExchangeMessage } from '../log/diagnostics.ts';
import type { LogDetails, ProgramLog } from '../log/log.ts';

/** Writes a line of each exchange with an operator from now on. */
export function writeExchangeLines(log: Pick<ProgramLog, 'debug'>, clock: Clock): void {
  const startedAtMs = new MessageNotes<number>();
  listen(exchangeChannel, {
    start: (message) => startedAtMs.set(message, clock.monotonicMs()),
    asyncEnd(message) {
      const { operator, endpoint, isRetry, correlator, result } = message;
      const nowMs = clock.monotonicMs();
      const ms = Math.round((nowMs - (startedAtMs.get(message) ?? nowMs)) * 10) / 10;
      log.debug('exchange', { operator, endpoint, isRetry, ...endOf(result), ms, correlator });
    },
  });
}

function endOf(result: ExchangeMessage['result']): LogDetails {
  if (result === undefined || result.outcome === 'broken') return { outcome: 'broken' };
  return result.outcome === 'replied'
    ? { outcome: result.outcome, status: result.status }
    : { outcome: result.outcome, detail: result.detail };
}
