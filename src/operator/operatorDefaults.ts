import { TEL_URI } from '../domain/numberTemplate.ts';
import { MAX_MAX_AGE_HOURS } from '../domain/maxAge.ts';
import type { EndpointName } from '../http/wireSettings.ts';
import type { CibaGrant, ClientCredentialsGrant } from '../tokens/authorizationSettings.ts';
import type { LookupMembers, OperatorSettings } from './operatorSettings.ts';

/** Where an operator's endpoints are. */
export type OperatorAddresses = Pick<OperatorSettings, 'authorization' | 'lookupAddresses'>;

/** Below `{auth_url}` and `{sim_swap_url}` (docs/operator-api.md, "Endpoints"). */
export const STANDARD_PATHS: Readonly<Record<EndpointName, string>> = {
  token: '/oauth/v1/token',
  backchannelAuthentication: '/openIDConnectCIBA/v1/bc-authorize',
  cibaToken: '/openIDConnectCIBA/v1/token',
  retrieveDate: '/retrieve-date',
  check: '/check',
};

/** The addresses of the endpoints below two roots, which have no slash at their end. Pure. */
export function addressesBelow(
  authUrl: string,
  simSwapUrl: string,
  paths: Readonly<Record<EndpointName, string>> = STANDARD_PATHS,
): OperatorAddresses {
  return {
    authorization: {
      from: 'settings',
      addresses: {
        token: authUrl + paths.token,
        backchannelAuthentication: authUrl + paths.backchannelAuthentication,
        cibaToken: authUrl + paths.cibaToken,
      },
    },
    lookupAddresses: {
      retrieveDate: simSwapUrl + paths.retrieveDate,
      check: simSwapUrl + paths.check,
    },
  };
}

/** CAMARA SIM Swap 1.0 to 2.1. */
const CAMARA_MEMBERS: LookupMembers = {
  phoneNumber: 'phoneNumber',
  maxAge: 'maxAge',
  swapped: 'swapped',
  latestSimChange: 'latestSimChange',
  monitoredPeriod: 'monitoredPeriod',
};

/** `client_credentials` as in docs/operator-api.md, "A token without consent". */
export const CLIENT_CREDENTIALS: ClientCredentialsGrant = {
  type: 'client_credentials',
  username: TEL_URI,
  inQuery: [],
};

/** CIBA as in docs/operator-api.md, "Polling for a token". */
export const CIBA: CibaGrant = {
  type: 'ciba',
  grantType: 'urn:openid:params:mc:grant-type:ciba',
  loginHint: TEL_URI,
  firstPoll: 'at-once',
  minIntervalSeconds: 1,
};

/** How an operator is asked that departs from docs/operator-api.md nowhere. */
export const OPERATOR_DEFAULTS = {
  scopes: {
    operations: { 'retrieve-date': 'retrieve-sim-swap-date', check: 'check-sim-swap' },
    openid: false,
    joinedBy: ' ',
  },
  tokens: { use: 'once', marginSeconds: 5, defaultLifetimeSeconds: 60 },
  assertionLifetimeSeconds: 60,
  maxAgeHours: MAX_MAX_AGE_HOURS,
  dateMarginHours: 48,
  trustMonitoredPeriod: true,
  phoneNumber: { send: 'auto', place: { in: 'body' }, form: 'with-plus' },
  reading: {
    members: CAMARA_MEMBERS,
    maxAgeUnit: 'hours',
    nullMeans: { kind: 'not-disclosed' },
    sentinelDates: [],
  },
  retriesLookups: false,
  oneCallPerNumber: false,
  errors: { wordAt: [], rules: [] },
  correlator: { header: 'x-correlator', form: 'traceable', echo: 'auto' },
  http2: 'auto',
  tokenMismatch: 'accepted',
  // Fewer slow a hundred numbers down; more open sockets that an operator would count.
  limits: { timeoutMs: 5000, connections: 256, permits: 256 },
  keepFactsSeconds: { '2-legged': 0, '3-legged': 60 },
} as const;
