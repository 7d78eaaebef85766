import type { FieldMergeFunction, TypePolicies } from '@apollo/client';

/**
 * For a cache that other queries share: a check that is UNKNOWN is returned to its query, and is
 * not kept, so the next query fetches it again. What is kept is as old as its `asOf`.
 */
const forgetUnknown: FieldMergeFunction = (_existing, incoming, { readField }) =>
  readField('result', incoming) === 'UNKNOWN' ? undefined : incoming;

/** For `new InMemoryCache({ typePolicies })`. */
export const typePolicies: TypePolicies = {
  PhoneNumber: { keyFields: ['e164'], fields: { simSwapCheck: { merge: forgetUnknown } } },
};
