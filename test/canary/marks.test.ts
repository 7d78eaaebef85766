import { describe, expect, it } from 'vitest';
import { leaksIn, SECRET_MARK } from './marks.ts';

const NUMBER = '+447700900123';

describe('the scan finds', () => {
  it.each<readonly [string, string]>([
    ['a number', `about ${NUMBER}.`],
    ['a number without its +', 'to 447700900123'],
    ['a national number', 'called 07700900123'],
    ['a number with spaces', '+44 7700 900 123'],
    ['a number with hyphens and brackets', '+44 (7700) 900-123'],
    ['a URI', `tel:${NUMBER}`],
    ['a query', `?login_hint=${encodeURIComponent(`tel:${NUMBER}`)}`],
    ['a query with spaces', encodeURIComponent('+44 7700 900 123')],
    ['percent-encoded digits', '447700900123'.replaceAll(/./g, '%3$&')],
    ...['', 'a', 'ab', '"phone_number":"', 'tel:+'].map(
      (before) =>
        [
          `base64 behind ${before}`,
          Buffer.from(`${before}${NUMBER}"}`).toString('base64'),
        ] as const,
    ),
    ['base64url', Buffer.from(`{"login_hint":"${NUMBER}"}`).toString('base64url')],
    ['hex', Buffer.from(NUMBER).toString('hex')],
    ['a secret', `secret=${SECRET_MARK}-1`],
    ['a secret in small letters', SECRET_MARK.toLowerCase()],
    ['Basic', `Basic ${Buffer.from(`client:${SECRET_MARK}-1`).toString('base64')}`],
    ['a JWT', `eyJ.${Buffer.from(JSON.stringify({ jti: SECRET_MARK })).toString('base64url')}.x`],
    ['a secret in hex', Buffer.from(SECRET_MARK).toString('hex')],
  ])('%s', (_what, text) => {
    expect(leaksIn(text)).not.toEqual([]);
  });

  it.each([
    ['a masked number', '[number]'],
    ['a time', '2026-01-15T12:00:00.000Z'],
  ])('nothing in %s', (_what, text) => {
    expect(leaksIn(text)).toEqual([]);
  });
});
