import type { Camara, LookupAsk } from '../src/domain/profile.ts';

/*
 * CAMARA SIM Swap 0.4 to 2.1, CAMARA Identity and Consent Management r3.3. What each operator decides for itself is as the
 * service of docs/operator-api.md has it: the paths of the authorization server, that a token works once.
 */

/** The window is always sent. */
const body = ({ number, maxAgeHours }: LookupAsk) => ({
  body: { phoneNumber: number, maxAge: maxAgeHours },
});

/** The base of all profiles: CAMARA as it is written. */
export const camara: Camara = {
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
