/** A metric of Prometheus: a histogram with buckets, a counter with a name in `_total`, otherwise a gauge. */
export interface MetricDefinition<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds, in seconds or shares. */
  readonly buckets: readonly number[] | undefined;
}

/** A metric by its labels, and then by the text of its HELP line: its name, a blank and what it is. */
const by =
  <const Label extends string = never>(labels: readonly Label[]) =>
  (text: string, buckets?: readonly number[]): MetricDefinition<Label> => {
    const [name = ''] = text.split(' ', 1);
    return { name, help: text.slice(name.length + 1), labels, buckets };
  };

const single = by([]);
const byOperator = by(['operator']);
const byEndpoint = by(['operator', 'endpoint']);

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
  build: by(['version', 'commit', 'docs'])(
    'sim_swap_build_info 1, with the version and the commit that run, and DOCS_URL.',
  ),
  requests: by(['document', 'code'])(
    'sim_swap_requests_total Requests to /graphql by trusted document (other for the rest) and code: ok, or the first error code of the reply.',
  ),
  requestSeconds: by(['document'])(
    'sim_swap_request_duration_seconds How long requests to /graphql take until their answer is ready.',
    REQUEST_SECONDS,
  ),
  refusedCallers: by(['reason'])(
    'sim_swap_refused_callers_total Requests refused by their headers, by reason.',
  ),
  answers: by(['outcome'])(
    'sim_swap_answers_total Fields of a number by outcome: answered, or a code.',
  ),
  repeatedQuestions: single(
    'sim_swap_repeated_questions_total Fields with the same question as another field of the operation.',
  ),
  answersWithoutLookup: by(['operator', 'how'])(
    'sim_swap_answers_without_lookup_total Facts used without a lookup: shared with a simultaneous request, or kept from an earlier one.',
  ),
  lookups: by(['operator', 'operation', 'outcome'])(
    'sim_swap_lookups_total Lookups by operator, operation and outcome.',
  ),
  lookupAttempts: by(['operator', 'operation'])(
    'sim_swap_lookup_attempts_total Exchanges of lookups that may have reached the operator, to compare with its invoice.',
  ),
  lookupPrice: by(['operator', 'operation', 'currency'])(
    'sim_swap_lookup_price_total What the attempts cost by the prices of the settings, in the currency of the label.',
  ),
  tokens: by(['operator', 'grant', 'outcome'])(
    'sim_swap_tokens_total Access tokens requested from operators, by grant and outcome; for ciba each poll counts.',
  ),
  prompts: by(['operator', 'outcome'])(
    'sim_swap_prompts_total Prompts to owners of numbers by operator and outcome.',
  ),
  unansweredConsents: by(['operator', 'code'])(
    'sim_swap_consents_unanswered_total Consents of owners whose lookup left and brought no answer, by its code: they were prompted in vain.',
  ),
  deducedAnswers: single(
    'sim_swap_deduced_answers_total Questions about a number that were answered by what another question had looked up.',
  ),
  denied: by(['operator', 'event', 'code'])(
    'sim_swap_denied_total Lookups and prompts that were not made: a quota is used up, or the audit log cannot be written.',
  ),
  quotaUsed: by(['quota'])(
    'sim_swap_quota_used_ratio The share of their quotas that callers had used, at each count: 1 is all of it.',
    SHARES,
  ),
  consentWaitSeconds: by(['operator', 'outcome'])(
    'sim_swap_consent_wait_seconds How long requests wait for the consent of an owner, by outcome.',
    CONSENT_SECONDS,
  ),
  consentsWaiting: byOperator(
    'sim_swap_consents_waiting Requests that wait for the consent of an owner now.',
  ),
  storeAwaySeconds: single(
    'sim_swap_shared_store_away_seconds For how long a Redis of REDIS_URL has been away, the longest of several; 0 while none is.',
  ),
  exchangeSeconds: by(['operator', 'endpoint', 'outcome'])(
    'sim_swap_operator_exchange_duration_seconds How long exchanges with operators take, by endpoint and outcome: a class of status, or what broke.',
    OPERATOR_SECONDS,
  ),
  retries: byEndpoint(
    'sim_swap_operator_retries_total Exchanges with operators that were repeated.',
  ),
  workUnderWay: by(['operator', 'work'])(
    'sim_swap_operator_work_under_way Permits in use, by operator and by work: lookups of an operation, requests for consent, polls.',
  ),
  workWaiting: by(['operator', 'work'])(
    'sim_swap_operator_work_waiting Work that waits for a permit.',
  ),
  numbers: by(['kind'])(
    'sim_swap_numbers Numbers at work, and all that are held: with those that wait for their owners.',
  ),
  numberPlaces: by(['kind'])(
    'sim_swap_number_places How many numbers may be at work, and be held; further ones are UNAVAILABLE.',
  ),
  connections: by(['operator', 'endpoint', 'protocol'])(
    'sim_swap_operator_connections Open connections by protocol: http1 in use or kept, spare ready and unused, http2.',
  ),
  streams: byEndpoint('sim_swap_operator_streams Exchanges under way over HTTP/2.'),
  clockAheadSeconds: byOperator(
    'sim_swap_clock_ahead_of_operator_seconds By how much our clock is ahead of the operator’s, as the latest reply with a date shows.',
  ),
  circuitOpen: byEndpoint(
    'sim_swap_circuit_open 1 while the circuit of an endpoint is open: the operator is not called.',
  ),
  storeFailures: by(['reason'])(
    'sim_swap_shared_store_failures_total Commands that failed in the shared store: it was lost, or full.',
  ),
  storeSeconds: single(
    'sim_swap_shared_store_command_duration_seconds How long scripts in the shared store take until their reply, or until they are given up.',
    STORE_SECONDS,
  ),
  auditSeconds: single(
    'sim_swap_audit_write_duration_seconds How long writes to the audit log take; one has all lines that came during the one before.',
    STORE_SECONDS,
  ),
  unusableFiles: single(
    'sim_swap_unusable_files Groups of files (secrets, certificates, trusted documents) that have changed and cannot be used: the old contents stay in use.',
  ),
  storeDoubt: single(
    'sim_swap_shared_store_doubt_end_timestamp_seconds Until when no owner is prompted because the shared store has lost consents; 0 where it has lost none.',
  ),
  lostLogLines: single(
    'sim_swap_log_lines_lost_total Lines of the log that were dropped because nothing read standard output fast enough.',
  ),
  spans: by(['outcome'])(
    'sim_swap_spans_total Spans of traces by outcome: sent, failed, or dropped because too many waited.',
  ),
  cpuSeconds: single('process_cpu_seconds_total CPU time that the process has used.'),
  residentBytes: single(
    'process_resident_memory_bytes Memory of the process, buffers and code included.',
  ),
  heapUsedBytes: single('nodejs_heap_size_used_bytes The part of the heap that objects take.'),
  startSeconds: single(
    'process_start_time_seconds When the process started, in seconds since 1970.',
  ),
  openDescriptors: single('process_open_fds Open file descriptors.'),
  maxDescriptors: single('process_max_fds How many file descriptors may be open.'),
  maxDelaySeconds: single(
    'nodejs_eventloop_lag_max_seconds The longest delay of the event loop since the last scrape.',
  ),
  p99DelaySeconds: single(
    'nodejs_eventloop_lag_p99_seconds The delay of the event loop that one turn in a hundred exceeded since the last scrape.',
  ),
  gcSeconds: by(['kind'])(
    'nodejs_gc_duration_seconds How long collections of garbage take, by kind.',
    GC_SECONDS,
  ),
} satisfies Readonly<Record<string, MetricDefinition>>;

export const SPAN_OUTCOMES = ['sent', 'failed', 'dropped'] as const;

export type SpanOutcome = (typeof SPAN_OUTCOMES)[number];
