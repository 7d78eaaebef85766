import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * Orange in France and Belgium, CIBA.
 *
 * Sources: Orange's developer pages; CAMARA SimSwap issues #249 and #253 (a data protection officer allows seven days, which
 * is less than CAMARA's default of 240 hours) and #154; CAMARA Identity and Consent Management for private_key_jwt and the
 * purpose. Older documents join purpose and scope by "#". Orange Spain takes Basic, "#" and
 * POST /es/openapi/oauth/v2/bc-authorize: a profile of your own. The token replies have `expires_in` as a text.
 * Ask your onboarding contact: both addresses, the audience of assertions (here: the address of the authorization server),
 * whether retrieve-date is offered as well as check (the lab has only check: "operations": ["check"]), and whether a token may be
 * used again.
 */
const orange: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'Orange developer pages, SIM Swap', readOn: '2026-11-22' }],
  authentication: { ...camara.authentication, methods: ['private_key_jwt'] },
  grants: { '3-legged': camara.grants['3-legged'] },
  scopes: { ...camara.scopes, openid: true, purpose: true },
  maxAgeHours: 168,
});

export default orange;
