import { describe, expect, it } from 'vitest';
import { TEL_URI } from '../../src/domain/numberTemplate.ts';
import { lookupRequest, type LookupWriting } from '../../src/operator/lookupRequest.ts';
import {
  CIBA,
  CLIENT_CREDENTIALS,
  OPERATOR_DEFAULTS,
} from '../../src/operator/operatorDefaults.ts';
import type { LookupNumberSettings } from '../../src/operator/operatorSettings.ts';
import type { JwtBearerGrant } from '../../src/tokens/authorizationSettings.ts';
import { ALICE } from '../values.ts';

const JWT_BEARER: JwtBearerGrant = {
  type: 'jwt-bearer',
  assertion: {
    privateKeyPem: '',
    alg: 'ES256',
    lifetimeSeconds: 60,
    audience: { token: '', backchannelAuthentication: '', cibaToken: '' },
  },
  subject: TEL_URI,
};

describe('whether a lookup names the number', () => {
  it.each<[LookupNumberSettings['send'], LookupWriting['grant'], boolean]>([
    ['auto', CLIENT_CREDENTIALS, true],
    ['auto', CIBA, false],
    ['auto', JWT_BEARER, false],
    ['always', CLIENT_CREDENTIALS, true],
    ['always', CIBA, true],
    ['always', JWT_BEARER, true],
    ['never', CLIENT_CREDENTIALS, false],
    ['never', CIBA, false],
    ['never', JWT_BEARER, false],
  ])('%s with $1.type: %s', (send, grant, isNamed) => {
    const { reading } = OPERATOR_DEFAULTS;
    const phoneNumber = { ...OPERATOR_DEFAULTS.phoneNumber, send };
    const { headers, body } = lookupRequest(
      { grant, phoneNumber, reading },
      { operation: 'retrieve-date' },
      ALICE,
    );
    expect(headers).toEqual([]);
    expect(JSON.parse(body)).toEqual(isNamed ? { phoneNumber: ALICE } : {});
  });
});
