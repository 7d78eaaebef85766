import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { REFUSAL_REASONS, type RefusalReason } from '../caller/gate.ts';
import {
  circuitChannel,
  consentChannel,
  exchangeChannel,
  listen,
  MessageNotes,
  planChannel,
  quotaChannel,
  storeChannel,
  tokenChannel,
  type ConsentMessage,
  type ExchangeMessage,
  type StoreMessage,
} from '../log/diagnostics.ts';
import { OPERATIONS, type Operation } from '../domain/question.ts';
import type { Price } from '../domain/price.ts';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import type { AdmissionObserver } from '../lookups/observedAuthorizers.ts';
import type { RequestReport } from '../graphql/request.ts';
import type { SimSwaps } from '../simSwaps/simSwaps.ts';
import { lostLines } from '../log/standardOutput.ts';
import { BUILD } from '../system/build.ts';
import {
  METRICS,
  SPAN_OUTCOMES,
  type MetricDefinition,
  type SpanOutcome,
} from './metricDefinitions.ts';

const MICROS = 1_000_000;

/** As in the rules of monitoring/rules.yml. */
const SLOW_SECONDS = 1;
const HELD_UP_SECONDS = 0.5;
const FEW_DESCRIPTORS_LEFT = 0.8;

const REFUSED: ErrorCode = 'OPERATOR_REFUSED';

export interface MeteredOperator {
  readonly name: string;
  /** As messages of the circuits name them. */
  readonly endpoints: readonly string[];
  readonly isPrompting: boolean;
  readonly price: Price | undefined;
}

export interface MetricsParts {
  readonly operators: readonly MeteredOperator[];
  readonly docsUrl: string | undefined;
  monotonicMs(): number;
  readonly log: Log;
}

