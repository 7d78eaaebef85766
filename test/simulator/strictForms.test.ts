import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { CHECK_SCOPE, DATE_SCOPE, postForm, read, type Form } from './client.ts';

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
  const scope = CHECK_SCOPE;
  const twoNumbers: Form = [
    ['username', NUMBER],
    ['username', 'tel:+447700900001'],
    ['scope', scope],
  ];

  test.each<[string, Form, string]>([
    ['a number with spaces', { username: 'tel:+44 7700 900004', scope }, 'invalid_request'],
    ['a number with hyphens', { username: 'tel:+44-7700-900004', scope }, 'invalid_request'],
    ['a number without tel:', { username: '+447700900004', scope }, 'invalid_request'],
    ['no number', { scope }, 'invalid_request'],
    ['an unknown scope', { username: NUMBER, scope: 'sim-swap' }, 'invalid_scope'],
    ['both scopes', { username: NUMBER, scope: `${scope} ${DATE_SCOPE}` }, 'invalid_scope'],
    ['no scope', { username: NUMBER }, 'invalid_scope'],
    ['two numbers', twoNumbers, 'invalid_request'],
  ])('is refused with %s', async (_name, form, error) => {
    const members = Array.isArray(form) ? form : Object.entries(form);
    const url = `${simulator.authUrl}/oauth/v1/token`;
    const reply = await postForm(url, [['grant_type', 'client_credentials'], ...members]);

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

test.each([
  ['an answer', '/stats', 'GET'],
  ['a refusal', '/oauth/v1/token', 'POST'],
  ['an unknown path', '/elsewhere', 'POST'],
])(
  '%s carries the correlator of its request, unless the echo is off',
  async (_name, path, method) => {
    const echoed = await Promise.all(
      [true, false].map(async (echoesCorrelator) => {
        const echoing = await startSimulator({ port: 0, echoesCorrelator });
        onTestFinished(() => echoing.close());
        const headers = { 'x-correlator': 'caller-1' };
        const reply = await fetch(`${echoing.authUrl}${path}`, { method, headers });
        return reply.headers.get('x-correlator');
      }),
    );

    expect(echoed).toEqual(['caller-1', null]);
  },
);
