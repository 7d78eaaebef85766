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
  type Broken,
  type CircuitMessage,
  type ConsentMessage,
  type ExchangeMessage,
  type ExchangeResult,
  type PlanMessage,
  type QuotaMessage,
  type StoreMessage,
  type TokenMessage,
} from '../log/diagnostics.ts';
import type { Operation } from '../domain/question.ts';
import type { Price } from '../domain/price.ts';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import type { AuthorizerRequest, Ending } from '../lookups/lookupAuthorizer.ts';
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

/** An operator whose series are there from the start. */
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
  readonly #parts: MetricsParts;
  readonly #requests = this.#counter(METRICS.requests);
  readonly #requestSeconds = this.#histogram(METRICS.requestSeconds);
  readonly #refusedCallers = this.#counter(METRICS.refusedCallers);
  readonly #answers = this.#counter(METRICS.answers);
  readonly #repeatedQuestions = this.#counter(METRICS.repeatedQuestions);
  readonly #answersWithoutLookup = this.#counter(METRICS.answersWithoutLookup);
  readonly #deducedAnswers = this.#counter(METRICS.deducedAnswers);
  readonly #lookups = this.#counter(METRICS.lookups);
  readonly #lookupAttempts = this.#counter(METRICS.lookupAttempts);
  readonly #lookupPrice = this.#counter(METRICS.lookupPrice);
  readonly #tokens = this.#counter(METRICS.tokens);
  readonly #prompts = this.#counter(METRICS.prompts);
  readonly #denied = this.#counter(METRICS.denied);
  readonly #consentWaitSeconds = this.#histogram(METRICS.consentWaitSeconds);
  readonly #exchangeSeconds = this.#histogram(METRICS.exchangeSeconds);
  readonly #workUnderWay = this.#gauge(METRICS.workUnderWay);
  readonly #workWaiting = this.#gauge(METRICS.workWaiting);
  readonly #consentsWaiting = this.#gauge(METRICS.consentsWaiting);
  readonly #storeAwaySeconds = this.#gauge(METRICS.storeAwaySeconds);
  /** By server, on the monotonic clock. */
  readonly #awaySinceMs = new Map<string, number>();
  readonly #clockAheadSeconds = this.#gauge(METRICS.clockAheadSeconds);
  readonly #circuitOpen = this.#gauge(METRICS.circuitOpen);
  readonly #connections = this.#gauge(METRICS.connections);
  readonly #streams = this.#gauge(METRICS.streams);
  readonly #quotaUsed = this.#histogram(METRICS.quotaUsed);
  readonly #retries = this.#counter(METRICS.retries);
  readonly #storeFailures = this.#counter(METRICS.storeFailures);
  readonly #storeDoubt = this.#gauge(METRICS.storeDoubt);
  readonly #lostLogLines = this.#counter(METRICS.lostLogLines);
  #knownLostLines = 0;
  readonly #spans = this.#counter(METRICS.spans);
  #sources: Pick<SimSwaps, 'load' | 'connections' | 'clocks'> | undefined;
  /** By name. */
  readonly #prices: ReadonlyMap<string, Price | undefined>;
  readonly #startedAtMs = new MessageNotes<number>();
  readonly #unlisten: readonly (() => void)[];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is published on that channel
  readonly #circuits = (message: unknown): void => this.#switched(message as CircuitMessage);

  readonly #quotas = (message: unknown): void => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is published on that channel
    const { quota, used } = message as QuotaMessage;
    this.#quotaUsed.observe({ quota }, used);
  };

  readonly #store = (given: unknown): void => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is published on that channel
    const message = given as StoreMessage;
    switch (message.event) {
      case 'lost':
      case 'full':
        this.#storeFailures.inc({ reason: message.event }, 1);
        return;
      case 'doubt':
        this.#storeDoubt.set(message.untilMs / 1000);
        return;
      case 'away':
        if (!this.#awaySinceMs.has(message.host)) {
          this.#awaySinceMs.set(message.host, this.#parts.monotonicMs());
        }
        return;
      case 'back':
        this.#awaySinceMs.delete(message.host);
    }
  };

  constructor(parts: MetricsParts) {
    this.#parts = parts;
    this.#prices = new Map(parts.operators.map(({ name, price }) => [name, price]));
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge(METRICS.build).set({ ...BUILD, docs: parts.docsUrl ?? '' }, 1);
    this.#startAtZero();
    this.#unlisten = [
      listen(exchangeChannel, {
        start: (message) => this.#start(message),
        asyncEnd: (message) => this.#exchanged(message),
      }),
      listen(planChannel, { asyncEnd: (message) => this.#planned(message) }),
      listen(tokenChannel, { asyncEnd: (message) => this.#tokenAsked(message) }),
      listen(consentChannel, {
        start: (message) => {
          this.#consentsWaiting.inc({ operator: message.operator });
          this.#start(message);
        },
        asyncEnd: (message) => this.#waited(message),
      }),
    ];
    circuitChannel.subscribe(this.#circuits);
    quotaChannel.subscribe(this.#quotas);
    storeChannel.subscribe(this.#store);
  }

  /** Asks for the load and the connections at each scrape. */
  watch(sources: Pick<SimSwaps, 'load' | 'connections' | 'clocks'>): void {
    this.#sources = sources;
  }

  /** Everything, in Prometheus' text format. */
  async text(): Promise<string> {
    this.#workUnderWay.reset();
    this.#workWaiting.reset();
    this.#connections.reset();
    this.#streams.reset();
    for (const { operator, work, underWay, waiting } of this.#sources?.load() ?? []) {
      this.#workUnderWay.inc({ operator, work }, underWay);
      this.#workWaiting.inc({ operator, work }, waiting);
    }
    for (const { operator, endpoint, connections } of this.#sources?.connections() ?? []) {
      const { streams, ...open } = connections;
      this.#streams.inc({ operator, endpoint }, streams);
      for (const [protocol, count] of Object.entries(open)) {
        this.#connections.inc({ operator, endpoint, protocol }, count);
      }
    }
    for (const { operator, aheadMs } of this.#sources?.clocks() ?? []) {
      this.#clockAheadSeconds.set({ operator }, aheadMs / 1000);
    }
    const nowMs = this.#parts.monotonicMs();
    const sinceMs = Math.min(...this.#awaySinceMs.values(), nowMs);
    this.#storeAwaySeconds.set((nowMs - sinceMs) / 1000);
    const lost = lostLines();
    this.#lostLogLines.inc(lost - this.#knownLostLines);
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
    circuitChannel.unsubscribe(this.#circuits);
    quotaChannel.unsubscribe(this.#quotas);
    storeChannel.unsubscribe(this.#store);
    this.#registry.clear();
  }

  callerRefused(reason: RefusalReason): void {
    this.#refusedCallers.inc({ reason });
  }

  spansEnded(outcome: SpanOutcome, spans: number): void {
    this.#spans.inc({ outcome }, spans);
  }

  requestAnswered({
    document = 'other',
    codes,
    answers,
    repeatedQuestions,
    tookMs,
  }: RequestReport): void {
    const [code = 'ok'] = codes.keys();
    this.#requests.inc({ document, code });
    this.#requestSeconds.observe({ document }, tookMs / 1000);
    for (const [outcome, count] of answers) this.#answers.inc({ outcome }, count);
    if (repeatedQuestions > 0) this.#repeatedQuestions.inc(repeatedQuestions);
  }

  /** Told of what is asked of operators: the bill, and what was saved of it. */
  get observer(): AdmissionObserver {
    return {
      ended: (operator, asked, ending) => this.#ended(operator, asked, ending),
      denied: (operator, { event }, { code }) => this.#denied.inc({ operator, event, code }),
      heard: (operator, { how }) => this.#answersWithoutLookup.inc({ operator, how }),
    };
  }

  /** Prometheus sees no increase in a counter whose first sample is not 0; alerts wait for these. */
  #startAtZero(): void {
    for (const outcome of SPAN_OUTCOMES) this.#spans.inc({ outcome }, 0);
    for (const reason of ['lost', 'full']) this.#storeFailures.inc({ reason }, 0);
    for (const reason of REFUSAL_REASONS) this.#refusedCallers.inc({ reason }, 0);
    for (const outcome of ['answered', ...Object.keys(ERRORS)]) this.#answers.inc({ outcome }, 0);
    for (const operator of this.#parts.operators) this.#startOperatorAtZero(operator);
  }

  #startOperatorAtZero({ name: operator, endpoints, isPrompting }: MeteredOperator): void {
    for (const endpoint of endpoints) this.#circuitOpen.set({ operator, endpoint }, 0);
    for (const operation of ['retrieve-date', 'check'] satisfies Operation[]) {
      this.#lookupAttempts.inc({ operator, operation }, 0);
      this.#lookups.inc({ operator, operation, outcome: REFUSED }, 0);
    }
    if (!isPrompting) return;
    this.#consentsWaiting.inc({ operator }, 0);
    this.#prompts.inc({ operator, outcome: REFUSED }, 0);
    this.#storeDoubt.set(0);
  }

  #ended(operator: string, asked: AuthorizerRequest, { outcome, attempts }: Ending): void {
    switch (asked.event) {
      case 'lookup':
        this.#lookedUp(operator, asked.lookup.operation, outcome, attempts);
        return;
      case 'consent-request':
        this.#prompts.inc({ operator, outcome });
        return;
      case 'consent-status':
        return;
    }
  }

  #lookedUp(operator: string, operation: Operation, outcome: string, attempts: number): void {
    this.#lookups.inc({ operator, operation, outcome });
    if (attempts === 0) return;
    this.#lookupAttempts.inc({ operator, operation }, attempts);
    const price = this.#prices.get(operator);
    if (price === undefined) return;
    const { currency, microsPerLookup } = price;
    const amount = (attempts * microsPerLookup[operation]) / MICROS;
    this.#lookupPrice.inc({ operator, operation, currency }, amount);
  }

  #start(message: object): void {
    this.#startedAtMs.set(message, this.#parts.monotonicMs());
  }

  #secondsSince(message: object): number {
    const startedAtMs = this.#startedAtMs.get(message) ?? this.#parts.monotonicMs();
    return (this.#parts.monotonicMs() - startedAtMs) / 1000;
  }

  #exchanged(message: ExchangeMessage): void {
    const { operator, endpoint, isRetry, result } = message;
    const outcome = result === undefined ? 'broken' : outcomeOf(result);
    if (isRetry) this.#retries.inc({ operator, endpoint });
    const seconds = this.#secondsSince(message);
    this.#exchangeSeconds.observe({ operator, endpoint, outcome }, seconds);
    if (seconds > SLOW_SECONDS) {
      this.#parts.log.warn('the operator took more than a second', { operator, endpoint });
    }
  }

  #planned({ result }: PlanMessage): void {
    if (result?.outcome !== 'planned' || result.deduced === 0) return;
    this.#deducedAnswers.inc(result.deduced);
  }

  #tokenAsked({ operator, grant, result }: TokenMessage): void {
    this.#tokens.inc({ operator, grant, outcome: result?.outcome ?? 'broken' });
  }

  #waited(message: ConsentMessage): void {
    const { operator, result } = message;
    const outcome = result?.outcome ?? 'broken';
    this.#consentsWaiting.dec({ operator });
    this.#consentWaitSeconds.observe({ operator, outcome }, this.#secondsSince(message));
  }

  #switched({ operator, endpoint, state }: CircuitMessage): void {
    this.#circuitOpen.set({ operator, endpoint }, state === 'open' ? 1 : 0);
  }

  #counter<Label extends string>(
    definition: MetricDefinition & { readonly labels: readonly Label[] },
  ) {
    return new Counter<Label>(this.#configuration(definition));
  }

  #gauge<Label extends string>(
    definition: MetricDefinition & { readonly labels: readonly Label[] },
  ) {
    return new Gauge<Label>(this.#configuration(definition));
  }

  #histogram<Label extends string>(
    definition: MetricDefinition & { readonly labels: readonly Label[] },
  ) {
    const { buckets = [] } = definition;
    return new Histogram<Label>({ ...this.#configuration(definition), buckets: [...buckets] });
  }

  #configuration<Label extends string>({
    name,
    help,
    labels,
  }: MetricDefinition & { readonly labels: readonly Label[] }) {
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }
}

/** Of a metric without labels; not a number where there is none. Pure. */
function valueIn(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** A class of status, or what broke. Pure. */
function outcomeOf(result: ExchangeResult | Broken): string {
  switch (result.outcome) {
    case 'replied':
      return `${Math.floor(result.status / 100)}xx`;
    case 'connection':
    case 'descriptors':
    case 'timeout':
    case 'cancelled':
    case 'rate':
    case 'invalid-reply':
    case 'broken':
      return result.outcome;
  }
}
