import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * Claro Brasil, client credentials.
 *
 * Sources: Claro's developer portal: /mobile/v1/gsma/gateway/simswap, CAMARA SIM Swap 0.4, an envelope of its own around errors
 * ({ "apiVersion", "transactionId", "error": { "httpCode", "errorCode", … } }), and HTTP 451. 0.4 itself has 404
 * SIM_SWAP.UNKNOWN_PHONE_NUMBER, and 409 where two requests about a number meet. The trial allows 1,000 requests in three
 * months.
 * Ask your onboarding contact: the host, whether the product wants its client in the header x-client-auth (the method
 * `headers`), what 451 is said of (here: this number, for good), and whether a token may be used again ("any-number").
 */
const claro: MakeProfile = (camara) => ({
  ...camara,
  papers: [
    { title: 'Claro developer portal, SIM Swap', version: 'CAMARA 0.4', readOn: '2026-11-22' },
  ],
  authentication: {
    ...camara.authentication,
    methods: ['basic', 'headers'],
    headers: { 'x-client-auth': '{secret}' },
  },
  grants: { '2-legged': camara.grants['2-legged'] },
  scopes: {
    ...camara.scopes,
    operations: { 'retrieve-date': 'retrieve-sim-swap-date', check: 'check-sim-swap' },
  },
  sendPhoneNumber: 'always',
  oneCallPerNumber: true,
  errors: {
    ...camara.errors,
    wordAt: ['/error/errorCode'],
    rules: [
      { status: 409, code: 'OPERATOR_UNAVAILABLE', retryAfterSeconds: 1 },
      { status: 451, code: 'NUMBER_NOT_SERVED' },
    ],
  },
});

export default claro;
