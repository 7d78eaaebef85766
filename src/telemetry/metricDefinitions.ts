/** A metric of Prometheus: a histogram with buckets, a counter with a name in `_total`, otherwise a gauge. */
export interface MetricDefinition<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds, in seconds or shares. */
  readonly buckets: readonly number[] | undefined;
}

function metric<const Label extends string = never>(
  name: string,
  labels: readonly Label[],
  help: string,
  buckets?: readonly number[],
): MetricDefinition<Label> {
  return { name, help, labels, buckets };
}

const OPERATOR_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const REQUEST_SECONDS = [0.005, ...OPERATOR_SECONDS, 30] as const;
/** For the shared store and the audit log, whose alerts are at 0.2 and 0.5. */
const STORE_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5] as const;
const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.999] as const;
const GC_SECONDS = [0.001, 0.01, 0.1, 1] as const;
const CONSENT_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const;

/**
 * All metrics of the service. A label is the name of an operator or of a trusted document (both from the settings), or
 * one of a list in this program: never what a caller or an operator wrote.
 */
export const METRICS = {
  build: metric(
    'sim_swap_build_info',
    ['version', 'commit', 'docs'],
    '1, with the version and the commit that run, and DOCS_URL.',
  ),
  requests: metric(
    'sim_swap_requests_total',
    ['document', 'code'],
    'Requests to /graphql by trusted document (other for the rest) and code: ok, or the first error code of the reply.',
  ),
  requestSeconds: metric(
    'sim_swap_request_duration_seconds',
    ['document'],
    'How long requests to /graphql take until their answer is ready.',
    REQUEST_SECONDS,
  ),
  refusedCallers: metric(
    'sim_swap_refused_callers_total',
    ['reason'],
    'Requests refused by their headers, by reason.',
  ),
  answers: metric(
    'sim_swap_answers_total',
    ['outcome'],
    'Fields of a number by outcome: answered, or a code.',
  ),
  repeatedQuestions: metric(
    'sim_swap_repeated_questions_total',
    [],
    'Fields with the same question as another field of the operation.',
  ),
  answersWithoutLookup: metric(
    'sim_swap_answers_without_lookup_total',
    ['operator', 'how'],
    'Facts used without a lookup: shared with a simultaneous request, or kept from an earlier one.',
  ),
  lookups: metric(
    'sim_swap_lookups_total',
    ['operator', 'operation', 'outcome'],
    'Lookups by operator, operation and outcome.',
  ),
  lookupAttempts: metric(
    'sim_swap_lookup_attempts_total',
    ['operator', 'operation'],
    'Exchanges of lookups that may have reached the operator, to compare with its invoice.',
  ),
  lookupPrice: metric(
    'sim_swap_lookup_price_total',
    ['operator', 'operation', 'currency'],
    'What the attempts cost by the prices of the settings, in the currency of the label.',
  ),
  tokens: metric(
    'sim_swap_tokens_total',
    ['operator', 'grant', 'outcome'],
    'Access tokens requested from operators, by grant and outcome; for ciba each poll counts.',
  ),
  prompts: metric(
    'sim_swap_prompts_total',
    ['operator', 'outcome'],
    'Prompts to owners of numbers by operator and outcome.',
  ),
  unansweredConsents: metric(
    'sim_swap_consents_unanswered_total',
    ['operator', 'code'],
    'Consents of owners whose lookup left and brought no answer, by its code: they were prompted in vain.',
  ),
  deducedAnswers: metric(
    'sim_swap_deduced_answers_total',
    [],
    'Questions about a number that were answered by what another question had looked up.',
  ),
  denied: metric(
    'sim_swap_denied_total',
    ['operator', 'event', 'code'],
    'Lookups and prompts that were not made: a quota is used up, or the audit log cannot be written.',
  ),
  quotaUsed: metric(
    'sim_swap_quota_used_ratio',
    ['quota'],
    'The share of their quotas that callers had used, at each count: 1 is all of it.',
    SHARES,
  ),
  consentWaitSeconds: metric(
    'sim_swap_consent_wait_seconds',
    ['operator', 'outcome'],
    'How long requests wait for the consent of an owner, by outcome.',
    CONSENT_SECONDS,
  ),
  consentsWaiting: metric(
    'sim_swap_consents_waiting',
    ['operator'],
    'Requests that wait for the consent of an owner now.',
  ),
  storeAwaySeconds: metric(
    'sim_swap_shared_store_away_seconds',
    [],
    'For how long a Redis of REDIS_URL has been away, the longest of several; 0 while none is.',
  ),
  exchangeSeconds: metric(
    'sim_swap_operator_exchange_duration_seconds',
    ['operator', 'endpoint', 'outcome'],
    'How long exchanges with operators take, by endpoint and outcome: a class of status, or what broke.',
    OPERATOR_SECONDS,
  ),
  retries: metric(
    'sim_swap_operator_retries_total',
    ['operator', 'endpoint'],
    'Exchanges with operators that were repeated.',
  ),
  workUnderWay: metric(
    'sim_swap_operator_work_under_way',
    ['operator', 'work'],
    'Permits in use, by operator and by work: lookups of an operation, requests for consent, polls.',
  ),
  workWaiting: metric(
    'sim_swap_operator_work_waiting',
    ['operator', 'work'],
    'Work that waits for a permit.',
  ),
  numbers: metric(
    'sim_swap_numbers',
    ['kind'],
    'Numbers at work, and all that are held: with those that wait for their owners.',
  ),
  numberPlaces: metric(
    'sim_swap_number_places',
    ['kind'],
    'How many numbers may be at work, and be held; further ones are UNAVAILABLE.',
  ),
  connections: metric(
    'sim_swap_operator_connections',
    ['operator', 'endpoint', 'protocol'],
    'Open connections by protocol: http1 in use or kept, spare ready and unused, http2.',
  ),
  streams: metric(
    'sim_swap_operator_streams',
    ['operator', 'endpoint'],
    'Exchanges under way over HTTP/2.',
  ),
  clockAheadSeconds: metric(
    'sim_swap_clock_ahead_of_operator_seconds',
    ['operator'],
    'By how much our clock is ahead of the operator’s, as the latest reply with a date shows.',
  ),
  circuitOpen: metric(
    'sim_swap_circuit_open',
    ['operator', 'endpoint'],
    '1 while the circuit of an endpoint is open: the operator is not called.',
  ),
  storeFailures: metric(
    'sim_swap_shared_store_failures_total',
    ['reason'],
    'Commands that failed in the shared store: it was lost, or full.',
  ),
  storeSeconds: metric(
    'sim_swap_shared_store_command_duration_seconds',
    [],
    'How long scripts in the shared store take until their reply, or until they are given up.',
    STORE_SECONDS,
  ),
  auditSeconds: metric(
    'sim_swap_audit_write_duration_seconds',
    [],
    'How long writes to the audit log take; one has all lines that came during the one before.',
    STORE_SECONDS,
  ),
  unusableFiles: metric(
    'sim_swap_unusable_files',
    [],
    'Groups of files (secrets, certificates, trusted documents) that have changed and cannot be used: the old contents stay in use.',
  ),
  storeDoubt: metric(
    'sim_swap_shared_store_doubt_end_timestamp_seconds',
    [],
    'Until when no owner is prompted because the shared store has lost consents; 0 where it has lost none.',
  ),
  lostLogLines: metric(
    'sim_swap_log_lines_lost_total',
    [],
    'Lines of the log that were dropped because nothing read standard output fast enough.',
  ),
  spans: metric(
    'sim_swap_spans_total',
    ['outcome'],
    'Spans of traces by outcome: sent, failed, or dropped because too many waited.',
  ),
  cpuSeconds: metric('process_cpu_seconds_total', [], 'CPU time that the process has used.'),
  residentBytes: metric(
    'process_resident_memory_bytes',
    [],
    'Memory of the process, buffers and code included.',
  ),
  heapUsedBytes: metric(
    'nodejs_heap_size_used_bytes',
    [],
    'The part of the heap that objects take.',
  ),
  startSeconds: metric(
    'process_start_time_seconds',
    [],
    'When the process started, in seconds since 1970.',
  ),
  openDescriptors: metric('process_open_fds', [], 'Open file descriptors.'),
  maxDescriptors: metric('process_max_fds', [], 'How many file descriptors may be open.'),
  maxDelaySeconds: metric(
    'nodejs_eventloop_lag_max_seconds',
    [],
    'The longest delay of the event loop since the last scrape.',
  ),
  p99DelaySeconds: metric(
    'nodejs_eventloop_lag_p99_seconds',
    [],
    'The delay of the event loop that one turn in a hundred exceeded since the last scrape.',
  ),
  gcSeconds: metric(
    'nodejs_gc_duration_seconds',
    ['kind'],
    'How long collections of garbage take, by kind.',
    GC_SECONDS,
  ),
} satisfies Readonly<Record<string, MetricDefinition>>;

export const SPAN_OUTCOMES = ['sent', 'failed', 'dropped'] as const;

export type SpanOutcome = (typeof SPAN_OUTCOMES)[number];
