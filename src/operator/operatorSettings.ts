import type { Operation } from '../domain/question.ts';
import type { AuthorizationSettings } from '../tokens/authorizationSettings.ts';

/** One operator: where it is, what it offers and how it wants to be asked (design §6, OPERATOR_…). */
export interface OperatorSettings extends AuthorizationSettings {
  /** `{sim_swap_url}`, without a slash at its end; its children are `/retrieve-date` and `/check`. */
  readonly simSwapUrl: string;
  readonly operations: ReadonlySet<Operation>;
  /** Whether a lookup's body names the number; `auto` leaves it out where a 3-legged token holds it. */
  readonly sendPhoneNumber: 'auto' | 'always' | 'never';
  /** The largest window that the operator's `check` takes. */
  readonly maxAgeHours: number;
  /** How far the operator's dates may be off: rounding, mislabelled zones, clocks. */
  readonly dateMarginHours: number;
  readonly trustMonitoredPeriod: boolean;
  readonly correlatorEcho: 'auto' | 'always' | 'never';
  /** Whether a lookup whose outcome is unknown is made once more, at the price of a second bill. */
  readonly retriesLookups: boolean;
  /** Headers that this operator wants on every request, by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one exchange, from connecting to the last byte of the reply. */
  readonly timeoutMs: number;
}
