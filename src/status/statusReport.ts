import type { RefusalReason } from '../caller/gate.ts';
import type { ErrorCode } from '../errors.ts';
import type { OpenConnections } from '../http/connections/openConnections.ts';

/** How the process stands, at a glance. No part of it is a number, a person or a caller's text. */
export interface StatusReport {
  /** ISO 8601, as all times here. */
  readonly at: string;
  readonly startedAt: string;
  readonly service: ServiceStatus;
  readonly operators: readonly OperatorStatus[];
  /** The latest first. */
  readonly refusals: readonly LoggedRefusal[];
}

export type ServiceStatus =
  | { readonly status: 'ready' | 'draining' }
  | { readonly status: 'starting'; readonly waitingFor: readonly string[] };

export interface OperatorStatus {
  readonly name: string;
  readonly flow: '2-legged' | '3-legged';
  readonly endpoints: readonly EndpointStatus[];
  readonly queues: readonly QueueStatus[];
  /** Of the 3-legged flow. */
  readonly consents?: ConsentsStatus;
}

export interface EndpointStatus {
  readonly name: string;
  readonly circuit: 'closed' | 'open';
  /** When it opened or closed; absent while it has done neither. */
  readonly circuitSince?: string;
  /** Since the start. */
  readonly exchanges: number;
  /** Those without a reply that could be read, and those with a 5xx. */
  readonly failed: number;
  readonly lastFailure?: { readonly at: string; readonly outcome: string };
  readonly connections: OpenConnections;
}

/** Work of one kind that has a permit, and work that waits for one. */
export interface QueueStatus {
  readonly work: string;
  readonly underWay: number;
  readonly waiting: number;
}

export interface ConsentsStatus {
  /** Requests that wait for an owner now. */
  readonly waiting: number;
  /** What waiting came to since the start, by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** What was refused. */
export type Refusal =
  /** A request, at the door. */
  | { readonly kind: 'caller'; readonly reason: RefusalReason }
  /** A lookup or a prompt that was not made: a quota, or the audit log. */
  | {
      readonly kind: 'denied';
      readonly operator: string;
      readonly event: string;
      readonly code: ErrorCode;
      readonly request: string;
    }
  /** What an operator was asked, and refused or failed at. */
  | {
      readonly kind: 'operator';
      readonly operator: string;
      readonly event: string;
      readonly code: ErrorCode;
      /** Our own part of the correlator, which the log has as well: callers write the other. */
      readonly request: string;
    };

export type LoggedRefusal = Refusal & { readonly at: string };
