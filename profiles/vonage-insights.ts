import type { LookupAsk, LookupReading, MakeProfile } from '../src/domain/profile.ts';

/*
 * Vonage Identity Insights (paths of v0.1), which took the place of its SIM Swap API on 23 November 2025.
 *
 * Sources: the API reference and the guides of Identity Insights (developer.vonage.com/en/api/identity-insights, "Using Multiple
 * Insights", "Check Risk Before Verification"), Vonage's client libraries (vonage-node-sdk, vonage-python-sdk, vonage-dotnet-sdk) for
 * members that may be absent, and its guide to JWTs for the claims. The base is https://api-eu.vonage.com in the guides; the other
 * regions are on the page "Technical Details".
 * - It has no tokens: each request carries a JWT of the application, whose id is the client's id.
 * - One reply has the date and whether it was swapped in the period that was asked about, which is 240 hours where only the date is
 *   asked for.
 * - A status other than OK is not an answer, even with one: a guide shows NO_COVERAGE with `"is_swapped": true`. PARTIAL_SUCCESS says
 *   that members were left out; what is there counts.
 * In a Playground +990123400, and so on to +990123488 in steps of 11, had a swap 500 hours ago; +990123499 is unknown.
 * Not confirmed by public text: whether a member that does not apply is null or absent (both are read alike), which codes are
 * billed, and the form of 401 and 429, which are read by their status.
 * Ask your onboarding contact: the region, and the purpose that your network profile was approved for (`purpose`).
 */
const vonageInsights: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'Vonage Identity Insights', version: '1.0.0', readOn: '2026-11-28' }],
  authentication: {
    ...camara.authentication,
    methods: ['bearer_jwt'],
    assertion: {
      ...camara.authentication.assertion,
      algs: ['RS256'],
      claims: ({ clientId }) => ({ application_id: clientId }),
    },
  },
  grants: { '2-legged': { type: 'none' } },
  lookups: {
    'retrieve-date': { ...INSIGHT, read: reading(DEFAULT_PERIOD_HOURS) },
    check: { ...INSIGHT, read: reading('asked') },
  },
  sendPhoneNumber: 'always',
  errors: {
    wordAt: ['/insights/sim_swap/status/code'],
    okWords: ['OK', 'PARTIAL_SUCCESS'],
    rules: [
      { status: 200, word: 'NO_COVERAGE', code: 'NUMBER_NOT_SERVED' },
      { status: 200, word: 'NOT_FOUND', code: 'NUMBER_NOT_SERVED' },
      { status: 200, word: 'UNSUPPORTED_NETWORK_TYPE', code: 'NUMBER_NOT_SERVED' },
      { status: 200, word: 'INVALID_NUMBER_FORMAT', code: 'NUMBER_NOT_SERVED' },
      // Said of the application, the supplier and the number together.
      { status: 200, word: 'UNAUTHORIZED', code: 'OPERATOR_REFUSED', reach: 'number' },
      { status: 200, word: 'INVALID_PURPOSE', code: 'OPERATOR_REFUSED', reach: 'number' },
      { status: 200, word: 'SUPPLIER_ERROR', code: 'OPERATOR_UNAVAILABLE' },
      { status: 200, word: 'INTERNAL_ERROR', code: 'OPERATOR_UNAVAILABLE' },
    ],
  },
  options: {
    purpose: {
      description: 'the purpose that your network profile was approved for',
      default: 'FraudPreventionAndDetection',
      pattern: /^\w{1,64}$/,
    },
  },
});

/** The default of `period`, by the API reference. */
const DEFAULT_PERIOD_HOURS = 240;

const INSIGHT = {
  method: 'POST',
  path: '/v0.1/identity-insights',
  write: ({ number, maxAgeHours = DEFAULT_PERIOD_HOURS, options }: LookupAsk) => ({
    body: {
      phone_number: number,
      purpose: options['purpose'],
      insights: { sim_swap: { period: maxAgeHours } },
    },
  }),
} as const;

function reading(window: 'asked' | number): LookupReading {
  return {
    date: {
      at: '/insights/sim_swap/latest_sim_swap_at',
      form: 'rfc3339',
      sentinels: [],
      nullMeans: 'not-disclosed',
    },
    swapped: { at: '/insights/sim_swap/is_swapped', true: true, false: false, window },
    isPartial: true,
  };
}

export default vonageInsights;
