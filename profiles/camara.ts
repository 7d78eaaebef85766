import type { Camara, LookupAsk, MakeProfile } from '../src/domain/profile.ts';

/*
 * CAMARA SIM Swap 0.4 to 2.1, CAMARA Identity and Consent Management r3.3. What each operator decides for itself is as the
 * service of docs/operator-api.md has it: the paths of the authorization server, that a token works once.
 */

/** The window is always sent. */
const body = ({ number, maxAgeHours }: LookupAsk) => ({
  body: { phoneNumber: number, maxAge: maxAgeHours },
});

/** The base of all profiles. */
export const camara: Camara = {
  papers: [
    { title: 'CAMARA SIM Swap', version: '0.4 to 2.1', readOn: '2026-11-22' },
    { title: 'CAMARA Identity and Consent Management', version: 'r3.3', readOn: '2026-11-22' },
  ],
  authentication: {
    methods: ['basic', 'private_key_jwt', 'both'],
    assertion: {
      algs: ['ES256', 'PS256', 'RS256'],
      lifetimeSeconds: 60,
      audience: 'server',
      claims: ({ clientId, audience }) => ({ iss: clientId, sub: clientId, aud: audience }),
    },
    signedRequest: 'off',
    dpop: false,
    headers: {},
  },
  grants: {
    '2-legged': {
      type: 'client_credentials',
      path: '/oauth/v1/token',
      inQuery: [],
      parameters: {},
    },
    '3-legged': {
      type: 'ciba',
      paths: {
        backchannelAuthentication: '/openIDConnectCIBA/v1/bc-authorize',
        cibaToken: '/openIDConnectCIBA/v1/token',
      },
      grantType: 'urn:openid:params:grant-type:ciba',
      loginHint: 'tel:{number}',
      firstPoll: 'at-once',
      minIntervalSeconds: 1,
      parameters: {},
    },
  },
  scopes: {
    operations: { 'retrieve-date': 'sim-swap:retrieve-date', check: 'sim-swap:check' },
    openid: false,
    purpose: false,
    joinedBy: ' ',
  },
  tokens: {
    use: 'once',
    marginSeconds: 5,
    defaultLifetimeSeconds: 60,
    types: ['Bearer'],
    sentIn: { header: 'authorization', prefix: 'Bearer ' },
  },
  lookups: {
    'retrieve-date': {
      method: 'POST',
      path: '/retrieve-date',
      write: body,
      read: {
        date: {
          at: '/latestSimChange',
          form: 'rfc3339',
          sentinels: [],
          monitoredPeriod: '/monitoredPeriod',
          nullMeans: 'not-disclosed',
        },
      },
    },
    check: {
      method: 'POST',
      path: '/check',
      write: body,
      read: { swapped: { at: '/swapped', true: true, false: false, window: 'asked' } },
    },
  },
  sendPhoneNumber: 'auto',
  errors: { wordAt: [], okWords: [], rules: [] },
  correlator: { header: 'x-correlator', form: 'traceable', echo: 'auto' },
  headers: [],
  maxAgeHours: 2400,
  dateMarginHours: 48,
  trustMonitoredPeriod: true,
  retryLookups: false,
  oneCallPerNumber: false,
  http2: 'auto',
  tokenMismatch: 'accepted',
  options: {},
};

/*
 * An operator of CAMARA as it is written, in both flows: SIM Swap 2.1 with CIBA (poll) or client credentials.
 *
 * Sources: CAMARA Security and Interoperability Profile r4.2 ("Client-Initiated Backchannel Authentication Flow", "Client
 * Credentials Flow", "Client Authentication", "Purpose as a scope"), CAMARA APIs Access and User Consent Management r4.2. It names
 * no paths: `discovery` of the entry has the addresses; with `authUrl` they are /bc-authorize and /token, as its examples are.
 * Ask your onboarding contact: the issuer, the flow, which purposes the contract allows (`purposes` of the entry), whether tokens
 * are bound by DPoP (`tokens.dpop`), and whether a token may be used again.
 */
const standard: MakeProfile = (base) => ({
  ...base,
  papers: [
    { title: 'CAMARA SIM Swap', version: '2.1', readOn: '2026-11-28' },
    {
      title: 'CAMARA Security and Interoperability Profile',
      version: 'r4.2',
      readOn: '2026-11-28',
    },
  ],
  authentication: {
    ...base.authentication,
    // The standard names the first; some operators accept client certificates instead (RFC 8705).
    methods: ['private_key_jwt', 'tls'],
    assertion: { ...base.authentication.assertion, audience: 'endpoint' },
  },
  grants: {
    '2-legged': { ...base.grants['2-legged'], path: '/token' },
    '3-legged': {
      ...base.grants['3-legged'],
      paths: { backchannelAuthentication: '/bc-authorize', cibaToken: '/token' },
    },
  },
  scopes: { ...base.scopes, openid: true, purpose: true },
});

export default standard;
