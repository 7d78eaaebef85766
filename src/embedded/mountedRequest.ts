import type { RequestContext } from '../context.ts';
import type { EmbeddedLife } from './embeddedLife.ts';

/** What the context of a request has under `simSwap`; of use to our own resolvers alone. */
export class MountedRequest {
  readonly context: RequestContext;
  readonly #life: EmbeddedLife;

  constructor(context: RequestContext, life: EmbeddedLife) {
    this.context = context;
    this.#life = life;
  }

  /** The request has its answer. */
  end(): void {
    this.#life.end();
  }
}

/** Ends the request of a context that has one: what came of a context without has been told by then. */
export function endRequest(context: unknown): void {
  requestIn(context)?.end();
}

/**
 * Our part of a request's context.
 *
 * @throws {Error} where it has none
 */
export function requestOf(context: unknown): MountedRequest {
  const request = requestIn(context);
  if (request !== undefined) return request;
  throw new Error('The context of a request lacks what context() of the SIM swap subgraph makes.');
}

function requestIn(context: unknown): MountedRequest | undefined {
  const isObject = typeof context === 'object' && context !== null;
  const request = isObject && 'simSwap' in context ? context.simSwap : undefined;
  return request instanceof MountedRequest ? request : undefined;
}
