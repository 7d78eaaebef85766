import { GraphqlRequest, type RequestParts } from '../../src/graphql/request.ts';
import type { Caller } from '../../src/caller/caller.ts';
import type { SimSwapLoader } from '../../src/lookups/executor.ts';
import { systemClock } from '../../src/system/clock.ts';
import { ALICE, callerNamed, purposeNamed } from '../values.ts';

/** What a request is, beside its answers. */
export interface RequestChanges {
  readonly caller?: Partial<Caller>;
  readonly correlator?: string;
  readonly config?: Partial<RequestParts['config']>;
}

/** A request of Alice, who may query any number, with the answers of a test. */
export function requestAnswering(
  answerTo: SimSwapLoader['answerTo'],
  { caller, correlator, config }: RequestChanges = {},
): GraphqlRequest {
  const limits = { maxNumbersPerOperation: 100, maxQuestionsPerNumber: 100, maxReplyBytes: 1e6 };
  const request = new GraphqlRequest(
    {
      config: { limits, docsUrl: undefined, ...config },
      simSwaps: {
        forRequest: () => ({
          ask: () => Promise.resolve(),
          askAhead: () => Promise.resolve(),
          isAnswered: () => false,
          answerTo,
          told: () => undefined,
        }),
        asksOwners: false,
      },
      quotas: { standingOf: () => Promise.resolve([]) },
      clock: systemClock,
    },
    { timeoutMs: 60_000, correlator },
  );
  const known = { identity: callerNamed('test'), mayAskAboutAnyone: true, ownNumber: ALICE };
  request.admit({ caller: { ...known, ...caller }, purpose: purposeNamed('fraud-prevention') });
  return request;
}
