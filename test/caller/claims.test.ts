import { expect, it } from 'vitest';
import { callerFrom, mayAskAbout } from '../../src/caller/caller.ts';
import { ALICE, BOB } from '../support/values.ts';

const ISS = 'https://issuer.example';
const BASE = { iss: ISS, sub: 'a","b' };

// As JSON, so that no subject can read like another subject and client.
it.each<[what: string, claims: object, client: string | null]>([
  ['client_id, also beside azp', { client_id: 'app', azp: 'other' }, 'app'],
  ['azp without client_id', { azp: 'app' }, 'app'],
  ['none', {}, null],
  ['none where it is not a text', { client_id: 7 }, null],
])('a caller is its issuer, subject and client: the client is %s', (_what, claims, client) => {
  const key = callerFrom({ ...BASE, ...claims })?.identity.key;
  expect(key).toBe(JSON.stringify([ISS, BASE.sub, client]));
});

const VERIFIED = { phone_number: ALICE, phone_number_verified: true };
const READ = 'sim-swap:read';

it.each<[what: string, claims: object, alice: boolean, bob: boolean]>([
  ['nothing', {}, false, false],
  ['the scope', { scope: `openid ${READ}` }, true, true],
  ['the scope in a list', { scope: [READ] }, true, true],
  ['the scope as scp', { scp: [READ] }, true, true],
  ['the scope as scp, beside another scope', { scope: 'openid', scp: READ }, false, false],
  ['scopes that only start alike', { scope: `${READ}-only ${READ}er` }, false, false],
  ['the scope in capitals', { scope: READ.toUpperCase() }, false, false],
  ['a scope that is not a text', { scope: { [READ]: true } }, false, false],
  ['a verified number', VERIFIED, true, false],
  ['one with spaces', { ...VERIFIED, phone_number: '+44 7700-900001' }, true, false],
  ['a number that is not verified', { phone_number: ALICE }, false, false],
  ['verified in words', { ...VERIFIED, phone_number_verified: 'true' }, false, false],
  ['verified as 1', { ...VERIFIED, phone_number_verified: 1 }, false, false],
  ['verified false', { ...VERIFIED, phone_number_verified: false }, false, false],
  ['a national number', { ...VERIFIED, phone_number: '07700900001' }, false, false],
  ['a list of numbers', { ...VERIFIED, phone_number: [ALICE] }, false, false],
  ['a verified number and the scope', { ...VERIFIED, scope: READ }, true, true],
])('the numbers that a caller may query, by the claims: %s', (_what, claims, alice, bob) => {
  const caller = callerFrom({ ...BASE, ...claims });
  if (caller === undefined) throw new Error('The claims name no caller.');
  expect([mayAskAbout(caller, ALICE), mayAskAbout(caller, BOB)]).toEqual([alice, bob]);
});
