import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * An operator of CAMARA SIM Swap 2.1 that binds its tokens to a key of the client's (DPoP), with the JWT bearer grant.
 *
 * Sources: CAMARA Security and Interoperability Profile r4.2 ("Sender-Constrained Tokens", "JWT Bearer Flow", "Client Authentication"),
 * RFC 9449 and RFC 7523. Who requires DPoP answers 400 invalid_dpop_proof to a request without a proof, and who does not know it a
 * Bearer token, which is refused here: take camara-jwt-bearer then. A proof counts for 300 seconds and once. A nonce may be asked for
 * at the token endpoint and at lookups (use_dpop_nonce). Proofs name the hash of the body and of the query (`camara:bh`,
 * `camara:qh`), which the profile wants to be required, and which others ignore.
 * Not confirmed by public text: an operator that runs this in production.
 * Ask your onboarding contact: both addresses, and whether a token may be used again.
 */
const camaraDpop: MakeProfile = (camara) => ({
  ...camara,
  papers: [
    {
      title: 'CAMARA Security and Interoperability Profile',
      version: 'r4.2',
      readOn: '2026-11-28',
    },
    { title: 'RFC 9449, RFC 7523', readOn: '2026-11-28' },
  ],
  authentication: {
    ...camara.authentication,
    methods: ['private_key_jwt'],
    assertion: { ...camara.authentication.assertion, audience: 'endpoint' },
    dpop: true,
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
  tokens: {
    ...camara.tokens,
    types: ['DPoP'],
    sentIn: { header: 'authorization', prefix: 'DPoP ' },
  },
});

export default camaraDpop;
