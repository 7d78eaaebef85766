import { camara } from '../../profiles/camara.ts';
import type { ClientCredentials, Tokens } from '../../src/domain/profile.ts';
import type { MaxAgeHours } from '../../src/domain/question.ts';
import type { HttpReply } from '../../src/wire/exchange.ts';
import type { LookupDialect } from '../../src/operator/operator.ts';
import { judgeLookup, type LookupExchange } from '../../src/operator/responses.ts';

/** The grants of docs/operator-api.md. */
export const { '2-legged': CLIENT_CREDENTIALS, '3-legged': CIBA } = camara.grants;

/** Its tokens name no number. */
export const WITHOUT_NUMBER: ClientCredentials = { ...CLIENT_CREDENTIALS, username: undefined };

export const TOKENS: Tokens = { ...camara.tokens, types: ['bearer'] };

/** Lookups as CAMARA writes and reads them. */
export const CAMARA_LOOKUPS: Pick<
  LookupDialect,
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
