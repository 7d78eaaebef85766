import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * Vodafone's developer marketplace, CIBA ("Get a token through the backchannel").
 *
 * Sources: Vodafone's developer marketplace, the pages of SIM Swap and of the OAuth API, and its Postman collection (sandbox
 * https://api-sandbox.vf-dmp.engineering.vodafone.com, below it /sim-swap/v1). Where they differ:
 * - one sample spells the path /bcauthorize, all others /bc-authorize;
 * - vf_ext_bp_id, the name of your company, is needed by an integrator's account; a sample shows it on bc-authorize as well;
 * - the OAuth page says that a token may be used again for 59 min 59 s. If your contract says once, write
 *   "tokens": { "use": "once" } into the entry.
 * Ask your onboarding contact: the addresses for production, the numbers that are served (a token counts for one country),
 * requests a second (the sandbox states 1,000 in x-rate-limit-limit, without the span), and how far back a check
 * may reach. Its samples repeat X-Correlator.
 */
const vodafoneMarketplace: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'Vodafone developer marketplace, SIM Swap and OAuth', readOn: '2026-11-22' }],
  authentication: { ...camara.authentication, methods: ['basic'] },
  grants: { '3-legged': camara.grants['3-legged'] },
  scopes: {
    ...camara.scopes,
    operations: { 'retrieve-date': 'retrieve-sim-swap-date', check: 'check-sim-swap' },
    openid: true,
  },
  tokens: { ...camara.tokens, use: 'per-number' },
  headers: [
    {
      name: 'vf_ext_bp_id',
      value: '{businessPartner}',
      endpoints: ['backchannelAuthentication', 'retrieveDate', 'check'],
    },
    {
      name: 'vf-trace-transaction-id',
      value: { generated: 'uuid' },
      endpoints: ['retrieveDate', 'check'],
    },
  ],
  options: {
    businessPartner: {
      description: "the name of your company, for an integrator's account",
      default: '',
    },
  },
});

export default vodafoneMarketplace;
