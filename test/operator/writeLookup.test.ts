import { describe, expect, it } from 'vitest';
import { ProfileFault } from '../../src/judging/profileCall.ts';
import { pathWith, writeLookup } from '../../src/operator/operator.ts';
import { sendsPhoneNumber, type OperatorSettings } from '../../src/operator/operatorSettings.ts';
import type { LookupAsk, LookupParts } from '../../src/domain/profile.ts';
import { START_MS } from '../support/testClock.ts';
import { ALICE, hours } from '../support/values.ts';
import { CAMARA_LOOKUPS, CIBA, CLIENT_CREDENTIALS } from './camara.ts';

const JWT_BEARER: OperatorSettings['grant'] = {
  type: 'jwt-bearer',
  path: '/token',
  subject: 'tel:{number}',
  parameters: {},
};

describe('whether a lookup names the number', () => {
  it.each<[OperatorSettings['sendPhoneNumber'], boolean[]]>([
    ['auto', [true, false, false, true]],
    ['always', [true, true, true, true]],
    ['never', [false, false, false, false]],
  ])('%s: %j', (sendPhoneNumber, named) => {
    const grants = [CLIENT_CREDENTIALS, CIBA, JWT_BEARER, { type: 'none' }] as const;
    expect(grants.map((grant) => sendsPhoneNumber({ grant, sendPhoneNumber }))).toEqual(named);
  });
});

/** Of an operator whose token has a header of its own. */
const MANNER = {
  ...CAMARA_LOOKUPS,
  tokens: { ...CAMARA_LOOKUPS.tokens, sentIn: { header: 'x-token', prefix: '' } },
};

const written = (write: (ask: LookupAsk) => unknown, method: 'GET' | 'POST' = 'POST') => {
  // A custom profile may return anything.
  return writeLookup(
    MANNER,
    { method, write: write as (ask: LookupAsk) => LookupParts },
    { operation: 'check', maxAgeHours: hours(240) },
    ALICE,
    START_MS,
  );
};

const throwing = () => {
  throw new Error(ALICE);
};
const GETTER = { get: throwing, enumerable: true };

describe('what a profile writes', () => {
  it('may have a query, headers and a body', () => {
    const { query, headers, body } = written(({ digits, maxAgeHours }) => ({
      query: { number: digits, hours: maxAgeHours, none: undefined },
      headers: { 'x-number': digits, 'x-none': undefined },
      body: { maxAgeHours },
    }));
    expect(query).toBe(`number=${ALICE.slice(1)}&hours=240`);
    expect(headers).toEqual(['x-number', ALICE.slice(1)]);
    expect(body).toBe('{"maxAgeHours":240}');
  });

  it('has no body and no content type in a GET', () => {
    const none = { method: 'GET', body: undefined, contentType: undefined };
    expect(written(() => ({}), 'GET')).toMatchObject(none);
  });

  it.each<[string, (ask: LookupAsk) => unknown]>([
    ['a throw', throwing],
    ['a promise that is rejected', () => Promise.reject(new Error(ALICE))],
    ['nothing', () => undefined],
    ['a list', () => []],
    ['another member', () => ({ path: '/elsewhere' })],
    ['a query of objects', () => ({ query: { a: {} } })],
    ['a header with a line break', () => ({ headers: { 'x-a': 'b\r\nx-c: d' } })],
    ['a name of a header with a line break', () => ({ headers: { 'x-a\r\nx-b': 'c' } })],
    ['a header of ours', () => ({ headers: { Authorization: 'Basic x' } })],
    ['the header of the token', () => ({ headers: { 'X-Token': 'x' } })],
    ['the correlator', () => ({ headers: { 'X-Correlator': 'x' } })],
    ['more than a request holds', () => ({ body: { a: 'a'.repeat(20_000) } })],
    ['a getter that throws', () => Object.defineProperty({}, 'body', GETTER)],
    ['a change of what it got', (ask) => Object.assign(ask, { number: '+447700900999' })],
  ])('is refused for %s, and the message does not quote it', (_, write) => {
    expect(() => written(write)).toThrow(ProfileFault);
    expect(() => written(write)).not.toThrow('7700');
  });
});

describe('the path of a lookup', () => {
  it.each([
    ['https://operator.example/check', undefined],
    ['https://operator.example/{number}/check', `/${encodeURIComponent(ALICE)}/check`],
    ['https://operator.example/v1/{digits}?a=b', `/v1/${ALICE.slice(1)}?a=b`],
  ])('%s', (address, path) => {
    expect(pathWith(ALICE, address)).toBe(path);
  });
});
