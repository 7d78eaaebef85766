import type { Refusal } from './refusals.ts';

/** What happens to an exchange instead of the answer. */
export type Fault =
  /** A lookup refused as in CAMARA, in the words of the simulator's dialect. */
  | {
      readonly kind: 'refuse a lookup';
      readonly refusal: Refusal;
      readonly retryAfterSeconds?: number;
    }
  /** A refusal of any endpoint: with OAuth's `error`, or a bare status. */
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly error?: string;
      readonly retryAfterSeconds?: number;
      readonly location?: string;
    }
  /** The answer, with this delay. */
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'never answer' }
  | { readonly kind: 'break the connection' }
  /** Half of the body, and nothing more. */
  | { readonly kind: 'cut the body' }
  /** A body that is not an answer, with status 200. */
  | { readonly kind: 'talk nonsense'; readonly body: string }
  | { readonly kind: 'send too much' }
  /** The answer, under the correlator of another request. */
  | { readonly kind: 'mix up correlators' };
