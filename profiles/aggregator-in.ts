import type { LookupAsk, MakeProfile } from '../src/domain/profile.ts';

/*
 * An aggregator for India, client credentials at Keycloak.
 *
 * Sources: the API pages of an Indian aggregator, which publish several forms of SIM Swap: one takes the number in the header
 * x-phone-number, as digits without the plus; another takes maxAge in seconds, answers `simSwapped`, names exchanges by
 * x-correlation-id and has the one scope sim-swap.read. Here they are together: remove what your papers do not have.
 * Others take a header `jwt_token` (`tokens.sentIn`) or `api_key` in the place of OAuth (the grant `none`).
 * A token of Keycloak may be used until it expires, whatever the number; ask whether the contract agrees.
 * Ask your onboarding contact as well: both addresses, the realm, and the numbers that are served.
 */
const aggregatorIn: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'API pages of an Indian aggregator, SIM Swap', readOn: '2026-11-22' }],
  grants: {
    '2-legged': {
      ...camara.grants['2-legged'],
      path: '/realms/{realm}/protocol/openid-connect/token',
    },
  },
  scopes: {
    ...camara.scopes,
    operations: { 'retrieve-date': 'sim-swap.read', check: 'sim-swap.read' },
  },
  tokens: { ...camara.tokens, use: 'any-number' },
  lookups: {
    'retrieve-date': { ...camara.lookups['retrieve-date'], write },
    check: {
      ...camara.lookups.check,
      write,
      read: { swapped: { at: '/simSwapped', true: true, false: false, window: 'asked' } },
    },
  },
  sendPhoneNumber: 'always',
  correlator: { ...camara.correlator, header: 'x-correlation-id' },
  options: { realm: { description: 'the realm of Keycloak', pattern: /^[\w-]{1,64}$/ } },
});

function write({ digits, maxAgeHours }: LookupAsk) {
  return {
    headers: { 'x-phone-number': digits },
    body: maxAgeHours === undefined ? {} : { maxAge: maxAgeHours * 3600 },
  };
}

export default aggregatorIn;
