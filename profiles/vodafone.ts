import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * The service of docs/operator-api.md, Vodafone's "SIM Swap" with its 2-legged and 3-legged tokens: a profile that is named
 * nowhere is this one.
 *
 * Sources: the description of the service (version 1.0.0); docs/operator-api.md says what of it is its own word.
 * Ask your onboarding contact: which of the two flows was agreed on, whether retrieve-date and check are both offered, how
 * old a swap check may be asked about, and whether a token may be used again.
 */
const vodafone: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'Vodafone SIM Swap', version: '1.0.0', readOn: '2026-11-21' }],
  grants: {
    '2-legged': { ...camara.grants['2-legged'], username: 'tel:{number}' },
    '3-legged': {
      ...camara.grants['3-legged'],
      grantType: 'urn:openid:params:mc:grant-type:ciba',
    },
  },
  scopes: {
    ...camara.scopes,
    operations: { 'retrieve-date': 'retrieve-sim-swap-date', check: 'check-sim-swap' },
  },
});

export default vodafone;