/** Counts what the service does, for Prometheus. It listens from its making until it is closed. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #meters = metersIn(this.#registry);
  readonly #parts: MetricsParts;
  /** By server, on the monotonic clock. */
  readonly #awaySinceMs = new Map<string, number>();
  readonly #startedAtMs = new MessageNotes<number>();
  readonly #unlisten: readonly (() => void)[];
  #knownLostLines = 0;
  #sources: Pick<SimSwaps, 'load' | 'connections' | 'clocks'> | undefined;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
    collectDefaultMetrics({ register: this.#registry });
    this.#startAtZero();
    const { consentsWaiting, deducedAnswers, tokens, circuitOpen, quotaUsed } = this.#meters;
    this.#unlisten = [
      listen(exchangeChannel, {
        start: (message) => this.#start(message),
        asyncEnd: (message) => this.#exchanged(message),
      }),
      listen(planChannel, {
        asyncEnd({ result }) {
          if (result?.outcome !== 'planned' || result.deduced === 0) return;
          deducedAnswers.inc(result.deduced);
        },
      }),
      listen(tokenChannel, {
        asyncEnd: ({ operator, grant, result }) =>
          tokens.inc({ operator, grant, outcome: result?.outcome ?? 'broken' }),
      }),
      listen(consentChannel, {
        start: (message) => {
          consentsWaiting.inc({ operator: message.operator });
          this.#start(message);
        },
        asyncEnd: (message) => this.#waited(message),
      }),
      circuitChannel.listen(({ operator, endpoint, state }) =>
        circuitOpen.set({ operator, endpoint }, state === 'open' ? 1 : 0),
      ),
      quotaChannel.listen(({ quota, used }) => quotaUsed.observe({ quota }, used)),
      storeChannel.listen((message) => this.#stored(message)),
    ];
  }

  watch(sources: Pick<SimSwaps, 'load' | 'connections' | 'clocks'>): void {
    this.#sources = sources;
  }

  /** Everything, in Prometheus' text format. */
  async text(): Promise<string> {
    const { workUnderWay, workWaiting, connections, streams, ...meters } = this.#meters;
    for (const meter of [workUnderWay, workWaiting, connections, streams]) meter.reset();
    for (const { operator, work, underWay, waiting } of this.#sources?.load() ?? []) {
      workUnderWay.inc({ operator, work }, underWay);
      workWaiting.inc({ operator, work }, waiting);
    }
    for (const { operator, endpoint, connections: open } of this.#sources?.connections() ?? []) {
      const { streams: underWay, ...counts } = open;
      streams.inc({ operator, endpoint }, underWay);
      for (const [protocol, count] of Object.entries(counts)) {
        connections.inc({ operator, endpoint, protocol }, count);
      }
    }
    for (const { operator, aheadMs } of this.#sources?.clocks() ?? []) {
      meters.clockAheadSeconds.set({ operator }, aheadMs / 1000);
    }
    const nowMs = this.#parts.monotonicMs();
    const sinceMs = Math.min(...this.#awaySinceMs.values(), nowMs);
    meters.storeAwaySeconds.set((nowMs - sinceMs) / 1000);
    const lost = lostLines();
    meters.lostLogLines.inc(lost - this.#knownLostLines);
    this.#knownLostLines = lost;
    const text = await this.#registry.metrics();
    this.#tellStrain(text);
    return text;
  }

  /** What an alert is raised for has a line as well, where there is a process to write it. */
  #tellStrain(text: string): void {
    const heldUpSeconds = valueIn(text, 'nodejs_eventloop_lag_max_seconds');
    if (heldUpSeconds > HELD_UP_SECONDS) {
      this.#parts.log.warn('the event loop was held up', {
        seconds: Math.round(heldUpSeconds * 10) / 10,
      });
    }
    const max = valueIn(text, 'process_max_fds');
    if (valueIn(text, 'process_open_fds') > max * FEW_DESCRIPTORS_LEFT) {
      this.#parts.log.warn('file descriptors are running out', { max });
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten();
    this.#registry.clear();
  }

  callerRefused(reason: RefusalReason): void {
    this.#meters.refusedCallers.inc({ reason });
  }

  spansEnded(outcome: SpanOutcome, spans: number): void {
    this.#meters.spans.inc({ outcome }, spans);
  }

  requestAnswered(report: RequestReport): void {
    const { requests, requestSeconds, answers, repeatedQuestions } = this.#meters;
    const { document = 'other' } = report;
    const [code = 'ok'] = report.codes.keys();
    requests.inc({ document, code });
    requestSeconds.observe({ document }, report.tookMs / 1000);
    for (const [outcome, count] of report.answers) answers.inc({ outcome }, count);
    if (report.repeatedQuestions > 0) repeatedQuestions.inc(report.repeatedQuestions);
  }

  /** Told of what is asked of operators: the bill, and what was saved of it. */
  get observer(): AdmissionObserver {
    const { prompts, denied, answersWithoutLookup } = this.#meters;
    return {
      ended: (operator, asked, { outcome, attempts }) => {
        switch (asked.event) {
          case 'lookup':
            this.#lookedUp(operator, asked.lookup.operation, outcome, attempts);
            return;
          case 'consent-request':
            prompts.inc({ operator, outcome });
            return;
          case 'consent-status':
        }
      },
      denied: (operator, { event }, { code }) => denied.inc({ operator, event, code }),
      heard: (operator, { how }) => answersWithoutLookup.inc({ operator, how }),
    };
  }

  /** Prometheus sees no increase in a counter whose first sample is not 0; alerts wait for these. */
  #startAtZero(): void {
    const { spans, storeFailures, refusedCallers, answers, storeDoubt, ...meters } = this.#meters;
    const { operators, docsUrl = '' } = this.#parts;
    meters.build.set({ ...BUILD, docs: docsUrl }, 1);
    for (const outcome of SPAN_OUTCOMES) spans.inc({ outcome }, 0);
    for (const reason of ['lost', 'full']) storeFailures.inc({ reason }, 0);
    for (const reason of REFUSAL_REASONS) refusedCallers.inc({ reason }, 0);
    for (const outcome of ['answered', ...Object.keys(ERRORS)]) answers.inc({ outcome }, 0);
    for (const { name: operator, endpoints, isPrompting } of operators) {
      for (const endpoint of endpoints) meters.circuitOpen.set({ operator, endpoint }, 0);
      for (const operation of OPERATIONS) {
        meters.lookupAttempts.inc({ operator, operation }, 0);
        meters.lookups.inc({ operator, operation, outcome: REFUSED }, 0);
      }
      if (!isPrompting) continue;
      meters.consentsWaiting.inc({ operator }, 0);
      meters.prompts.inc({ operator, outcome: REFUSED }, 0);
      storeDoubt.set(0);
    }
  }

  #lookedUp(operator: string, operation: Operation, outcome: string, attempts: number): void {
    const { lookups, lookupAttempts, lookupPrice } = this.#meters;
    lookups.inc({ operator, operation, outcome });
    if (attempts === 0) return;
    lookupAttempts.inc({ operator, operation }, attempts);
    const price = this.#parts.operators.find(({ name }) => name === operator)?.price;
    if (price === undefined) return;
    const { currency, microsPerLookup } = price;
    const amount = (attempts * microsPerLookup[operation]) / MICROS;
    lookupPrice.inc({ operator, operation, currency }, amount);
  }

  #start(message: object): void {
    this.#startedAtMs.set(message, this.#parts.monotonicMs());
  }

  #secondsSince(message: object): number {
    const nowMs = this.#parts.monotonicMs();
    return (nowMs - (this.#startedAtMs.get(message) ?? nowMs)) / 1000;
  }

  #exchanged(message: ExchangeMessage): void {
    const { operator, endpoint, isRetry, result } = message;
    const outcome =
      result?.outcome === 'replied'
        ? `${Math.floor(result.status / 100)}xx`
        : (result?.outcome ?? 'broken');
    if (isRetry) this.#meters.retries.inc({ operator, endpoint });
    const seconds = this.#secondsSince(message);
    this.#meters.exchangeSeconds.observe({ operator, endpoint, outcome }, seconds);
    if (seconds > SLOW_SECONDS) {
      this.#parts.log.warn('the operator took more than a second', { operator, endpoint });
    }
  }

  #waited(message: ConsentMessage): void {
    const { operator, result } = message;
    const outcome = result?.outcome ?? 'broken';
    this.#meters.consentsWaiting.dec({ operator });
    this.#meters.consentWaitSeconds.observe({ operator, outcome }, this.#secondsSince(message));
  }

  #stored(message: StoreMessage): void {
    switch (message.event) {
      case 'lost':
      case 'full':
        this.#meters.storeFailures.inc({ reason: message.event }, 1);
        return;
      case 'doubt':
        this.#meters.storeDoubt.set(message.untilMs / 1000);
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

type LabelOf<Definition> = Definition extends { readonly labels: readonly (infer Label)[] }
  ? Label & string
  : never;

type MeterOf<Definition extends MetricDefinition> = Definition extends { readonly buckets: unknown }
  ? Histogram<LabelOf<Definition>>
  : Definition['name'] extends `${string}_total`
    ? Counter<LabelOf<Definition>>
    : Gauge<LabelOf<Definition>>;

type Meters = { readonly [Name in keyof typeof METRICS]: MeterOf<(typeof METRICS)[Name]> };

function metersIn(registry: Registry): Meters {
  const meters = Object.entries<MetricDefinition>(METRICS).map(([key, definition]) => {
    const { name, help, labels = [], buckets } = definition;
    const configuration = { name, help, labelNames: [...labels], registers: [registry] };
    if (buckets !== undefined) {
      return [key, new Histogram({ ...configuration, buckets: [...buckets] })];
    }
    return [key, new (name.endsWith('_total') ? Counter : Gauge)(configuration)];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each under its own name, as the type says
  return Object.fromEntries(meters) as Meters;
}

/** Of a metric without labels; not a number where there is none. Pure. */
function valueIn(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}
