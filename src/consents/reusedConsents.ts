import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { ConsentTokens } from './consentTokens.ts';
import {
  lookupFailed,
  type ConsentReading,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from '../lookups/lookupRoute.ts';

/** The two ways of a lookup that needs a consent. */
export interface ConsentRoutes {
  /** Asks the owner of the number. */
  readonly consented: LookupRoute;
  /** Uses the token of a consent that was given. */
  readonly direct: LookupRoute;
  readonly tokens: Pick<ConsentTokens, 'find'>;
}

/** 3-legged, where a consent's token may be used again: while it lives, its caller's lookups prompt no more. */
export class ReusedConsents implements LookupRoute {
  readonly #routes: ConsentRoutes;

  constructor(routes: ConsentRoutes) {
    this.#routes = routes;
  }

  lookUp(lookup: Lookup, session: LookupSession, recalledAtMs?: number): Promise<LookupOutcome> {
    const { consented, direct, tokens } = this.#routes;
    const { number, request } = session;
    const held = tokens.find(request, { number, operation: lookup.operation });
    switch (held.kind) {
      case 'held':
        return direct.lookUp(lookup, session);
      case 'refused':
        return Promise.resolve(lookupFailed(lookup, held.failure));
      case 'none':
        return consented.lookUp(lookup, session, recalledAtMs);
    }
  }

  consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    return this.#routes.consented.consent(number, request);
  }

  async close(): Promise<void> {
    await this.#routes.direct.close();
    await this.#routes.consented.close();
  }
}
