import { camara } from '../../profiles/camara.ts';
import { TEL_URI } from '../../src/domain/numberTemplate.ts';
import type { LookupManner } from '../../src/operator/operator.ts';
import * as responses from '../../src/operator/responses.ts';
import type { CibaGrant, ClientCredentialsGrant } from '../../src/tokens/authorizationSettings.ts';

/** The grants of docs/operator-api.md. */
export const CLIENT_CREDENTIALS: ClientCredentialsGrant = {
  type: 'client_credentials',
  username: TEL_URI,
  inQuery: [],
};

export const CIBA: CibaGrant = {
  type: 'ciba',
  grantType: 'urn:openid:params:mc:grant-type:ciba',
  loginHint: TEL_URI,
  firstPoll: 'at-once',
  minIntervalSeconds: 1,
};

/** How lookups are written and read by CAMARA. */
export const CAMARA_LOOKUPS: Pick<
  LookupManner,
  'lookups' | 'options' | 'correlator' | 'tokens' | 'sendPhoneNumber'
> = {
  lookups: camara.lookups,
  options: {},
  correlator: camara.correlator,
  tokens: camara.tokens,
  sendPhoneNumber: 'auto',
};

type Exchange = Omit<responses.LookupExchange, 'reading'>;

/** The judges, with the readings of CAMARA. */
export const judgeCheck = (
  reply: Parameters<typeof responses.judgeCheck>[0],
  exchange: Exchange,
  maxAgeHours: Parameters<typeof responses.judgeCheck>[2],
) => responses.judgeCheck(reply, { ...exchange, reading: camara.lookups.check.read }, maxAgeHours);

export const judgeRetrieveDate = (
  reply: Parameters<typeof responses.judgeRetrieveDate>[0],
  exchange: Exchange,
) =>
  responses.judgeRetrieveDate(reply, {
    ...exchange,
    reading: camara.lookups['retrieve-date'].read,
  });
