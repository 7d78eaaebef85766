import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * Telefonica (Open Gateway), CIBA.
 *
 * Sources: Telefonica's Open Gateway documentation: {host}/apigateway/bc-authorize and /token, Basic, one scope for both
 * operations, 409 while another request about the same number is under way, and errors of the authorization server as
 * { "code": 400, "message": … }. Version 0 joined purpose and scope by "#". Still older documents name the purpose in a
 * parameter of its own (`parameters` of the grant).
 * In a sandbox's mock mode `check` says `true` for numbers that end in 1, `false` in 2, either for the others; `retrieve-date` says 409 for
 * those that end in 9, and 2024-01-14 for the others.
 * Ask your onboarding contact: the host, whether a token may be used again, requests a second (no limits are published), and
 * how its authorization server names a number that it does not know: the published form has a number where OAuth has a word.
 */
const telefonica: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'Telefonica Open Gateway documentation', readOn: '2026-11-22' }],
  authentication: { ...camara.authentication, methods: ['basic'] },
  grants: {
    '3-legged': {
      ...camara.grants['3-legged'],
      paths: {
        backchannelAuthentication: '/apigateway/bc-authorize',
        cibaToken: '/apigateway/token',
      },
    },
  },
  scopes: {
    ...camara.scopes,
    operations: { 'retrieve-date': 'sim-swap', check: 'sim-swap' },
    purpose: true,
  },
  oneCallPerNumber: true,
  errors: {
    ...camara.errors,
    rules: [{ status: 409, code: 'OPERATOR_UNAVAILABLE', retryAfterSeconds: 1 }],
  },
});

export default telefonica;
