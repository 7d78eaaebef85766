import type { Operation } from '../src/domain/question.ts';
import { formatAmount, type Price } from '../src/domain/price.ts';
import { ERRORS, type LookupFailure, type LookupFailureCode } from '../src/domain/errors.ts';
import type { Exchange, ReplyFlaw } from '../src/wire/exchange.ts';
import { leavesInDoubt } from '../src/judging/refusal.ts';
import { findingOf } from '../src/resilience/finding.ts';
import { settingName, type OperatorSettings } from '../src/operator/operatorSettings.ts';
import type { Finding, Verdict } from './finding.ts';

/** The outcome of one lookup that was sent. */
export interface LookupTrial {
  readonly operation: Operation;
  readonly exchange: Exchange;
  /** Absent where it was answered. */
  readonly failure?: LookupFailure | undefined;
  readonly flaw?: ReplyFlaw | undefined;
}

/** Judges a lookup; the answer itself is not shown. Pure. */
export function judgeLookup(trial: LookupTrial, settings: OperatorSettings): Finding {
  const { operation, exchange, failure, flaw } = trial;
  const row = { step: 'lookup', at: operation } as const;
  if (failure === undefined) return { ...row, verdict: 'ok', found: 'answered' };
  const nameSetting = (member: string): string => settingName(settings, member);
  const { errors } = settings;
  const about = { endpoint: operation, kind: 'lookup', errors, nameSetting } as const;
  const finding = findingOf({ ...about, exchange, failure, flaw });
  const { status, word, detail, setting } = finding?.details ?? {};
  const parts = [status, word, detail, flaw].filter((part) => part !== undefined);
  const found = [failure.code, ...parts].join(', ');
  const look = setting === undefined ? '' : ` Look at ${String(setting)} (docs/operators.md).`;
  const advice = `${finding?.message ?? ERRORS[failure.code]}${look}`;
  return { ...row, verdict: VERDICTS[failure.code] ?? 'failed', found, advice };
}

/** Failures that an operator may well return about one number, or at one moment. */
const VERDICTS: Readonly<Partial<Record<LookupFailureCode, Verdict>>> = {
  NUMBER_NOT_SERVED: 'warning',
  PERIOD_NOT_SUPPORTED: 'warning',
  OPERATOR_RATE_LIMITED: 'warning',
};

/** Judges the cost of all lookups of a check. Pure. */
export function judgeBill(trials: readonly LookupTrial[], price: Price | undefined): Finding {
  const answered = trials.filter(isBilled);
  const doubtful = trials.filter((trial) => !isBilled(trial) && mayBeBilled(trial));
  const micros = answered.reduce(
    (sum, { operation }) => sum + (price?.microsPerLookup[operation] ?? 0),
    0,
  );
  const cost =
    price === undefined ? 'no price is set' : `${formatAmount(micros)} ${price.currency}`;
  const doubt =
    doubtful.length === 0
      ? ''
      : `; ${lookups(doubtful.length)} without an answer may be billed too`;
  return {
    step: 'billed',
    at: '',
    verdict: 'ok',
    found: `${lookups(answered.length)}: ${cost}${doubt}`,
  };
}

/** Whether an operator bills it: by the known contracts, it bills what it answers. Pure. */
export function isBilled({ failure, exchange }: LookupTrial): boolean {
  // An answer that cannot be read is billed as well.
  return (
    failure === undefined ||
    (failure.code === 'OPERATOR_INVALID_REPLY' && exchange.kind === 'reply')
  );
}

function mayBeBilled({ exchange }: LookupTrial): boolean {
  switch (exchange.kind) {
    case 'fault':
      return exchange.fault.sent;
    case 'reply':
      return leavesInDoubt(exchange.reply.status);
  }
}

function lookups(count: number): string {
  return count === 1 ? '1 lookup' : `${count} lookups`;
}
