import type { Body, MakeProfile } from '../src/domain/profile.ts';

/*
 * MTN SIM Swap Verification 0.1, behind Apigee.
 *
 * Sources: developers.mtn.com: the definition of SIM Swap Verification (GET {phoneNumber}/simswap-date, `transactionId` required and
 * named as the client's own in the reply's headers, `0000` and `1022` in `statusCode`), "Understanding OAuth 2.0" (client_id and
 * client_secret in the form, grant_type in the query, `token_type: BearerToken`, `expires_in` as a text) and "Response and error
 * codes". `authUrl` is https://api.mtn.com, `simSwapUrl` https://api.mtn.com/v1/mobile/phoneNumbers.
 * - It offers only the date: a window that holds it is `true`, which may overstate.
 * - The reply names the number (`customerId`), as digits.
 * - `1022` is "no SIM swap is performed", without saying since when, and an empty date cannot be determined: both are a date that is
 *   not disclosed, never a `false`.
 * Not confirmed by public text: whether the number in the path takes a plus (its example of a customer has none), the span that `1022`
 * speaks of, and whether a token may be used until it expires, as Apigee's usually are.
 * Ask your onboarding contact: these three, which countries are served, and whether the product wants its key as x-api-key as well
 * (`headers` of the entry).
 */
/** `1022` may arrive without a date, and without `data`. */
const dated = (body: Body): Body => {
  const { statusCode, data } = body;
  const hasDate = typeof data === 'object' && data !== null && 'lastSimSwapDate' in data;
  if (hasDate || String(statusCode) !== '1022') return body;
  return { ...body, data: { lastSimSwapDate: '' } };
};

const mtn: MakeProfile = (camara) => ({
  ...camara,
  papers: [{ title: 'MTN SIM Swap Verification', version: '0.1', readOn: '2026-11-22' }],
  authentication: { ...camara.authentication, methods: ['post'] },
  grants: {
    '2-legged': {
      ...camara.grants['2-legged'],
      path: '/v1/oauth/access_token',
      inQuery: ['grant_type'],
    },
  },
  scopes: { ...camara.scopes, operations: { 'retrieve-date': '', check: '' } },
  tokens: { ...camara.tokens, types: ['BearerToken', 'Bearer'] },
  lookups: {
    'retrieve-date': {
      method: 'GET',
      path: '/{digits}/simswap-date',
      write: () => ({}),
      read: {
        pick: dated,
        date: {
          at: '/data/lastSimSwapDate',
          form: 'rfc3339',
          sentinels: [''],
          nullMeans: 'not-disclosed',
        },
        number: '/customerId',
      },
    },
  },
  sendPhoneNumber: 'always',
  errors: {
    wordAt: ['/statusCode'],
    okWords: ['0000', '1022'],
    rules: [{ status: 404, word: '1000', code: 'NUMBER_NOT_SERVED' }],
  },
  correlator: { header: 'transactionId', form: 'uuid', echo: 'auto' },
});

export default mtn;
