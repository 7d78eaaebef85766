import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * Nokia Network as Code, behind RapidAPI: CAMARA SIM Swap 1.0 with a key in a header, and without OAuth.
 *
 * Sources: Nokia's published definition ("SIM Swap v1.0.0", whose paths still end in v0) and its client libraries
 * (nokia/network-as-code-ts and -py: SimSwapAPI, errors): `simSwapUrl` is
 * https://network-as-code.p-eu.rapidapi.com/passthrough/camara/v1/sim-swap/sim-swap/v0. The definition names x-correlator on requests
 * and replies. RapidAPI itself answers { "message": … }: 401 or 403 to a key that it does not know, 403 without a subscription, 429
 * above the plan's quota, 404 to a wrong path.
 * Not confirmed by public text: whether a passing operator repeats x-correlator on every reply, and which operators answer for which
 * countries.
 * Ask your onboarding contact: the plan's quota, and the host of your region (`host`).
 */
const nokia: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'Nokia Network as Code, SIM Swap', version: '1.0.0', readOn: '2026-11-22' }],
  authentication: {
    ...camara.authentication,
    methods: ['headers'],
    headers: { 'x-rapidapi-key': '{secret}' },
  },
  grants: { '2-legged': { type: 'none' } },
  sendPhoneNumber: 'always',
  headers: [{ name: 'x-rapidapi-host', value: '{host}' }],
  options: {
    host: {
      description: "the API's host as RapidAPI's hub has it",
      default: 'network-as-code.nokia.rapidapi.com',
      pattern: /^[a-z0-9.-]{1,100}$/,
    },
  },
});

export default nokia;
