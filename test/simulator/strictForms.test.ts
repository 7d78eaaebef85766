import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { CHECK_SCOPE, postForm, read, type Form } from './client.ts';

const NUMBER = 'tel:+447700900004';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0 });
});

beforeEach(() => {
  simulator.resetStats();
});

afterAll(async () => {
  await simulator.close();
});

describe('a 2-legged token request', () => {
  const cases: [string, Form, string][] = [
    [
      'a number with spaces',
      { username: 'tel:+44 7700 900004', scope: CHECK_SCOPE },
      'invalid_request',
    ],
    [
      'a number with hyphens',
      { username: 'tel:+44-7700-900004', scope: CHECK_SCOPE },
      'invalid_request',
    ],
    ['a number without tel:', { username: '+447700900004', scope: CHECK_SCOPE }, 'invalid_request'],
    ['no number', { scope: CHECK_SCOPE }, 'invalid_request'],
    ['an unknown scope', { username: NUMBER, scope: 'sim-swap' }, 'invalid_scope'],
    [
      'both scopes',
      { username: NUMBER, scope: 'check-sim-swap retrieve-sim-swap-date' },
      'invalid_scope',
    ],
    ['no scope', { username: NUMBER }, 'invalid_scope'],
    [
      'two numbers',
      [
        ['username', NUMBER],
        ['username', 'tel:+447700900001'],
        ['scope', CHECK_SCOPE],
      ],
      'invalid_request',
    ],
  ];
  test.each(cases)('is refused with %s', async (_name, form, error) => {
    const entries: [string, string][] = [
      ['grant_type', 'client_credentials'],
      ...(Array.isArray(form) ? form : Object.entries(form)),
    ];

    const reply = await postForm(`${simulator.authUrl}/oauth/v1/token`, entries);

    expect(reply.status).toBe(400);
    expect(await read(reply, 'error')).toBe(error);
    expect(simulator.stats().tokens).toBe(0);
  });

  test.each([['tel:+447700900004'], ['tel:447700900004']])('takes %s', async (username) => {
    const form = { grant_type: 'client_credentials', username, scope: CHECK_SCOPE };

    expect((await postForm(`${simulator.authUrl}/oauth/v1/token`, form)).status).toBe(200);
  });
});

describe('a request for consent', () => {
  test.each([
    ['tel:+44 7700 900004'],
    ['tel:+44-7700-900004'],
    ['+447700900004'],
    ['ipport:127.0.0.1:1'],
  ])('is refused about %s, and prompts no owner', async (loginHint) => {
    const reply = await postForm(`${simulator.authUrl}/openIDConnectCIBA/v1/bc-authorize`, {
      login_hint: loginHint,
      scope: CHECK_SCOPE,
    });

    expect(reply.status).toBe(400);
    expect(simulator.stats().prompts).toBe(0);
  });
});

describe('the counts', () => {
  test.each([['POST'], ['PUT']])('take no %s', async (method) => {
    const reply = await fetch(`${simulator.authUrl}/stats`, { method });

    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('GET, DELETE');
  });
});
