import type { MakeProfile } from '../src/operator/profile.ts';

/*
 * KPN, client credentials.
 *
 * Sources: KPN's developer pages: grant_type stands in the query of the token request, there are no scopes, and SIM Swap has
 * retrieve-date alone. So windows are answered from the date: `false` where it is clearly older, otherwise `true`, which may
 * overstate.
 * Ask your onboarding contact: both addresses and the path of the token endpoint, how the client shows who it is, and whether
 * a token may be used again: it holds no number, so "tokens": { "use": "any-number" } would save a token request for each
 * lookup.
 */
const kpn: MakeProfile = (camara) => ({
  ...camara,
  grants: { '2-legged': { ...camara.grants['2-legged'], inQuery: ['grant_type'] } },
  scopes: { ...camara.scopes, operations: { 'retrieve-date': '', check: '' } },
  lookups: { 'retrieve-date': camara.lookups['retrieve-date'] },
});

export default kpn;
