import type { RefusalReason } from '../caller/gate.ts';
import type { Clock } from '../clock.ts';
import {
  circuitChannel,
  consentChannel,
  exchangeChannel,
  listen,
  type CircuitMessage,
  type ConsentMessage,
  type ExchangeMessage,
} from '../diagnostics.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import type { AuditOutcome } from '../lookups/admission.ts';
import type { AdmissionObserver } from '../lookups/observedAdmissions.ts';
import type { EndpointConnections, OperatorLoad } from '../generations.ts';
import type {
  ConsentsStatus,
  EndpointStatus,
  LoggedRefusal,
  OperatorStatus,
  Refusal,
  ServiceStatus,
  StatusReport,
} from './statusReport.ts';

/** So many refusals of each kind are kept: a flood of one does not push out the others. */
const KEPT_OF_A_KIND = 10;

/** Faults of an operator, or ours towards it. Other codes are about a number or its owner. */
const OPERATOR_FAULT = /^OPERATOR_/;

/** An operator to be shown. */
export interface ShownOperator {
  readonly name: string;
  readonly flow: OperatorStatus['flow'];
  /** As messages name them. */
  readonly endpoints: readonly string[];
}

/** What is asked at each look. */
export interface StatusSources {
  operators(): readonly ShownOperator[];
  load(): readonly OperatorLoad[];
  connections(): readonly EndpointConnections[];
  service(): ServiceStatus;
}

interface EndpointCounts {
  circuit: 'closed' | 'open';
  circuitSinceMs?: number;
  exchanges: number;
  failed: number;
  lastFailure?: { readonly atMs: number; readonly outcome: string };
}

interface ConsentCounts {
  waiting: number;
  readonly outcomes: Map<string, number>;
}

const NO_CONNECTIONS = { http1: 0, spare: 0, http2: 0, streams: 0 };

