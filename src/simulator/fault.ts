/** What becomes of an exchange instead of the answer. */
export type Fault =
  /** A refusal: `code` is CAMARA's, `error` OAuth's; neither means a bare status. */
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly code?: string;
      readonly error?: string;
      readonly retryAfterSeconds?: number;
      readonly location?: string;
    }
  /** The answer, but so much later. */
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'never answer' }
  | { readonly kind: 'break the connection' }
  /** Half of the body, and then nothing. */
  | { readonly kind: 'cut the body' }
  /** A body that is no answer, with status 200. */
  | { readonly kind: 'talk nonsense'; readonly body: string }
  | { readonly kind: 'send too much' }
  /** The answer, under the correlator of somebody else. */
  | { readonly kind: 'mix up correlators' };
