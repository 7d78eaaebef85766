import type { ErrorCode } from '../../src/errors.ts';
import { METRICS } from '../../src/metrics/definitions.ts';
import { DAY, durationsTimes, HOUR, maxOf, MINUTE, sumOf, type Duration } from './expressions.ts';

/** A series that Prometheus keeps, computed from others. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** When to call someone. */
export interface AlertRule {
  readonly alert: AlertName;
  readonly expr: string;
  /** How long it must hold before anyone is called; at once where absent. */
  readonly for?: string;
  readonly labels: { readonly severity: 'page' | 'ticket' } & Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

/** Rules that are evaluated together, in their order. */
export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertRule)[];
}

/** Every alert, with what it tells. docs/operations.md has a section for each. */
export const ALERTS = {
  SimSwapErrorBudgetBurn: 'Fields about numbers fail faster than the error budget allows.',
  SimSwapOperatorDown: 'The operator {{ $labels.operator }} is left alone, or most exchanges fail.',
  SimSwapCredentialsRefused: 'The operator {{ $labels.operator }} refuses our requests.',
  SimSwapConsentsFailing:
    'Most prompts to owners of numbers of {{ $labels.operator }} are denied or expire.',
  SimSwapAuditLogNotWritable: 'The audit log cannot be written, so that nothing is asked.',
  SimSwapSharedStateLost: 'The Redis that the replicas share cannot be reached.',
  SimSwapQuotaExhausted: 'A caller, or all for one number, has used up a quota.',
  SimSwapUnusualBill:
    'Lookups of {{ $labels.operator }} ({{ $labels.operation }}) are far above the week before.',
} as const;

export type AlertName = keyof typeof ALERTS;

/** Of answers, over 30 days: what may fail is the rest. */
export const ANSWERS_GOAL = 0.995;

/** What neither the caller nor the owner of the number can do anything about. */
export const FAILURES = [
  'OPERATOR_RATE_LIMITED',
  'OPERATOR_UNAVAILABLE',
  'OPERATOR_TIMEOUT',
  'OPERATOR_REFUSED',
  'OPERATOR_INVALID_REPLY',
  'AUDIT_UNAVAILABLE',
  'STATE_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
] as const satisfies readonly ErrorCode[];

/** Below so many a share says nothing. */
const MIN_COUNT = 10;

/**
 * How fast the budget of 30 days is used up, over a long window and, so that the alert ends soon after its
 * cause, a short one: 2 % in an hour, 5 % in six hours, 10 % in three days (Google's SRE Workbook, chapter 5).
 */
const BURNS = [
  { times: 14.4, longSeconds: HOUR, shortSeconds: 5 * MINUTE, severity: 'page' },
  { times: 6, longSeconds: 6 * HOUR, shortSeconds: 30 * MINUTE, severity: 'page' },
  { times: 1, longSeconds: 3 * DAY, shortSeconds: 6 * HOUR, severity: 'ticket' },
] as const;

/** What is recorded: the dashboard reads it as well. */
export const RECORDED = {
  lookupAttempts: 'sim_swap:lookup_attempts:rate1h',
  operatorFailures: 'sim_swap:operator_exchanges_failed:ratio_rate5m',
} as const;

/** The name of the recorded share of answers that failed in so many seconds. */
export function failedAnswers(seconds: number): string {
  return `sim_swap:answers_failed:ratio_rate${durationsTimes(1)(seconds)}`;
}

/** All rules. The durations that alerts wait for come from the function. Pure. */
export function ruleGroups(duration: Duration): readonly RuleGroup[] {
  return [
    { name: 'sim-swap-recorded', rules: recordingRules(duration) },
    { name: 'sim-swap-alerts', rules: alertRules(duration) },
  ];
}

const BROKEN_EXCHANGES = ['5xx', 'connection', 'timeout', 'invalid-reply', 'broken'];

function recordingRules(duration: Duration): readonly RecordingRule[] {
  const windows = new Set(
    BURNS.flatMap(({ longSeconds, shortSeconds }) => [shortSeconds, longSeconds]),
  );
  return [
    ...Array.from(windows, (seconds) => {
      const range = duration(seconds);
      const where = { outcome: FAILURES };
      const failed = sumOf('rate', METRICS.answers, range, { where });
      return {
        record: failedAnswers(seconds),
        expr: `${failed}\n/\n${sumOf('rate', METRICS.answers, range)}`,
      };
    }),
    {
      record: RECORDED.operatorFailures,
      expr: exchangesFailed(duration(5 * MINUTE)),
    },
    {
      record: RECORDED.lookupAttempts,
      expr: sumOf('rate', METRICS.lookupAttempts, duration(HOUR), {
        by: ['operator', 'operation'],
      }),
    },
  ];
}

