import { camara } from '../../profiles/camara.ts';
import type { Tokens } from '../../src/domain/profile.ts';
import { TEL_URI } from '../../src/domain/phoneNumber.ts';
import type { MaxAgeHours } from '../../src/domain/question.ts';
import type { HttpReply } from '../../src/http/exchange.ts';
import type { LookupManner } from '../../src/operator/operator.ts';
import { judgeLookup, type LookupExchange } from '../../src/operator/responses.ts';
import type { CibaGrant, ClientCredentialsGrant } from '../../src/tokens/authorizationSettings.ts';

/** The grants of docs/operator-api.md. */
export const CLIENT_CREDENTIALS: ClientCredentialsGrant = {
  type: 'client_credentials',
  username: TEL_URI,
  inQuery: [],
  parameters: {},
};

export const CIBA: CibaGrant = {
  type: 'ciba',
  grantType: 'urn:openid:params:mc:grant-type:ciba',
  loginHint: TEL_URI,
  firstPoll: 'at-once',
  minIntervalSeconds: 1,
  parameters: {},
};

export const TOKENS: Tokens = { ...camara.tokens, types: ['bearer'] };

/** How lookups are written and read by CAMARA. */
export const CAMARA_LOOKUPS: Pick<
  LookupManner,
  'lookups' | 'options' | 'correlator' | 'tokens' | 'sendPhoneNumber'
> = {
  lookups: camara.lookups,
  options: {},
  correlator: camara.correlator,
  tokens: TOKENS,
  sendPhoneNumber: 'auto',
};

type Exchange = Omit<LookupExchange, 'reading'>;

/** The judges, with the readings of CAMARA. */
export const judgeCheck = (reply: HttpReply, exchange: Exchange, maxAgeHours: MaxAgeHours) =>
  judgeLookup(
    reply,
    { ...exchange, reading: camara.lookups.check.read },
    { operation: 'check', maxAgeHours },
  );

export const judgeRetrieveDate = (reply: HttpReply, exchange: Exchange) =>
  judgeLookup(
    reply,
    { ...exchange, reading: camara.lookups['retrieve-date'].read },
    { operation: 'retrieve-date' },
  );
