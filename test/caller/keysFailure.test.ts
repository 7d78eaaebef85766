import { expect, it } from 'vitest';
import { keysFailure } from '../../src/caller/signingKeys.ts';
import { ConnectFailure } from '../../src/http/connectFailure.ts';

const REFUSED = new ConnectFailure(
  'client-certificate',
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
);

it.each([
  ['as it came', REFUSED],
  ['that broke a request which had left', new Error('other side closed', { cause: REFUSED })],
])('a connection failure is told with its stage, %s', (_, error) => {
  expect(keysFailure(error)).toBe('client-certificate: ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED');
});