/** Keeps what `/status` tells: it listens from its making until it is closed. */
export class StatusBoard {
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  /** By operator and endpoint, whose names come from the settings and from the program: there are few. */
  readonly #endpoints = new Map<string, EndpointCounts>();
  readonly #consents = new Map<string, ConsentCounts>();
  readonly #refusals: Readonly<Record<Refusal['kind'], LoggedRefusal[]>> = {
    caller: [],
    denied: [],
    operator: [],
  };
  readonly #waits = {
    start: ({ operator }: ConsentMessage) => {
      this.#consentsOf(operator).waiting += 1;
    },
    asyncEnd: ({ operator, result }: ConsentMessage) => {
      const counts = this.#consentsOf(operator);
      counts.waiting -= 1;
      const outcome = result?.outcome ?? 'broken';
      counts.outcomes.set(outcome, (counts.outcomes.get(outcome) ?? 0) + 1);
    },
  };
  readonly #unlisten: readonly (() => void)[];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is published on that channel
  readonly #circuits = (message: unknown): void => this.#switched(message as CircuitMessage);

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAtMs = clock.nowMs();
    this.#unlisten = [
      listen(exchangeChannel, { asyncEnd: (message) => this.#exchanged(message) }),
      listen(consentChannel, this.#waits),
    ];
    circuitChannel.subscribe(this.#circuits);
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten();
    circuitChannel.unsubscribe(this.#circuits);
  }

  /** The circuits of these operators are new, and so closed. */
  renew(made: readonly string[]): void {
    for (const [key, counts] of this.#endpoints) {
      if (!made.some((operator) => key.startsWith(`${operator} `))) continue;
      counts.circuit = 'closed';
      delete counts.circuitSinceMs;
    }
  }

  /** A request was refused at the door. */
  callerRefused(reason: RefusalReason): void {
    this.#refused({ kind: 'caller', reason });
  }

  /** Told of what is asked of operators. */
  get observer(): AdmissionObserver {
    return {
      ended: (operator, { event, request }, { outcome }) => {
        const code = codeOf(outcome);
        if (code === undefined || !OPERATOR_FAULT.test(code)) return;
        const name = ownPart(request.correlator.name);
        this.#refused({ kind: 'operator', operator, event, code, request: name });
      },
      denied: (operator, { event, request }, { code }) => {
        const name = ownPart(request.correlator.name);
        this.#refused({ kind: 'denied', operator, event, code, request: name });
      },
    };
  }

  report(sources: StatusSources): StatusReport {
    return {
      at: this.#isoTime(this.#clock.nowMs()),
      startedAt: this.#isoTime(this.#startedAtMs),
      service: sources.service(),
      operators: sources.operators().map((operator) => this.#operator(operator, sources)),
      refusals: Object.values(this.#refusals)
        .flat()
        .toSorted((one, other) => other.at.localeCompare(one.at)),
    };
  }

  #operator({ name, flow, endpoints }: ShownOperator, sources: StatusSources): OperatorStatus {
    const shown = {
      name,
      flow,
      endpoints: endpoints.map((endpoint) => this.#endpoint(name, endpoint, sources)),
      queues: sources
        .load()
        .filter(({ operator }) => operator === name)
        .map(({ work, underWay, waiting }) => ({ work, underWay, waiting })),
    };
    switch (flow) {
      case '2-legged':
        return shown;
      case '3-legged':
        return { ...shown, consents: this.#consentsStatus(name) };
    }
  }

  #endpoint(operator: string, name: string, sources: StatusSources): EndpointStatus {
    const { circuit, circuitSinceMs, exchanges, failed, lastFailure } = this.#countsOf(
      operator,
      name,
    );
    const open = sources
      .connections()
      .find((one) => one.operator === operator && one.endpoint === name);
    return {
      name,
      circuit,
      ...(circuitSinceMs === undefined ? {} : { circuitSince: this.#isoTime(circuitSinceMs) }),
      exchanges,
      failed,
      ...(lastFailure === undefined
        ? {}
        : {
            lastFailure: { at: this.#isoTime(lastFailure.atMs), outcome: lastFailure.outcome },
          }),
      connections: open?.connections ?? NO_CONNECTIONS,
    };
  }

  #consentsStatus(operator: string): ConsentsStatus {
    const { waiting, outcomes } = this.#consentsOf(operator);
    return { waiting, outcomes: Object.fromEntries(outcomes) };
  }

  #exchanged({ operator, endpoint, result }: ExchangeMessage): void {
    const counts = this.#countsOf(operator, endpoint);
    counts.exchanges += 1;
    const failure = failureOf(result);
    if (failure === undefined) return;
    counts.failed += 1;
    counts.lastFailure = { atMs: this.#clock.nowMs(), outcome: failure };
  }

  #switched({ operator, endpoint, state }: CircuitMessage): void {
    const counts = this.#countsOf(operator, endpoint);
    counts.circuit = state;
    counts.circuitSinceMs = this.#clock.nowMs();
  }

  #refused(refusal: Refusal): void {
    const kept = this.#refusals[refusal.kind];
    kept.unshift({ ...refusal, at: this.#isoTime(this.#clock.nowMs()) });
    kept.length = Math.min(kept.length, KEPT_OF_A_KIND);
  }

  #countsOf(operator: string, endpoint: string): EndpointCounts {
    const key = `${operator} ${endpoint}`;
    let counts = this.#endpoints.get(key);
    if (counts === undefined) {
      counts = { circuit: 'closed', exchanges: 0, failed: 0 };
      this.#endpoints.set(key, counts);
    }
    return counts;
  }

  #consentsOf(operator: string): ConsentCounts {
    let counts = this.#consents.get(operator);
    if (counts === undefined) {
      counts = { waiting: 0, outcomes: new Map() };
      this.#consents.set(operator, counts);
    }
    return counts;
  }

  #isoTime(ms: number): string {
    return new Date(ms).toISOString();
  }
}

/** A class of status, or what broke; `undefined` where the exchange went well. Pure. */
function failureOf(result: ExchangeMessage['result']): string | undefined {
  switch (result?.outcome) {
    case 'replied':
      return result.status < 500 ? undefined : String(result.status);
    case 'connection':
    case 'timeout':
    case 'cancelled':
    case 'rate':
    case 'invalid-reply':
    case 'broken':
      return result.outcome;
    case undefined:
      return 'broken';
  }
}

function codeOf(outcome: AuditOutcome): ErrorCode | undefined {
  switch (outcome) {
    case 'answered':
    case 'asked':
    case 'broken':
      return undefined;
    default:
      return outcome in ERRORS ? outcome : undefined;
  }
}

/** What is random of a correlator, as `createCorrelator` makes it. */
function ownPart(correlator: string): string {
  return correlator.slice(correlator.lastIndexOf('-') + 1);
}
