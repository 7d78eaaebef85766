import { REFUSALS, type RefusalReason } from '../caller/gate.ts';
import {
  auditChannel,
  circuitChannel,
  consentChannel,
  exchangeChannel,
  filesChannel,
  listen,
  listenTimed,
  planChannel,
  quotaChannel,
  storeChannel,
  tokenChannel,
  type ExchangeMessage,
  type StoreMessage,
} from '../log/diagnostics.ts';
import { OPERATIONS, type Operation } from '../domain/question.ts';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import type { AdmissionObserver } from '../lookups/lookupAuthorizer.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import type { RequestReport } from '../graphql/request.ts';
import { endpointNames } from '../simSwaps/operatorEndpoints.ts';
import type { SimSwaps } from '../simSwaps/simSwaps.ts';
import { BUILD } from '../system/build.ts';
import { promptsOwner } from '../tokens/authorizationSettings.ts';
import { Meter } from './meter.ts';
import {
  METRICS,
  SPAN_OUTCOMES,
  type MetricDefinition,
  type SpanOutcome,
} from './metricDefinitions.ts';
import { ProcessUsage } from './processUsage.ts';

const MICROS = 1_000_000;

/** As in monitoring/rules.yml. */
const SLOW_SECONDS = 1;
const SLOW_STORE_SECONDS = 0.2;
const SLOW_AUDIT_SECONDS = 0.5;
const HELD_UP_SECONDS = 0.5;
const FEW_DESCRIPTORS_LEFT = 0.8;

const OPERATOR_REFUSED: ErrorCode = 'OPERATOR_REFUSED';
const OPERATOR_CODES = Object.keys(ERRORS).filter((code) => code.startsWith('OPERATOR_'));

export interface MetricsParts {
  readonly operators: readonly OperatorSettings[];
  readonly docsUrl: string | undefined;
  readonly log: Log;
  monotonicMs(): number;
  lostLogLines(): number;
}

