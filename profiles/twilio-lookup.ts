import type { MakeProfile } from '../src/domain/profile.ts';

/*
 * Twilio Lookup v2 with the package SIM Swap, which is in private beta and takes the approval of each carrier.
 *
 * Sources: twilio.com/docs: "SIM Swap" of Lookup v2 and its overview, "Testing SIM Swap with Magic Numbers", the definition in
 * twilio/twilio-oai (lookups v2), and the pages of the errors 20003, 60008, 60606, 60607 and 60620. `simSwapUrl` is
 * https://lookups.twilio.com/v2/PhoneNumbers; the client's id is the account SID, its secret the auth token, sent at each lookup.
 * - The window is the reply's (`swapped_period`), never the question's: what the account was set up with, or, where the date is stated
 *   (GB, DE, ES and NL), the time since that date, with `swapped_in_period` true. Another window is PERIOD_NOT_SUPPORTED unless the
 *   date answers.
 * - A carrier or country that is not supported is null, and not billed. 60620 is an answer that its carrier left incomplete: it is
 *   billed, and Twilio says not to ask again.
 * With test credentials +12345678900 and …904 have no swap within 48 hours, …901 none within 24 hours, …907 no date.
 * Not confirmed by public text: the magic numbers beyond the first four (all of them null, PT24H or PT48H, false), and whether
 * `swapped_period` is ever in months or years (those are refused: they are no lengths).
 * Ask your onboarding contact: the period of the account, which carriers approved it, and requests a second.
 */
const twilioLookup: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'Twilio Lookup, SIM Swap', version: 'v2', readOn: '2026-11-22' }],
  authentication: { ...camara.authentication, methods: ['basic'] },
  grants: { '2-legged': { type: 'none' } },
  lookups: { 'retrieve-date': LOOKUP, check: LOOKUP },
  sendPhoneNumber: 'always',
  errors: {
    ...camara.errors,
    wordAt: ['/sim_swap/error_code'],
    rules: [
      { status: 200, word: '60008', code: 'NUMBER_NOT_SERVED' },
      { status: 200, word: '60607', code: 'NUMBER_NOT_SERVED' },
      { status: 200, word: '60620', code: 'NUMBER_NOT_SERVED' },
      { status: 200, word: '60606', code: 'OPERATOR_REFUSED', reach: 'number' },
    ],
  },
});

const LOOKUP = {
  method: 'GET',
  path: '/{number}',
  write: () => ({ query: { Fields: 'sim_swap' } }),
  read: {
    date: {
      at: '/sim_swap/last_sim_swap/last_sim_swap_date',
      form: 'rfc3339',
      sentinels: [],
      nullMeans: 'not-disclosed',
    },
    swapped: {
      at: '/sim_swap/last_sim_swap/swapped_in_period',
      true: true,
      false: false,
      window: '/sim_swap/last_sim_swap/swapped_period',
    },
    isPartial: true,
    number: '/phone_number',
  },
} as const;

export default twilioLookup;