function exchangesFailed(range: string): string {
  const by = ['operator'] as const;
  const where = { outcome: BROKEN_EXCHANGES };
  const failed = sumOf('rate', METRICS.exchangeSeconds, range, { by, where });
  return `${failed}\n/\n${sumOf('rate', METRICS.exchangeSeconds, range, { by })}`;
}

function alertRules(duration: Duration): readonly AlertRule[] {
  const recent = duration(5 * MINUTE);
  return [
    ...BURNS.map((burn) => errorBudgetBurn(burn, duration)),
    alert('SimSwapOperatorDown', 'page', {
      for: duration(MINUTE),
      expr: [
        `${maxOf(METRICS.circuitOpen, ['operator'])} == 1`,
        'or',
        `(${RECORDED.operatorFailures} > 0.5`,
        `and ${sumOf('increase', METRICS.exchangeSeconds, recent, { by: ['operator'] })} > ${MIN_COUNT})`,
      ].join('\n'),
    }),
    alert('SimSwapCredentialsRefused', 'page', {
      expr: [METRICS.lookups, METRICS.prompts]
        .map((metric) => {
          const where = { outcome: [REFUSED] };
          return `${sumOf('increase', metric, recent, { by: ['operator'], where })} > 0`;
        })
        .join('\nor\n'),
    }),
    alert('SimSwapConsentsFailing', 'ticket', {
      for: duration(5 * MINUTE),
      expr: consentsFailing(duration(30 * MINUTE)),
    }),
    alert('SimSwapAuditLogNotWritable', 'page', {
      expr: answersWith('AUDIT_UNAVAILABLE', recent),
    }),
    alert('SimSwapSharedStateLost', 'page', {
      expr: answersWith('STATE_UNAVAILABLE', recent),
    }),
    alert('SimSwapQuotaExhausted', 'ticket', {
      expr: answersWith('RATE_LIMITED', duration(15 * MINUTE)),
    }),
    alert('SimSwapUnusualBill', 'ticket', {
      for: duration(15 * MINUTE),
      expr: unusualBill(duration),
    }),
  ];
}

const REFUSED: ErrorCode = 'OPERATOR_REFUSED';

function errorBudgetBurn(
  { times, longSeconds, shortSeconds, severity }: (typeof BURNS)[number],
  duration: Duration,
): AlertRule {
  const limit = `${times} * ${(1 - ANSWERS_GOAL).toFixed(3)}`;
  const long = duration(longSeconds);
  const failed = sumOf('increase', METRICS.answers, long, { where: { outcome: FAILURES } });
  const expr = [
    `${failedAnswers(longSeconds)} > ${limit}`,
    `and ${failedAnswers(shortSeconds)} > ${limit}`,
    `and ${failed} > ${MIN_COUNT}`,
  ].join('\n');
  return alert('SimSwapErrorBudgetBurn', severity, { expr, labels: { window: long } });
}

/** Of the consents that came to an end, whichever. What the operator breaks is SimSwapOperatorDown. */
function consentsFailing(range: string): string {
  const by = ['operator'] as const;
  const unwanted = ['CONSENT_DENIED', 'CONSENT_EXPIRED'] satisfies ErrorCode[];
  const outcome = ['answered', ...unwanted];
  const failed = sumOf('increase', METRICS.consentWaitSeconds, range, {
    by,
    where: { outcome: unwanted },
  });
  const all = sumOf('increase', METRICS.consentWaitSeconds, range, { by, where: { outcome } });
  return `${failed}\n/\n${all} > 0.5\nand ${all} > ${MIN_COUNT}`;
}

function answersWith(code: ErrorCode, range: string): string {
  return `${sumOf('increase', METRICS.answers, range, { where: { outcome: [code] } })} > 0`;
}

/** Three times the week before and more than 100 an hour; a day must be known to judge by. */
function unusualBill(duration: Duration): string {
  const rate = RECORDED.lookupAttempts;
  const week = duration(7 * DAY);
  return [
    `${rate} > 3 * avg_over_time(${rate}[${week}] offset ${duration(HOUR)})`,
    `and ${rate} * ${HOUR} > 100`,
    `and ${rate} offset ${duration(DAY)}`,
  ].join('\n');
}

function alert(
  name: AlertName,
  severity: 'page' | 'ticket',
  { labels = {}, ...rule }: Pick<AlertRule, 'expr' | 'for'> & { labels?: Record<string, string> },
): AlertRule {
  return {
    alert: name,
    ...rule,
    labels: { severity, ...labels },
    annotations: {
      summary: ALERTS[name],
      runbook: `docs/operations.md#${name.toLowerCase()}`,
    },
  };
}
