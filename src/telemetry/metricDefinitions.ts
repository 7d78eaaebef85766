/** A metric of Prometheus: a histogram with buckets, a counter with a name in `_total`, otherwise a gauge. */
export interface MetricDefinition<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** Upper bounds, in seconds or shares. */
  readonly buckets?: readonly number[];
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
  build: {
    name: 'sim_swap_build_info',
    help: '1, with the version and the commit that run, and DOCS_URL.',
    labels: ['version', 'commit', 'docs'],
  },
  requests: {
    name: 'sim_swap_requests_total',
    help: 'Requests to /graphql by trusted document (other for the rest) and code: ok, or the first error code of the reply.',
    labels: ['document', 'code'],
  },
  requestSeconds: {
    name: 'sim_swap_request_duration_seconds',
    help: 'How long requests to /graphql take until their answer is ready.',
    labels: ['document'],
    buckets: REQUEST_SECONDS,
  },
  refusedCallers: {
    name: 'sim_swap_refused_callers_total',
    help: 'Requests refused by their headers, by reason.',
    labels: ['reason'],
  },
  answers: {
    name: 'sim_swap_answers_total',
    help: 'Fields of a number by outcome: answered, or a code.',
    labels: ['outcome'],
  },
  repeatedQuestions: {
    name: 'sim_swap_repeated_questions_total',
    help: 'Fields with the same question as another field of the operation.',
  },
  answersWithoutLookup: {
    name: 'sim_swap_answers_without_lookup_total',
    help: 'Facts used without a lookup: shared with a simultaneous request, or kept from an earlier one.',
    labels: ['operator', 'how'],
  },
  lookups: {
    name: 'sim_swap_lookups_total',
    help: 'Lookups by operator, operation and outcome.',
    labels: ['operator', 'operation', 'outcome'],
  },
  lookupAttempts: {
    name: 'sim_swap_lookup_attempts_total',
    help: 'Exchanges of lookups that may have reached the operator, to compare with its invoice.',
    labels: ['operator', 'operation'],
  },
  lookupPrice: {
    name: 'sim_swap_lookup_price_total',
    help: 'What the attempts cost by the prices of the settings, in the currency of the label.',
    labels: ['operator', 'operation', 'currency'],
  },
  tokens: {
    name: 'sim_swap_tokens_total',
    help: 'Access tokens requested from operators, by grant and outcome; for ciba each poll counts.',
    labels: ['operator', 'grant', 'outcome'],
  },
  prompts: {
    name: 'sim_swap_prompts_total',
    help: 'Prompts to owners of numbers by operator and outcome.',
    labels: ['operator', 'outcome'],
  },
  unansweredConsents: {
    name: 'sim_swap_consents_unanswered_total',
    help: 'Consents of owners whose lookup left and brought no answer, by its code: they were prompted in vain.',
    labels: ['operator', 'code'],
  },
  deducedAnswers: {
    name: 'sim_swap_deduced_answers_total',
    help: 'Questions about a number that were answered by what another question had looked up.',
  },
  denied: {
    name: 'sim_swap_denied_total',
    help: 'Lookups and prompts that were not made: a quota is used up, or the audit log cannot be written.',
    labels: ['operator', 'event', 'code'],
  },
  quotaUsed: {
    name: 'sim_swap_quota_used_ratio',
    help: 'The share of their quotas that callers had used, at each count: 1 is all of it.',
    labels: ['quota'],
    buckets: SHARES,
  },
  consentWaitSeconds: {
    name: 'sim_swap_consent_wait_seconds',
    help: 'How long requests wait for the consent of an owner, by outcome.',
    labels: ['operator', 'outcome'],
    buckets: CONSENT_SECONDS,
  },
  consentsWaiting: {
    name: 'sim_swap_consents_waiting',
    help: 'Requests that wait for the consent of an owner now.',
    labels: ['operator'],
  },
  storeAwaySeconds: {
    name: 'sim_swap_shared_store_away_seconds',
    help: 'For how long a Redis of REDIS_URL has been away, the longest of several; 0 while none is.',
  },
  exchangeSeconds: {
    name: 'sim_swap_operator_exchange_duration_seconds',
    help: 'How long exchanges with operators take, by endpoint and outcome: a class of status, or what broke.',
    labels: ['operator', 'endpoint', 'outcome'],
    buckets: OPERATOR_SECONDS,
  },
  retries: {
    name: 'sim_swap_operator_retries_total',
    help: 'Exchanges with operators that were repeated.',
    labels: ['operator', 'endpoint'],
  },
  workUnderWay: {
    name: 'sim_swap_operator_work_under_way',
    help: 'Permits in use, by operator and by work: lookups of an operation, requests for consent, polls.',
    labels: ['operator', 'work'],
  },
  workWaiting: {
    name: 'sim_swap_operator_work_waiting',
    help: 'Work that waits for a permit.',
    labels: ['operator', 'work'],
  },
  numbers: {
    name: 'sim_swap_numbers',
    help: 'Numbers at work, and all that are held: with those that wait for their owners.',
    labels: ['kind'],
  },
  numberPlaces: {
    name: 'sim_swap_number_places',
    help: 'How many numbers may be at work, and be held; further ones are UNAVAILABLE.',
    labels: ['kind'],
  },
  connections: {
    name: 'sim_swap_operator_connections',
    help: 'Open connections by protocol: http1 in use or kept, spare ready and unused, http2.',
    labels: ['operator', 'endpoint', 'protocol'],
  },
  streams: {
    name: 'sim_swap_operator_streams',
    help: 'Exchanges under way over HTTP/2.',
    labels: ['operator', 'endpoint'],
  },
  clockAheadSeconds: {
    name: 'sim_swap_clock_ahead_of_operator_seconds',
    help: 'By how much our clock is ahead of the operator’s, as the latest reply with a date shows.',
    labels: ['operator'],
  },
  circuitOpen: {
    name: 'sim_swap_circuit_open',
    help: '1 while the circuit of an endpoint is open: the operator is not called.',
    labels: ['operator', 'endpoint'],
  },
  storeFailures: {
    name: 'sim_swap_shared_store_failures_total',
    help: 'Commands that failed in the shared store: it was lost, or full.',
    labels: ['reason'],
  },
  storeSeconds: {
    name: 'sim_swap_shared_store_command_duration_seconds',
    help: 'How long scripts in the shared store take until their reply, or until they are given up.',
    buckets: STORE_SECONDS,
  },
  auditSeconds: {
    name: 'sim_swap_audit_write_duration_seconds',
    help: 'How long writes to the audit log take; one has all lines that came during the one before.',
    buckets: STORE_SECONDS,
  },
  unusableFiles: {
    name: 'sim_swap_unusable_files',
    help: 'Groups of files (secrets, certificates, trusted documents) that have changed and cannot be used: the old contents stay in use.',
  },
  storeDoubt: {
    name: 'sim_swap_shared_store_doubt_end_timestamp_seconds',
    help: 'Until when no owner is prompted because the shared store has lost consents; 0 where it has lost none.',
  },
  lostLogLines: {
    name: 'sim_swap_log_lines_lost_total',
    help: 'Lines of the log that were dropped because nothing read standard output fast enough.',
  },
  spans: {
    name: 'sim_swap_spans_total',
    help: 'Spans of traces by outcome: sent, failed, or dropped because too many waited.',
    labels: ['outcome'],
  },
  cpuSeconds: {
    name: 'process_cpu_seconds_total',
    help: 'CPU time that the process has used.',
  },
  residentBytes: {
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process, buffers and code included.',
  },
  heapUsedBytes: {
    name: 'nodejs_heap_size_used_bytes',
    help: 'The part of the heap that objects take.',
  },
  startSeconds: {
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
  },
  openDescriptors: {
    name: 'process_open_fds',
    help: 'Open file descriptors.',
  },
  maxDescriptors: {
    name: 'process_max_fds',
    help: 'How many file descriptors may be open.',
  },
  maxDelaySeconds: {
    name: 'nodejs_eventloop_lag_max_seconds',
    help: 'The longest delay of the event loop since the last scrape.',
  },
  p99DelaySeconds: {
    name: 'nodejs_eventloop_lag_p99_seconds',
    help: 'The delay of the event loop that one turn in a hundred exceeded since the last scrape.',
  },
  gcSeconds: {
    name: 'nodejs_gc_duration_seconds',
    help: 'How long collections of garbage take, by kind.',
    labels: ['kind'],
    buckets: GC_SECONDS,
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export const SPAN_OUTCOMES = ['sent', 'failed', 'dropped'] as const;

export type SpanOutcome = (typeof SPAN_OUTCOMES)[number];
