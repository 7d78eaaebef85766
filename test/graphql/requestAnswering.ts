import {
  GraphqlRequest,
  type CountQuestion,
  type RequestParts,
} from '../../src/graphql/request.ts';
import type { Caller } from '../../src/caller/caller.ts';
import type { FieldQuestion } from '../../src/domain/fields.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Defect, FieldAnswer } from '../../src/lookups/executor.ts';
import { systemClock } from '../../src/system/clock.ts';
import { ALICE, callerNamed, purposeNamed } from '../support/values.ts';

/** What a request is, beside its answers. */
export interface RequestChanges {
  readonly caller?: Partial<Caller>;
  readonly correlator?: string;
  readonly config?: Partial<RequestParts['config']>;
  readonly countQuestion?: CountQuestion;
  readonly rehearsals?: RequestParts['rehearsals'];
}

type Answering = (number: PhoneNumber, asked: FieldQuestion) => FieldAnswer | Defect;

/** A request of Alice, who may query any number, with the answers of a test. */
export function requestAnswering(answer: Answering, changes: RequestChanges = {}): GraphqlRequest {
  const { correlator, countQuestion } = changes;
  const terms = { timeoutMs: 60_000, correlator };
  const request = new GraphqlRequest(partsAnswering(answer, changes), terms, countQuestion);
  request.admit(admitted(changes.caller));
  return request;
}

export function admitted(caller: Partial<Caller> = {}) {
  const known = { identity: callerNamed('test'), mayAskAboutAnyone: true, ownNumber: ALICE };
  return { caller: { ...known, ...caller }, purpose: purposeNamed('fraud-prevention') };
}

export function partsAnswering(
  answer: Answering,
  { config, rehearsals }: RequestChanges = {},
): RequestParts {
  return {
    config: { docsUrl: undefined, ...config },
    simSwaps: {
      forRequest: () => ({
        answer: (number, asked) => Promise.resolve(answer(number, asked)),
        answerAll: () => Promise.resolve(),
        questions: 0,
        delivered: () => undefined,
      }),
      promptsOwners: false,
    },
    quotas: { standingOf: () => Promise.resolve([]) },
    clock: systemClock,
    rehearsals,
  };
}