export class Metrics {
  readonly #meters = createMeters();
  readonly #usage = new ProcessUsage((kind, seconds) =>
    this.#meters.gcSeconds.observe({ kind }, seconds),
  );
  readonly #parts: MetricsParts;
  /** By server, on the monotonic clock. */
  readonly #awaySinceMs = new Map<string, number>();
  readonly #unusableFiles = new Set<object>();
  readonly #unlisten: readonly (() => void)[];
  #sources: Pick<SimSwaps, 'numbers' | 'load' | 'connections' | 'clocks'> | undefined;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
    this.#startAtZero();
    const now = (): number => parts.monotonicMs();
    const { consentsWaiting, consentWaitSeconds, ...meters } = this.#meters;
    this.#unlisten = [
      listenTimed(exchangeChannel, now, (message, ms) => this.#exchanged(message, ms / 1000)),
      listen(planChannel.asyncEnd, ({ result }) => {
        if (result?.outcome === 'planned') meters.deducedAnswers.add({}, result.deduced);
      }),
      listen(tokenChannel.asyncEnd, ({ operator, grant, result }) =>
        meters.tokens.add({ operator, grant, outcome: result?.outcome ?? 'broken' }),
      ),
      listen(consentChannel.start, ({ operator }) => consentsWaiting.add({ operator })),
      listenTimed(consentChannel, now, ({ operator, result }, tookMs) => {
        const outcome = result?.outcome ?? 'broken';
        consentsWaiting.add({ operator }, -1);
        consentWaitSeconds.observe({ operator, outcome }, tookMs / 1000);
      }),
      listen(circuitChannel, ({ operator, endpoint, state }) =>
        meters.circuitOpen.set({ operator, endpoint }, state === 'open' ? 1 : 0),
      ),
      listen(quotaChannel, ({ quota, used }) => meters.quotaUsed.observe({ quota }, used)),
      listen(storeChannel, (message) => this.#stored(message)),
      listen(auditChannel, ({ tookMs }) => {
        meters.auditSeconds.observe({}, tookMs / 1000);
        if (tookMs > SLOW_AUDIT_SECONDS * 1000) {
          parts.log.warn('A write to the audit log took more than half a second.');
        }
      }),
      listen(filesChannel, ({ source, isUsable }) => {
        if (isUsable) this.#unusableFiles.delete(source);
        else this.#unusableFiles.add(source);
        meters.unusableFiles.set({}, this.#unusableFiles.size);
      }),
    ];
  }

  watch(sources: Pick<SimSwaps, 'numbers' | 'load' | 'connections' | 'clocks'>): void {
    this.#sources = sources;
  }

  text(): string {
    const { workUnderWay, workWaiting, connections, streams, ...meters } = this.#meters;
    for (const meter of [workUnderWay, workWaiting, connections, streams]) meter.reset();
    for (const { kind, numbers, places } of this.#sources?.numbers() ?? []) {
      meters.numbers.set({ kind }, numbers);
      meters.numberPlaces.set({ kind }, places);
    }
    for (const { operator, work, underWay, waiting } of this.#sources?.load() ?? []) {
      workUnderWay.add({ operator, work }, underWay);
      workWaiting.add({ operator, work }, waiting);
    }
    for (const { operator, endpoint, connections: open } of this.#sources?.connections() ?? []) {
      const { streams: underWay, ...counts } = open;
      streams.add({ operator, endpoint }, underWay);
      for (const [protocol, count] of Object.entries(counts)) {
        connections.add({ operator, endpoint, protocol }, count);
      }
    }
    for (const { operator, aheadMs } of this.#sources?.clocks() ?? []) {
      meters.clockAheadSeconds.set({ operator }, aheadMs / 1000);
    }
    const nowMs = this.#parts.monotonicMs();
    const sinceMs = Math.min(...this.#awaySinceMs.values(), nowMs);
    meters.storeAwaySeconds.set({}, (nowMs - sinceMs) / 1000);
    meters.lostLogLines.set({}, this.#parts.lostLogLines());
    this.#readUsage();
    return Object.values(this.#meters)
      .map((meter) => meter.text())
      .join('\n');
  }

  /** Reads what the process takes. Each cause of an alert has a line in the log as well. */
  #readUsage(): void {
    const usage = this.#usage.read();
    const { maxDelaySeconds, openDescriptors, maxDescriptors: max } = usage;
    const { cpuSeconds, residentBytes, heapUsedBytes, startSeconds, ...meters } = this.#meters;
    cpuSeconds.set({}, usage.cpuSeconds);
    residentBytes.set({}, usage.residentBytes);
    heapUsedBytes.set({}, usage.heapUsedBytes);
    startSeconds.set({}, usage.startSeconds);
    meters.openDescriptors.set({}, openDescriptors);
    meters.maxDescriptors.set({}, max);
    meters.maxDelaySeconds.set({}, maxDelaySeconds);
    meters.p99DelaySeconds.set({}, usage.p99DelaySeconds);
    if (maxDelaySeconds > HELD_UP_SECONDS) {
      this.#parts.log.warn('The event loop was held up.', {
        seconds: Math.round(maxDelaySeconds * 10) / 10,
      });
    }
    if (openDescriptors > max * FEW_DESCRIPTORS_LEFT) {
      this.#parts.log.warn('File descriptors are running out. Raise the limit (ulimit -n).', {
        max,
      });
    }
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten();
    this.#usage.close();
  }

  callerRefused(reason: RefusalReason): void {
    this.#meters.refusedCallers.add({ reason });
  }

  spansEnded(outcome: SpanOutcome, spans: number): void {
    this.#meters.spans.add({ outcome }, spans);
  }

  requestAnswered(report: RequestReport): void {
    const { requests, requestSeconds, answers, repeatedQuestions } = this.#meters;
    const { document = 'other' } = report;
    const [code = 'ok'] = report.codes.keys();
    requests.add({ document, code });
    requestSeconds.observe({ document }, report.tookMs / 1000);
    for (const [outcome, count] of report.answers) answers.add({ outcome }, count);
    repeatedQuestions.add({}, report.repeatedQuestions);
  }

  /** Observes every lookup and prompt, and every answer without one: the bill, and what was saved. */
  get observer(): AdmissionObserver {
    const { prompts, denied, answersWithoutLookup, unansweredConsents } = this.#meters;
    return {
      ended: (operator, action, { outcome, attempts }) => {
        switch (action.event) {
          case 'lookup':
            this.#lookedUp(operator, action.lookup.operation, outcome, attempts);
            if (action.consentId !== undefined && attempts > 0 && outcome !== 'answered') {
              unansweredConsents.add({ operator, code: outcome });
            }
            return;
          case 'consent-request':
            prompts.add({ operator, outcome });
            return;
          case 'consent-status':
          case 'routing':
        }
      },
      denied: (operator, { event }, { code }) => denied.add({ operator, event, code }),
      delivered: (operator, { how }) => answersWithoutLookup.add({ operator, how }),
    };
  }

  /** Prometheus sees no increase in a counter whose first sample is not 0; alerts depend on these. */
  #startAtZero(): void {
    const { spans, storeFailures, refusedCallers, answers, ...meters } = this.#meters;
    const { operators, docsUrl = '' } = this.#parts;
    meters.build.set({ ...BUILD, docs: docsUrl }, 1);
    for (const outcome of SPAN_OUTCOMES) spans.add({ outcome }, 0);
    for (const reason of ['lost', 'full']) storeFailures.add({ reason }, 0);
    for (const reason of Object.keys(REFUSALS)) refusedCallers.add({ reason }, 0);
    for (const outcome of ['answered', ...Object.keys(ERRORS)]) answers.add({ outcome }, 0);
    for (const settings of operators) {
      const { name: operator, flow } = settings;
      for (const endpoint of endpointNames(settings))
        meters.circuitOpen.set({ operator, endpoint }, 0);
      for (const operation of OPERATIONS) {
        meters.lookupAttempts.add({ operator, operation }, 0);
        meters.lookups.add({ operator, operation, outcome: OPERATOR_REFUSED }, 0);
      }
      if (!promptsOwner(flow)) continue;
      meters.consentsWaiting.add({ operator }, 0);
      meters.prompts.add({ operator, outcome: OPERATOR_REFUSED }, 0);
      for (const code of OPERATOR_CODES) meters.unansweredConsents.add({ operator, code }, 0);
    }
  }

  #lookedUp(operator: string, operation: Operation, outcome: string, attempts: number): void {
    const { lookups, lookupAttempts, lookupPrice } = this.#meters;
    lookups.add({ operator, operation, outcome });
    if (attempts === 0) return;
    lookupAttempts.add({ operator, operation }, attempts);
    const price = this.#parts.operators.find(({ name }) => name === operator)?.price;
    if (price === undefined) return;
    const { currency, microsPerLookup } = price;
    const amount = (attempts * microsPerLookup[operation]) / MICROS;
    lookupPrice.add({ operator, operation, currency }, amount);
  }

  #exchanged({ operator, endpoint, isRetry, result }: ExchangeMessage, seconds: number): void {
    const outcome =
      result?.outcome === 'replied'
        ? `${Math.floor(result.status / 100)}xx`
        : (result?.outcome ?? 'broken');
    if (isRetry) this.#meters.retries.add({ operator, endpoint });
    this.#meters.exchangeSeconds.observe({ operator, endpoint, outcome }, seconds);
    if (seconds > SLOW_SECONDS) {
      this.#parts.log.warn('The operator took more than a second to reply.', {
        operator,
        endpoint,
      });
    }
  }

  #stored(message: StoreMessage): void {
    switch (message.event) {
      case 'lost':
      case 'full':
        this.#meters.storeFailures.add({ reason: message.event });
        return;
      case 'command':
        this.#meters.storeSeconds.observe({}, message.tookMs / 1000);
        if (message.tookMs > SLOW_STORE_SECONDS * 1000) {
          this.#parts.log.warn('A command took the shared store more than 0.2 seconds.');
        }
        return;
      case 'doubt':
        this.#meters.storeDoubt.set({}, message.untilMs / 1000);
        return;
      case 'away':
        if (this.#awaySinceMs.has(message.host)) return;
        this.#awaySinceMs.set(message.host, this.#parts.monotonicMs());
        return;
      case 'back':
        this.#awaySinceMs.delete(message.host);
    }
  }
}

type LabelOf<Definition> = Definition extends MetricDefinition<infer Label> ? Label : never;

type Meters = { readonly [Name in keyof typeof METRICS]: Meter<LabelOf<(typeof METRICS)[Name]>> };

function createMeters(): Meters {
  const meters = Object.entries(METRICS).map(([key, metric]) => [key, new Meter(metric)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each under its own name, as the type says
  return Object.fromEntries(meters) as Meters;
}
