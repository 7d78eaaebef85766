import { decodeJwt } from 'jose';
import { expect, it } from 'vitest';
import { DpopProofs } from '../../src/tokens/dpop.ts';
import { TestClock } from '../support/testClock.ts';

// The hashes by `printf %s TEXT | openssl dgst -sha256 -binary | basenc --base64url`, without padding.
it.each([
  [
    'the query and the body as sent',
    'https://api.example/lines?msisdn=%2B447700900001&hours=24',
    '{"maxAge":24}',
    {
      'camara:qh': '8nMk1E1XnQWuXITrRwEPj6ZCBL4oGyCrRAP7b5oLAXo',
      'camara:bh': '27oOjU2QGrnme77p62Sij_jTavef6N2VOQmskN96VxI',
    },
  ],
  ['neither where there is none', 'https://api.example/lines', undefined, {}],
])('a proof names the hash of %s', async (_, url, body, hashes) => {
  const request = { method: 'POST', headers: [], correlator: 'correlator', body } as const;
  const { headers } = await new DpopProofs(new TestClock()).bind(request, url);
  const claims = decodeJwt(headers[headers.indexOf('DPoP') + 1] ?? '');
  const named = Object.entries(claims).filter(([name]) => name.startsWith('camara:'));
  expect(Object.fromEntries(named)).toEqual(hashes);
  expect(claims).toMatchObject({ htm: 'POST', htu: 'https://api.example/lines' });
});
