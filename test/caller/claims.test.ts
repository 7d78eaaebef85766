import { describe, expect, it } from 'vitest';
import { callerFrom, mayAskAbout } from '../../src/caller/caller.ts';
import { ALICE, BOB } from '../values.ts';

const ISS = 'https://issuer.example';
const BASE = { iss: ISS, sub: 'alice', client_id: 'app' };

describe('who claims speak of', () => {
  it.each([
    ['the client is client_id', { ...BASE, azp: 'other' }, [ISS, 'alice', 'app']],
    [
      'the client is azp where there is no client_id',
      { iss: ISS, sub: 'alice', azp: 'app' },
      [ISS, 'alice', 'app'],
    ],
    ['there may be no client', { iss: ISS, sub: 'alice' }, [ISS, 'alice', null]],
    [
      'a client that is no text is none',
      { iss: ISS, sub: 'alice', client_id: 7 },
      [ISS, 'alice', null],
    ],
  ])('%s', (_what, claims, key) => {
    expect(callerFrom(claims)?.identity.key).toBe(JSON.stringify(key));
  });

  it('keeps subject and client apart, however they are written', () => {
    const keys = [
      callerFrom({ iss: ISS, sub: 'a","b', client_id: 'c' })?.identity.key,
      callerFrom({ iss: ISS, sub: 'a', client_id: 'b","c' })?.identity.key,
    ];
    expect(new Set(keys).size).toBe(2);
  });
});

describe('about whom a caller may ask', () => {
  const verified = { phone_number: ALICE, phone_number_verified: true };
  it.each([
    ['nothing said', {}, false, false],
    ['the scope', { scope: 'openid sim-swap:read' }, true, true],
    ['the scope in a list', { scope: ['sim-swap:read'] }, true, true],
    ['the scope as scp', { scp: ['sim-swap:read'] }, true, true],
    [
      'scp beside another scope counts for nothing',
      { scope: 'openid', scp: 'sim-swap:read' },
      false,
      false,
    ],
    [
      'a scope that only starts alike',
      { scope: 'sim-swap:read-only sim-swap:reader' },
      false,
      false,
    ],
    ['a scope in capitals', { scope: 'SIM-SWAP:READ' }, false, false],
    ['a scope that is no text', { scope: { 'sim-swap:read': true } }, false, false],
    ['a verified number', verified, true, false],
    [
      'a verified number, written with spaces',
      { ...verified, phone_number: '+44 7700-900001' },
      true,
      false,
    ],
    ['a number that is not verified', { phone_number: ALICE }, false, false],
    ['a number verified in words', { ...verified, phone_number_verified: 'true' }, false, false],
    ['a number verified as 1', { ...verified, phone_number_verified: 1 }, false, false],
    ['a number verified false', { ...verified, phone_number_verified: false }, false, false],
    ['a national number', { ...verified, phone_number: '07700900001' }, false, false],
    ['a list of numbers', { ...verified, phone_number: [ALICE] }, false, false],
    ['a verified number and the scope', { ...verified, scope: 'sim-swap:read' }, true, true],
  ])('%s', (_what, claims, aboutAlice, aboutBob) => {
    const caller = callerFrom({ ...BASE, ...claims });
    if (caller === undefined) throw new Error('The claims name no caller.');
    expect([mayAskAbout(caller, ALICE), mayAskAbout(caller, BOB)]).toEqual([aboutAlice, aboutBob]);
  });
});
