import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * An operator of CAMARA SIM Swap 2.1 with the JWT bearer grant (RFC 7523).
 *
 * Sources: CAMARA SimSwap r3.2 and CAMARA Identity and Consent Management r3.3 ("JWT Bearer Flow"): the assertion names the
 * number (`sub`, as tel:+…) and the scope, and shows who asks; the token holds the number, which lookups leave out (422
 * UNNECESSARY_IDENTIFIER otherwise). The audience is best the address of the token endpoint itself.
 * Ask your onboarding contact: both addresses, the audience, and whether a token may be used again: "per-number" would save a
 * token request for each further lookup about a number.
 */
const camaraJwtBearer: MakeProfile = (camara) => ({
  ...camara,
  papers: [
    { title: 'CAMARA SimSwap', version: 'r3.2', readOn: '2026-11-22' },
    { title: 'CAMARA Identity and Consent Management', version: 'r3.3', readOn: '2026-11-22' },
  ],
  authentication: {
    ...camara.authentication,
    methods: ['private_key_jwt'],
    assertion: { ...camara.authentication.assertion, audience: 'endpoint' },
  },
  grants: {
    '2-legged': {
      type: 'jwt-bearer',
      path: '/oauth/v1/token',
      subject: 'tel:{number}',
      parameters: {},
    },
  },
  scopes: { ...camara.scopes, purpose: true },
});

export default camaraJwtBearer;
