import type { FieldMergeFunction, TypePolicies } from '@apollo/client';

/**
 * For a cache that other queries share: a check that is UNKNOWN is handed to the query that asked, and is
 * not kept, so the next query asks again. What is kept is as old as its `asOf` says.
 */
const forgetUnknown: FieldMergeFunction = (_existing, incoming, { readField }) =>
  readField('result', incoming) === 'UNKNOWN' ? undefined : incoming;

/** For `new InMemoryCache({ typePolicies })`. */
export const typePolicies: TypePolicies = {
  PhoneNumber: { keyFields: ['e164'], fields: { simSwapCheck: { merge: forgetUnknown } } },
};
