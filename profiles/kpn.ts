import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * KPN, client credentials behind Apigee.
 *
 * Sources: KPN's definition "SIM Swap" 1.0.2 (SwaggerHub kpn/SimSwap-KPN) and its developer pages: the token endpoint
 * /oauth/client_credential/accesstoken with grant_type in its query, no scopes, only retrieve-date, 404
 * SIM_SWAP.UNKNOWN_PHONE_NUMBER, and 409 CONFLICT while another request about the same number is under way. `authUrl` is
 * https://api-prd.kpn.com, `simSwapUrl` https://api-prd.kpn.com/kpn/sim-swap. Windows are answered from the date: `false` where it is
 * clearly older, otherwise `true`, which may overstate.
 * Not confirmed by public text: whether the client is in `authorization` or in the form (Apigee takes either; "post" is the
 * second), what `token_type` says (Apigee's default is BearerToken), and the lifetime of tokens.
 * Ask your onboarding contact: these, and whether a token may be used again: it holds no number, so "tokens": { "use": "any-number" }
 * would save a token request for each lookup.
 */
const kpn: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'SwaggerHub kpn/SimSwap-KPN', version: '1.0.2', readOn: '2026-11-22' }],
  authentication: { ...camara.authentication, methods: ['basic', 'post'] },
  grants: {
    '2-legged': {
      ...camara.grants['2-legged'],
      path: '/oauth/client_credential/accesstoken',
      inQuery: ['grant_type'],
    },
  },
  scopes: { ...camara.scopes, operations: { 'retrieve-date': '', check: '' } },
  tokens: { ...camara.tokens, types: ['Bearer', 'BearerToken'] },
  lookups: { 'retrieve-date': camara.lookups['retrieve-date'] },
  oneCallPerNumber: true,
});

export default kpn;
